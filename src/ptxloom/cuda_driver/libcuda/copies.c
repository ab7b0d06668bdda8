/* Copies and fills: rows of bytes between addresses, in one, two or three dimensions. */
#include <string.h>

#include "driver.h"

/* The last byte that a box of rows reaches, from its first; 0 if it does not go into 64 bits. */
static uint64_t extent(uint64_t width, uint64_t height, uint64_t depth, uint64_t pitch, uint64_t slice) {
    uint64_t rows, slices, all;
    if (__builtin_mul_overflow(height - 1, pitch, &rows) || __builtin_mul_overflow(depth - 1, slice, &slices)) return 0;
    if (__builtin_add_overflow(rows, slices, &all) || __builtin_add_overflow(all, width, &all)) return 0;
    return all;
}

static int copy_legal(const struct copy *c) {
    if (c->width == 0 || c->height == 0 || c->depth == 0) return SUCCESS;
    uint64_t to = extent(c->width, c->height, c->depth, c->to_pitch, c->to_slice);
    uint64_t from = extent(c->width, c->height, c->depth, c->from_pitch, c->from_slice);
    return to && from && reachable(c->to, to) && reachable(c->from, from) ? SUCCESS : INVALID_VALUE;
}

static int submit_copy(void *stream, const struct copy *copy) {
    struct work work = {.kind = COPY_WORK, .copy = *copy};
    TRY(copy_legal(copy));
    return work_submit(stream, &work);
}

static int copy_bytes(device_pointer to, device_pointer from, size_t size, void *stream, int device_to, int device_from) {
    CONTEXT;
    struct copy copy = {.to = to, .from = from, .width = size, .height = 1, .depth = 1};
    if (size && ((device_to && !in_device(to)) || (device_from && !in_device(from)))) return INVALID_VALUE;
    return submit_copy(stream, &copy);
}

#define ADDRESS(pointer) ((device_pointer)(uintptr_t)(pointer))

EXPORTED int cuMemcpy(device_pointer to, device_pointer from, size_t size) { return copy_bytes(to, from, size, NULL, 0, 0); }
EXPORTED int cuMemcpyAsync(device_pointer to, device_pointer from, size_t size, void *stream) {
    return copy_bytes(to, from, size, stream, 0, 0);
}
EXPORTED int cuMemcpyHtoD_v2(device_pointer to, const void *from, size_t size) {
    return copy_bytes(to, ADDRESS(from), size, NULL, 1, 0);
}
EXPORTED int cuMemcpyHtoDAsync_v2(device_pointer to, const void *from, size_t size, void *stream) {
    return copy_bytes(to, ADDRESS(from), size, stream, 1, 0);
}
EXPORTED int cuMemcpyDtoH_v2(void *to, device_pointer from, size_t size) {
    return copy_bytes(ADDRESS(to), from, size, NULL, 0, 1);
}
EXPORTED int cuMemcpyDtoHAsync_v2(void *to, device_pointer from, size_t size, void *stream) {
    return copy_bytes(ADDRESS(to), from, size, stream, 0, 1);
}
EXPORTED int cuMemcpyDtoD_v2(device_pointer to, device_pointer from, size_t size) {
    return copy_bytes(to, from, size, NULL, 1, 1);
}
EXPORTED int cuMemcpyDtoDAsync_v2(device_pointer to, device_pointer from, size_t size, void *stream) {
    return copy_bytes(to, from, size, stream, 1, 1);
}
EXPORTED int cuMemcpyPeer(device_pointer to, void *to_context, device_pointer from, void *from_context, size_t size) {
    (void)to_context, (void)from_context;
    return copy_bytes(to, from, size, NULL, 0, 0);
}
EXPORTED int cuMemcpyPeerAsync(device_pointer to, void *to_context, device_pointer from, void *from_context, size_t size, void *stream) {
    (void)to_context, (void)from_context;
    return copy_bytes(to, from, size, stream, 0, 0);
}

/* -- boxes ------------------------------------------------------------------------------------------------------- */

struct side {
    size_t x, y, z;
    int type;
    void *host;
    device_pointer address;
    size_t pitch, height;
};

static int side_start(const struct side *side, uint64_t width, uint64_t rows, device_pointer *start, uint64_t *pitch, uint64_t *slice) {
    enum { HOST = 1, DEVICE = 2, UNIFIED = 4 };
    uint64_t at, up;
    if (side->type != HOST && side->type != DEVICE && side->type != UNIFIED) return NOT_SUPPORTED;
    *pitch = side->pitch ? side->pitch : width + side->x;
    if (*pitch < side->x || *pitch - side->x < width) return INVALID_VALUE;
    if (__builtin_mul_overflow(*pitch, side->height ? side->height : rows, slice)) return INVALID_VALUE;
    device_pointer base = side->type == HOST ? ADDRESS(side->host) : side->address;
    if (__builtin_mul_overflow(side->y, *pitch, &at) || __builtin_mul_overflow(side->z, *slice, &up)) return INVALID_VALUE;
    if (__builtin_add_overflow(at, up, &at) || __builtin_add_overflow(at, side->x, &at)) return INVALID_VALUE;
    return __builtin_add_overflow(base, at, start) || base == 0 ? INVALID_VALUE : SUCCESS;
}

static int copy_box(const struct side *to, const struct side *from, uint64_t width, uint64_t height, uint64_t depth, struct copy *c) {
    *c = (struct copy){.width = width, .height = height, .depth = depth};
    if (width == 0 || height == 0 || depth == 0) return SUCCESS;
    TRY(side_start(to, width, height, &c->to, &c->to_pitch, &c->to_slice));
    return side_start(from, width, height, &c->from, &c->from_pitch, &c->from_slice);
}

static int flat_copy(const struct copy2d *p, struct copy *copy) {
    struct side to = {p->to_x, p->to_y, 0, p->to_type, p->to_host, p->to, p->to_pitch, 0};
    struct side from = {p->from_x, p->from_y, 0, p->from_type, (void *)(uintptr_t)p->from_host, p->from, p->from_pitch, 0};
    return copy_box(&to, &from, p->width, p->height, 1, copy);
}

int copy_of_box(const struct copy3d *p, struct copy *copy) {
    struct side to = {p->to_x, p->to_y, p->to_z, p->to_type, p->to_host, p->to, p->to_pitch, p->to_height};
    struct side from = {p->from_x, p->from_y, p->from_z, p->from_type, (void *)(uintptr_t)p->from_host, p->from, p->from_pitch, p->from_height};
    TRY(copy_box(&to, &from, p->width, p->height, p->depth, copy));
    return copy_legal(copy);
}

EXPORTED int cuMemcpy2DAsync_v2(const struct copy2d *p, void *stream) {
    CONTEXT;
    struct copy copy;
    if (!p) return INVALID_VALUE;
    TRY(flat_copy(p, &copy));
    return submit_copy(stream, &copy);
}
EXPORTED int cuMemcpy2D_v2(const struct copy2d *p) { return cuMemcpy2DAsync_v2(p, NULL); }
EXPORTED int cuMemcpy2DUnaligned_v2(const struct copy2d *p) { return cuMemcpy2DAsync_v2(p, NULL); }

EXPORTED int cuMemcpy3DAsync_v2(const struct copy3d *p, void *stream) {
    CONTEXT;
    struct copy copy;
    if (!p) return INVALID_VALUE;
    TRY(copy_of_box(p, &copy));
    return submit_copy(stream, &copy);
}
EXPORTED int cuMemcpy3D_v2(const struct copy3d *p) { return cuMemcpy3DAsync_v2(p, NULL); }

/* -- fills ------------------------------------------------------------------------------------------------------- */

int fill_legal(const struct fill *f) {
    uint64_t row_bytes;
    if (f->element_bytes != 1 && f->element_bytes != 2 && f->element_bytes != 4) return INVALID_VALUE;
    if (f->to % f->element_bytes || (f->height > 1 && f->pitch % f->element_bytes)) return INVALID_VALUE;
    if (f->width == 0 || f->height == 0) return SUCCESS;
    if (__builtin_mul_overflow(f->width, f->element_bytes, &row_bytes)) return INVALID_VALUE;
    if (f->height > 1 && f->pitch < row_bytes) return INVALID_VALUE;
    uint64_t all = extent(row_bytes, f->height, 1, f->pitch, 0);
    return all && in_device(f->to) && reachable(f->to, all) ? SUCCESS : INVALID_VALUE;
}

static int fill(device_pointer to, uint64_t pitch, unsigned value, unsigned element, uint64_t width, uint64_t height, void *stream) {
    CONTEXT;
    struct work work = {.kind = FILL_WORK, .fill = {to, pitch, width, height, value, element}};
    TRY(fill_legal(&work.fill));
    return work_submit(stream, &work);
}

#define FILLS(bits, type)                                                                                              \
    EXPORTED int cuMemsetD##bits##Async(device_pointer to, type value, size_t count, void *stream) {                   \
        return fill(to, 0, value, bits / 8, count, 1, stream);                                                         \
    }                                                                                                                  \
    EXPORTED int cuMemsetD##bits##_v2(device_pointer to, type value, size_t count) {                                   \
        return fill(to, 0, value, bits / 8, count, 1, NULL);                                                           \
    }                                                                                                                  \
    EXPORTED int cuMemsetD2D##bits##Async(device_pointer to, size_t pitch, type value, size_t width, size_t height,    \
                                          void *stream) {                                                              \
        return fill(to, pitch, value, bits / 8, width, height, stream);                                                \
    }                                                                                                                  \
    EXPORTED int cuMemsetD2D##bits##_v2(device_pointer to, size_t pitch, type value, size_t width, size_t height) {    \
        return fill(to, pitch, value, bits / 8, width, height, NULL);                                                  \
    }

FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)
