/* Where in the program a call came from. */
#ifndef PTXLOOM_ORIGIN_H
#define PTXLOOM_ORIGIN_H
#include <stddef.h>
void call_origin(char *text, size_t room); /* asked without the driver's lock: it may wait for Python's */
#endif
