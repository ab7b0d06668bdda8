/* Functions of LTO-IR that only PTX calls. */
#ifndef PTXLOOM_CALLED_H
#define PTXLOOM_CALLED_H
#include <stddef.h>

/* LTO-IR that takes the addresses of functions that a PTX text declares `.extern`, and its size; NULL if there are none,
   or compiling fails. `linker` is a function of NVIDIA's nvJitLink. */
void *called_root(const char *text, unsigned target, const void *linker, size_t *size);

/* PTX that was linked with such a root, for a link with the text: functions that the text calls are visible, and the root is removed.
   NULL if out of memory. */
char *called_shown(const char *text, const char *linked);
#endif
