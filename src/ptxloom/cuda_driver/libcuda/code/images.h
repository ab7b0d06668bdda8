/* Images of modules, and what compilers say of them. */
#ifndef PTXLOOM_IMAGES_H
#define PTXLOOM_IMAGES_H

#include "base/connection.h"

/* Where a program wants to read what a compiler said. */
struct logs {
    char *text[2]; /* information, errors */
    size_t room[2];
    void **sizes[2]; /* where it is said how much there was */
    uint64_t registers; /* that a thread may have at most; 0: it is not said */
    uint64_t target;    /* CUjit_target; 0: the device */
};
int logs_of(unsigned count, const int *options, void **values, struct logs *logs);
void log_write(const struct logs *logs, int which, const unsigned char *text, size_t size);

enum { IMAGE_LIMIT = 1 << 30 }; /* bytes of one image */
size_t readable(const void *start, size_t most); /* how many bytes can be read from there on, at most as many */
int image_part(const void *image, struct part *part);
int file_read(const char *path, struct part *part); /* the caller frees its data */

#endif
