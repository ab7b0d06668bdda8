/* Copies and fills: rows of bytes between addresses, in one, two or three dimensions. */
#include <string.h>

#include "arrays/arrays.h"
#include "base/contexts.h"
#include "base/handles.h"
#include "copies/copies.h"
#include "streams/recordings.h"

/* The distance from the first to the last byte of a box of rows; 0 if it overflows 64 bits. */
static uint64_t extent(uint64_t width, uint64_t height, uint64_t depth, uint64_t pitch, uint64_t slice) {
    uint64_t rows, slices, all;
    if (__builtin_mul_overflow(height - 1, pitch, &rows) || __builtin_mul_overflow(depth - 1, slice, &slices)) return 0;
    if (__builtin_add_overflow(rows, slices, &all) || __builtin_add_overflow(all, width, &all)) return 0;
    return all;
}

int copy_legal(const struct copy *c, enum when when) {
    if (c->width == 0 || c->height == 0 || c->depth == 0) return SUCCESS;
    uint64_t to = extent(c->width, c->height, c->depth, c->to_pitch, c->to_slice);
    uint64_t from = extent(c->width, c->height, c->depth, c->from_pitch, c->from_slice);
    return to && from && reachable_when(c->to, to, when) && reachable_when(c->from, from, when) ? SUCCESS : INVALID_VALUE;
}

/* Recorded work happens later. */
enum when when_of(void *handle) {
    struct stream *stream;
    return stream_of(handle, &stream) || !stream->capture ? NOW : LATER;
}

static int submit_copy(void *stream, const struct copy *copy) {
    struct work work = {.kind = COPY_WORK, .copy = *copy};
    TRY(copy_legal(copy, when_of(stream)));
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
EXPORTED int cuMemcpyHtoD_v2(device_pointer to, const void *from, size_t size) { return copy_bytes(to, ADDRESS(from), size, NULL, 1, 0); }
EXPORTED int cuMemcpyHtoDAsync_v2(device_pointer to, const void *from, size_t size, void *stream) {
    return copy_bytes(to, ADDRESS(from), size, stream, 1, 0);
}
EXPORTED int cuMemcpyDtoH_v2(void *to, device_pointer from, size_t size) { return copy_bytes(ADDRESS(to), from, size, NULL, 0, 1); }
EXPORTED int cuMemcpyDtoHAsync_v2(void *to, device_pointer from, size_t size, void *stream) {
    return copy_bytes(ADDRESS(to), from, size, stream, 0, 1);
}
EXPORTED int cuMemcpyDtoD_v2(device_pointer to, device_pointer from, size_t size) { return copy_bytes(to, from, size, NULL, 1, 1); }
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

enum { HOST = 1, DEVICE = 2, ARRAY = 3, UNIFIED = 4 };

struct side {
    size_t x, y, z, level;
    int type;
    void *host, *array;
    device_pointer address;
    size_t pitch, height;
};

struct place {
    device_pointer start;
    uint64_t pitch, slice;
};

struct box {
    uint64_t width, height, depth; /* bytes, rows, slices */
};

static int is_inside(uint64_t at, uint64_t size, uint64_t end) { return at <= end && size <= end - at; }

/* A place within an array, which need not start at a whole element. */
static int array_place(const struct side *side, const struct box *box, struct place *place) {
    const struct array *array = object_of(AN_ARRAY, side->array);
    if (!array || side->level) return INVALID_VALUE;
    if (!is_inside(side->x, box->width, array->pitch) || !is_inside(side->y, box->height, array_rows(array)) ||
        !is_inside(side->z, box->depth, array_slices(array)))
        return INVALID_VALUE;
    const device_pointer start = array->start + side->z * array->slice + side->y * array->pitch + side->x;
    *place = (struct place){start, array->pitch, array->slice};
    return SUCCESS;
}

static int linear_place(const struct side *side, const struct box *box, struct place *place) {
    uint64_t at, up;
    const uint64_t height = side->height ? side->height : box->height;
    place->pitch = side->pitch ? side->pitch : box->width + side->x;
    if (!is_inside(side->x, box->width, place->pitch)) return INVALID_VALUE;
    if (side->height && !is_inside(side->y, box->height, height)) return INVALID_VALUE;
    if (__builtin_mul_overflow(place->pitch, height, &place->slice)) return INVALID_VALUE;
    device_pointer base = side->type == HOST ? ADDRESS(side->host) : side->address;
    if (__builtin_mul_overflow(side->y, place->pitch, &at) || __builtin_mul_overflow(side->z, place->slice, &up)) return INVALID_VALUE;
    if (__builtin_add_overflow(at, up, &at) || __builtin_add_overflow(at, side->x, &at)) return INVALID_VALUE;
    return __builtin_add_overflow(base, at, &place->start) || base == 0 ? INVALID_VALUE : SUCCESS;
}

static int place_of(const struct side *side, const struct box *box, struct place *place) {
    if (side->type == ARRAY) return array_place(side, box, place);
    if (side->type != HOST && side->type != DEVICE && side->type != UNIFIED) return INVALID_VALUE;
    return linear_place(side, box, place);
}

static int copy_box(const struct side *to, const struct side *from, const struct box *box, struct copy *c) {
    struct place there, here;
    *c = (struct copy){.width = box->width, .height = box->height, .depth = box->depth};
    if (box->width == 0 || box->height == 0 || box->depth == 0) return SUCCESS;
    TRY(place_of(to, box, &there));
    TRY(place_of(from, box, &here));
    c->to = there.start, c->to_pitch = there.pitch, c->to_slice = there.slice;
    c->from = here.start, c->from_pitch = here.pitch, c->from_slice = here.slice;
    return SUCCESS;
}

#define HOST_POINTER(pointer) ((void *)(uintptr_t)(pointer))

static int flat_copy(const struct copy2d *p, struct copy *copy) {
    const struct side to = {p->to_x, p->to_y, 0, 0, p->to_type, p->to_host, p->to_array, p->to, p->to_pitch, 0};
    const struct side from = {p->from_x, p->from_y,     0, 0, p->from_type, HOST_POINTER(p->from_host), p->from_array,
                              p->from,   p->from_pitch, 0};
    return copy_box(&to, &from, &(struct box){p->width, p->height, 1}, copy);
}

int copy_of_box(const struct copy3d *p, struct copy *copy, enum when when) {
    const struct side to = {p->to_x, p->to_y, p->to_z, p->to_level, p->to_type, p->to_host, p->to_array, p->to, p->to_pitch, p->to_height};
    const struct side from = {p->from_x,     p->from_y, p->from_z,     p->from_level, p->from_type, HOST_POINTER(p->from_host),
                              p->from_array, p->from,   p->from_pitch, p->from_height};
    TRY(copy_box(&to, &from, &(struct box){p->width, p->height, p->depth}, copy));
    copy->given = *p;
    return copy_legal(copy, when);
}

/* The parameters that a node returns; a recorded copy may not have been a box at first. */
struct copy3d copy_as_given(const struct copy *c) {
    if (c->given.width) return c->given;
    struct copy3d told = {.from_pitch = c->from_pitch, .to_pitch = c->to_pitch, .width = c->width, .height = c->height, .depth = c->depth};
    told.from_type = in_device(c->from) ? DEVICE : HOST;
    told.to_type = in_device(c->to) ? DEVICE : HOST;
    if (told.from_type == DEVICE) told.from = c->from;
    else told.from_host = HOST_POINTER(c->from);
    if (told.to_type == DEVICE) told.to = c->to;
    else told.to_host = HOST_POINTER(c->to);
    told.from_height = told.to_height = c->height;
    return told;
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
    TRY(copy_of_box(p, &copy, LATER)); /* checked again below, once the time is known */
    return submit_copy(stream, &copy);
}
EXPORTED int cuMemcpy3D_v2(const struct copy3d *p) { return cuMemcpy3DAsync_v2(p, NULL); }
/* The contexts of both sides are in reserved fields of other copies: there is one device. */
SAME(cuMemcpy3DPeerAsync, cuMemcpy3DAsync_v2);
EXPORTED int cuMemcpy3DPeer(const struct copy3d *p) { return cuMemcpy3DAsync_v2(p, NULL); }

/* -- bytes of the first row of an array, from an offset ------------------------------------------------------------ */

static struct side row_of(void *array, size_t offset) { return (struct side){.x = offset, .type = ARRAY, .array = array}; }
static struct side bytes_at(int type, device_pointer address) {
    return (struct side){.type = type, .host = HOST_POINTER(address), .address = address};
}

static int copy_row(struct side to, struct side from, size_t size, void *stream) {
    CONTEXT;
    struct copy copy;
    TRY(copy_box(&to, &from, &(struct box){size, 1, 1}, &copy));
    return submit_copy(stream, &copy);
}

EXPORTED int cuMemcpyHtoA_v2(void *to, size_t offset, const void *from, size_t size) {
    return copy_row(row_of(to, offset), bytes_at(HOST, ADDRESS(from)), size, NULL);
}
EXPORTED int cuMemcpyHtoAAsync_v2(void *to, size_t offset, const void *from, size_t size, void *stream) {
    return copy_row(row_of(to, offset), bytes_at(HOST, ADDRESS(from)), size, stream);
}
EXPORTED int cuMemcpyAtoH_v2(void *to, void *from, size_t offset, size_t size) {
    return copy_row(bytes_at(HOST, ADDRESS(to)), row_of(from, offset), size, NULL);
}
EXPORTED int cuMemcpyAtoHAsync_v2(void *to, void *from, size_t offset, size_t size, void *stream) {
    return copy_row(bytes_at(HOST, ADDRESS(to)), row_of(from, offset), size, stream);
}
EXPORTED int cuMemcpyDtoA_v2(void *to, size_t offset, device_pointer from, size_t size) {
    return copy_row(row_of(to, offset), bytes_at(DEVICE, from), size, NULL);
}
EXPORTED int cuMemcpyAtoD_v2(device_pointer to, void *from, size_t offset, size_t size) {
    return copy_row(bytes_at(DEVICE, to), row_of(from, offset), size, NULL);
}
EXPORTED int cuMemcpyAtoA_v2(void *to, size_t to_offset, void *from, size_t from_offset, size_t size) {
    return copy_row(row_of(to, to_offset), row_of(from, from_offset), size, NULL);
}

/* -- fills ------------------------------------------------------------------------------------------------------- */

int fill_legal(const struct fill *f, enum when when) {
    uint64_t row_bytes;
    if (f->element_bytes != 1 && f->element_bytes != 2 && f->element_bytes != 4) return INVALID_VALUE;
    if (f->to % f->element_bytes || (f->height > 1 && f->pitch % f->element_bytes)) return INVALID_VALUE;
    if (f->width == 0 || f->height == 0) return SUCCESS;
    if (__builtin_mul_overflow(f->width, f->element_bytes, &row_bytes)) return INVALID_VALUE;
    if (f->height > 1 && f->pitch < row_bytes) return INVALID_VALUE;
    uint64_t all = extent(row_bytes, f->height, 1, f->pitch, 0);
    return all && in_device(f->to) && reachable_when(f->to, all, when) ? SUCCESS : INVALID_VALUE;
}

static int fill(device_pointer to, uint64_t pitch, unsigned value, unsigned element, uint64_t width, uint64_t height, void *stream) {
    CONTEXT;
    struct work work = {.kind = FILL_WORK, .fill = {to, pitch, width, height, value, element}};
    TRY(fill_legal(&work.fill, when_of(stream)));
    return work_submit(stream, &work);
}

#define FILLS(bits, type)                                                                                                           \
    EXPORTED int cuMemsetD##bits##Async(device_pointer to, type value, size_t count, void *stream) {                                \
        return fill(to, 0, value, bits / 8, count, 1, stream);                                                                      \
    }                                                                                                                               \
    EXPORTED int cuMemsetD##bits##_v2(device_pointer to, type value, size_t count) {                                                \
        return fill(to, 0, value, bits / 8, count, 1, NULL);                                                                        \
    }                                                                                                                               \
    EXPORTED int cuMemsetD2D##bits##Async(device_pointer to, size_t pitch, type value, size_t width, size_t height, void *stream) { \
        return fill(to, pitch, value, bits / 8, width, height, stream);                                                             \
    }                                                                                                                               \
    EXPORTED int cuMemsetD2D##bits##_v2(device_pointer to, size_t pitch, type value, size_t width, size_t height) {                 \
        return fill(to, pitch, value, bits / 8, width, height, NULL);                                                               \
    }

FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)
