/* The origin of a call in the program. */
#ifndef PTXLOOM_ORIGIN_H
#define PTXLOOM_ORIGIN_H
#include <stddef.h>
void call_origin(char *text, size_t room); /* call it without the driver's lock: it may wait for Python's */
#endif
