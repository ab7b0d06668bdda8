/* Arrays: device memory with a shape and a format, accessed only by copies, textures and surfaces. */
#ifndef PTXLOOM_ARRAYS_H
#define PTXLOOM_ARRAYS_H

#include "base/errors.h"

enum array_flag { LAYERED = 1, SURFACE_USE = 2, CUBEMAP = 4, GATHER = 8, SPARSE = 0x40, DEFERRED = 0x80 };
enum { UNORM_INT8X1 = 0xc0, SNORM_INT16X4 = 0xcb, MOST_LEVELS = 18 };

struct array_description { /* CUDA_ARRAY3D_DESCRIPTOR */
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
};

struct flat_description { /* CUDA_ARRAY_DESCRIPTOR */
    size_t width, height;
    int format;
    unsigned channels;
};

struct array {
    struct array_description about;
    device_pointer start;
    uint64_t pitch, slice; /* bytes from row to row, from slice or layer to the next */
    uint64_t size;
    void *mipmap; /* if it is a level of one */
    unsigned level;
};

/* Its levels are consecutive in one allocation. */
struct mipmap {
    struct array_description about;
    device_pointer start;
    unsigned count;
    void *levels[MOST_LEVELS]; /* handles of the requested ones */
};

/* Bytes of an element; 0 if the format cannot have that many channels. */
unsigned element_bytes(int format, unsigned channels);
/* The most elements of a texture over linear memory. */
size_t linear_texels(unsigned bytes);
/* A level, in bytes from the start of its mipmapped array; a plain array is level 0. */
struct array array_level(const struct array_description *about, unsigned level, uint64_t *offset);
uint64_t array_rows(const struct array *array);
uint64_t array_slices(const struct array *array);

#endif
