/* The driver's log, which programs read or receive by callbacks. */
#ifndef PTXLOOM_LOGS_H
#define PTXLOOM_LOGS_H

void write_down(const char *what, const char *which);

#endif
