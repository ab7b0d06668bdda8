/* The memory of a texture or a surface, and how a texture is read. */
#ifndef PTXLOOM_TEXTURES_H
#define PTXLOOM_TEXTURES_H

#include "arrays/arrays.h"

enum { ARRAY_RESOURCE, MIPMAP_RESOURCE, LINEAR_RESOURCE, PITCHED_RESOURCE };
enum { AS_INTEGER = 1, NORMALIZED = 2, SRGB = 0x10, SEAMLESS = 0x40, SAMPLER_FLAGS = 0x7f };
enum { WRAP_MODE, CLAMP_MODE, MIRROR_MODE, BORDER_MODE };

struct resource { /* CUDA_RESOURCE_DESC */
    int type;
    union {
        void *array;
        struct {
            device_pointer address;
            int format;
            unsigned channels;
            size_t width, height, pitch; /* the width of linear memory is its size in bytes */
        } memory;
        int reserved[32];
    } of;
    unsigned flags;
};

struct sampler { /* CUDA_TEXTURE_DESC */
    int modes[3], filter;
    unsigned flags, anisotropy;
    int mip_filter;
    float bias, least, most, border[4];
    int reserved[12];
};

struct view { /* CUDA_RESOURCE_VIEW_DESC */
    int format;
    size_t width, height, depth;
    unsigned first_level, last_level, first_layer, last_layer, reserved[16];
};

/* The data sent to the server for one (as in cuda_driver/textures.py). */
struct image_level {
    uint64_t start, pitch, plane;
    uint32_t width, height, depth, unused;
};
struct image {
    uint64_t reference; /* the address of the variable that stands for it; 0: the server assigns a number */
    uint32_t is_surface, geometry;
    int32_t format;
    uint32_t channels, layers, flags;
    int32_t filter, mip_filter, modes[3];
    float border[4], bias, least, most;
    uint32_t count, unused;
    struct image_level levels[MOST_LEVELS];
};

int texture_image(const struct resource *resource, const struct sampler *how, const struct view *view, struct image *image);
int surface_image(const struct resource *resource, struct image *image);
int image_show(const struct image *image, uint64_t *number);
int image_drop(uint64_t number);

#endif
