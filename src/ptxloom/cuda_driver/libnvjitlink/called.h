/* Functions of LTO-IR that only PTX calls. */
#ifndef PTXLOOM_CALLED_H
#define PTXLOOM_CALLED_H
#include <stddef.h>

/* LTO-IR that takes the addresses of what a PTX text declares `.extern`, of a given size; NULL if it declares nothing,
   or it cannot be made. `linker` is a function of NVIDIA's nvJitLink. */
void *called_root(const char *text, unsigned target, const void *linker, size_t *size);

/* PTX that was linked with such a root, for a link with the text: what that calls is visible, and the root is gone.
   NULL if there is no memory. */
char *called_shown(const char *text, const char *linked);
#endif
