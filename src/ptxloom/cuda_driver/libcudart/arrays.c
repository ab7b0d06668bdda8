/* Arrays, and the textures and surfaces over them. */
#include "runtime.h"

enum { SIGNED, UNSIGNED, FLOATING, NO_KIND };
enum { AS_INTEGER = 1, NORMALISED = 2, SRGB = 0x10, NO_TRILINEAR = 0x20, SEAMLESS = 0x40 };
enum { RESOURCE_ARRAY, RESOURCE_MIPMAPPED, RESOURCE_LINEAR, RESOURCE_PITCHED };

int cuArray3DCreate_v2(handle *array, const struct array_description *description);
int cuArray3DGetDescriptor_v2(struct array_description *description, handle array);
int cuArrayDestroy(handle array);
int cuMipmappedArrayCreate(handle *array, const struct array_description *description, unsigned levels);
int cuTexObjectCreate(uint64_t *texture, const struct driver_resource *resource, const struct driver_texture *how, const void *view);
int cuTexObjectGetTextureDesc(struct driver_texture *how, uint64_t texture);
int cuDeviceGetTexture1DLinearMaxWidth(size_t *width, int format, unsigned channels, int device);
int cuTexObjectGetResourceDesc(struct driver_resource *resource, uint64_t texture);
int cuSurfObjectCreate(uint64_t *surface, const struct driver_resource *resource);
int cuSurfObjectGetResourceDesc(struct driver_resource *resource, uint64_t surface);

enum { FIRST_NORMALISED = 5, LAST_NORMALISED = 16, UNORM_INT8X1 = 0xc0 };

/* Channels other than integers and floats have formats of their own in the driver: normalised ones are consecutive. */
static int format_of(const struct channel_format *from, int *format, unsigned *channels) {
    static const int widths[] = {8, 16, 32}, formats[3][3] = {{0x08, 0x09, 0x0a}, {0x01, 0x02, 0x03}, {0, 0x10, 0x20}};
    unsigned count = 0;
    while (count < 4 && from->bits[count]) count++;
    *channels = count;
    if (from->kind >= FIRST_NORMALISED && from->kind <= LAST_NORMALISED) {
        *format = UNORM_INT8X1 + from->kind - FIRST_NORMALISED;
        return SUCCESS;
    }
    for (int i = 0; i < 3 && from->kind >= SIGNED && from->kind <= FLOATING; i++)
        if (from->bits[0] == widths[i] && (*format = formats[from->kind][i]) != 0) return SUCCESS;
    return 20; /* cudaErrorInvalidChannelDescriptor */
}

static struct channel_format channels_of(int format, unsigned channels) {
    if (format >= UNORM_INT8X1) { /* three of 8 bits, three of 16, then the signed ones */
        const int bits = (format - UNORM_INT8X1) / 3 % 2 ? 16 : 8;
        struct channel_format named = {{0}, format - UNORM_INT8X1 + FIRST_NORMALISED};
        for (unsigned i = 0; i < channels && i < 4; i++) named.bits[i] = bits;
        return named;
    }
    const int kind = format >= 0x10 && format <= 0x20 ? FLOATING : format >= 0x08 ? SIGNED : UNSIGNED;
    const int width = format == 0x20 ? 32 : format == 0x10 ? 16 : 8 << ((format & 7) - (kind == UNSIGNED));
    struct channel_format found = {{0}, kind};
    for (unsigned i = 0; i < channels && i < 4; i++) found.bits[i] = width;
    return found;
}

int element_bytes(handle array, size_t *bytes) {
    struct array_description found;
    int failed = cuArray3DGetDescriptor_v2(&found, array);
    if (failed) return failed;
    *bytes = (size_t)channels_of(found.format, 1).bits[0] / 8 * found.channels;
    return SUCCESS;
}

int row_bytes(handle array, size_t *bytes) {
    struct array_description found;
    int failed = cuArray3DGetDescriptor_v2(&found, array);
    if (failed) return failed;
    failed = element_bytes(array, bytes);
    *bytes *= found.width;
    return failed;
}

static int described(const struct channel_format *format, struct extent extent, unsigned flags, struct array_description *to) {
    if (!format) return INVALID_VALUE;
    *to = (struct array_description){extent.width, extent.height, extent.depth, 0, 0, flags};
    return format_of(format, &to->format, &to->channels);
}

EXPORTED int cudaMalloc3DArray(handle *array, const struct channel_format *format, struct extent extent, unsigned flags) {
    struct array_description asked;
    START();
    int failed = described(format, extent, flags, &asked);
    return told(failed ? failed : cuArray3DCreate_v2(array, &asked));
}

EXPORTED int cudaMallocArray(handle *array, const struct channel_format *format, size_t width, size_t height, unsigned flags) {
    return cudaMalloc3DArray(array, format, (struct extent){width, height, 0}, flags);
}

EXPORTED int cudaMallocMipmappedArray(handle *array, const struct channel_format *format, struct extent extent, unsigned levels,
                                      unsigned flags) {
    struct array_description asked;
    START();
    int failed = described(format, extent, flags, &asked);
    return told(failed ? failed : cuMipmappedArrayCreate(array, &asked, levels));
}

EXPORTED int cudaFreeArray(handle array) {
    START();
    return told(array ? cuArrayDestroy(array) : SUCCESS);
}

EXPORTED int cudaArrayGetInfo(struct channel_format *format, struct extent *extent, unsigned *flags, handle array) {
    struct array_description found;
    START();
    int failed = cuArray3DGetDescriptor_v2(&found, array);
    if (failed) return told(failed);
    if (format) *format = channels_of(found.format, found.channels);
    if (extent) *extent = (struct extent){found.width, found.height, found.depth};
    if (flags) *flags = found.flags;
    return SUCCESS;
}

EXPORTED int cudaGetChannelDesc(struct channel_format *format, handle array) { return cudaArrayGetInfo(format, NULL, NULL, array); }

EXPORTED struct channel_format cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
    return (struct channel_format){{x, y, z, w}, kind};
}

static int resource_of(const struct resource *from, struct driver_resource *to) {
    if (!from) return INVALID_VALUE;
    *to = (struct driver_resource){.type = from->type, .flags = from->flags};
    if (from->type == RESOURCE_ARRAY || from->type == RESOURCE_MIPMAPPED) {
        to->in.array = from->in.array;
        return SUCCESS;
    }
    if (from->type != RESOURCE_LINEAR && from->type != RESOURCE_PITCHED) return INVALID_VALUE;
    to->in.memory.address = from->in.memory.address;
    to->in.memory.bytes_or_width = from->in.memory.bytes_or_width;
    if (from->type == RESOURCE_PITCHED) {
        to->in.memory.height = from->in.memory.height;
        to->in.memory.pitch_bytes = from->in.memory.pitch_bytes;
    }
    return format_of(&from->in.memory.format, &to->in.memory.format, &to->in.memory.channels);
}

static struct resource resource_from(const struct driver_resource *from) {
    struct resource to = {.type = from->type, .flags = from->flags};
    if (from->type == RESOURCE_ARRAY || from->type == RESOURCE_MIPMAPPED) {
        to.in.array = from->in.array;
        return to;
    }
    to.in.memory.address = from->in.memory.address;
    to.in.memory.format = channels_of(from->in.memory.format, from->in.memory.channels);
    to.in.memory.bytes_or_width = from->in.memory.bytes_or_width;
    if (from->type == RESOURCE_PITCHED) {
        to.in.memory.height = from->in.memory.height;
        to.in.memory.pitch_bytes = from->in.memory.pitch_bytes;
    }
    return to;
}

EXPORTED int cudaCreateTextureObject(uint64_t *texture, const struct resource *resource, const struct texture *how, const void *view) {
    struct driver_resource in;
    if (!texture || !how) return told(INVALID_VALUE);
    START();
    int failed = resource_of(resource, &in);
    if (failed) return told(failed);
    struct driver_texture asked = {.filter = how->filter,
                                   .max_anisotropy = how->max_anisotropy,
                                   .mipmap_filter = how->mipmap_filter,
                                   .mipmap_bias = how->mipmap_bias,
                                   .min_level = how->min_level,
                                   .max_level = how->max_level};
    for (int i = 0; i < 3; i++) asked.address_modes[i] = how->address_modes[i];
    for (int i = 0; i < 4; i++) asked.border[i] = how->border[i];
    asked.flags = (how->read_as_normalised ? 0 : AS_INTEGER) | (how->normalised_coordinates ? NORMALISED : 0) | (how->srgb ? SRGB : 0) |
                  (how->no_trilinear_optimisation ? NO_TRILINEAR : 0) | (how->seamless_cubemap ? SEAMLESS : 0);
    return told(cuTexObjectCreate(texture, &in, &asked, view));
}

EXPORTED int cudaCreateSurfaceObject(uint64_t *surface, const struct resource *resource) {
    struct driver_resource in;
    START();
    int failed = resource_of(resource, &in);
    return told(failed ? failed : cuSurfObjectCreate(surface, &in));
}

EXPORTED int cudaGetTextureObjectResourceDesc(struct resource *to, uint64_t texture) {
    struct driver_resource found;
    START();
    int failed = cuTexObjectGetResourceDesc(&found, texture);
    if (!failed) *to = resource_from(&found);
    return told(failed);
}

EXPORTED int cudaGetSurfaceObjectResourceDesc(struct resource *to, uint64_t surface) {
    struct driver_resource found;
    START();
    int failed = cuSurfObjectGetResourceDesc(&found, surface);
    if (!failed) *to = resource_from(&found);
    return told(failed);
}

EXPORTED int cudaGetTextureObjectTextureDesc(struct texture *to, uint64_t texture) {
    struct driver_texture found;
    START();
    int failed = to ? cuTexObjectGetTextureDesc(&found, texture) : INVALID_VALUE;
    if (failed) return told(failed);
    *to = (struct texture){.filter = found.filter,
                           .read_as_normalised = !(found.flags & AS_INTEGER),
                           .srgb = !!(found.flags & SRGB),
                           .normalised_coordinates = !!(found.flags & NORMALISED),
                           .max_anisotropy = found.max_anisotropy,
                           .mipmap_filter = found.mipmap_filter,
                           .mipmap_bias = found.mipmap_bias,
                           .min_level = found.min_level,
                           .max_level = found.max_level,
                           .no_trilinear_optimisation = !!(found.flags & NO_TRILINEAR),
                           .seamless_cubemap = !!(found.flags & SEAMLESS)};
    for (int i = 0; i < 3; i++) to->address_modes[i] = found.address_modes[i];
    for (int i = 0; i < 4; i++) to->border[i] = found.border[i];
    return SUCCESS;
}

EXPORTED int cudaDeviceGetTexture1DLinearMaxWidth(size_t *width, const struct channel_format *format, int which) {
    int found;
    unsigned channels;
    START();
    if (!format) return told(INVALID_VALUE);
    int failed = format_of(format, &found, &channels);
    return told(failed ? failed : cuDeviceGetTexture1DLinearMaxWidth(width, found, channels, which));
}
