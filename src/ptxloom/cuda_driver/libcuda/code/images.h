/* Images of modules, and the messages of compilers about them. */
#ifndef PTXLOOM_IMAGES_H
#define PTXLOOM_IMAGES_H

#include "base/connection.h"

/* The buffer for a compiler's messages. */
struct logs {
    char *text[2]; /* information, errors */
    size_t room[2];
    void **sizes[2]; /* receives the length */
    uint64_t registers; /* the limit per thread; 0: not set */
    uint64_t target;    /* CUjit_target; 0: the device */
};
int logs_of(unsigned count, const int *options, void **values, struct logs *logs);
void log_write(const struct logs *logs, int which, const unsigned char *text, size_t size);

enum { IMAGE_LIMIT = 1 << 30 }; /* bytes of one image */
size_t readable(const void *start, size_t most); /* the number of readable bytes from there, at most `most` */
int image_part(const void *image, struct part *part);
int file_read(const char *path, struct part *part); /* the caller frees its data */

#endif
