/* Copies and prefetches in batches. */
#include "arrays/arrays.h"
#include "base/contexts.h"
#include "base/handles.h"
#include "copies/copies.h"
#include "memory/managed.h"
#include "streams/recordings.h"

enum { FIRST_ORDER = 1, LAST_ORDER = 3, KNOWN_FLAGS = 3 };

/* The stream of a batch: not the legacy one, whose work cannot be distinguished. */
static int stream_for(void *handle) {
    struct stream *stream;
    return (uintptr_t)handle < 2 ? INVALID_VALUE : stream_of(handle, &stream);
}

/* Each attribute applies from its index up to the next one's. */
static int indices_legal(const size_t *first, size_t attributes, size_t count) {
    if (!first || !attributes || attributes > count || first[0]) return INVALID_VALUE;
    for (size_t i = 0; i < attributes; i++)
        if (first[i] >= count || (i && first[i] <= first[i - 1])) return INVALID_VALUE;
    return SUCCESS;
}

struct copy_attributes {
    int order;
    struct location from, to;
    unsigned flags;
};

static int order_legal(int order, unsigned flags) {
    return order < FIRST_ORDER || order > LAST_ORDER || flags & ~(unsigned)KNOWN_FLAGS ? INVALID_VALUE : SUCCESS;
}

static int each(const struct copy *copies, size_t count, void *stream) {
    for (size_t i = 0; i < count; i++) {
        struct work work = {.kind = COPY_WORK, .copy = copies[i]};
        TRY(work_submit(stream, &work));
    }
    return SUCCESS;
}

EXPORTED int cuMemcpyBatchAsync_v2(const device_pointer *to, const device_pointer *from, const size_t *sizes, size_t count,
                                   const struct copy_attributes *attributes, const size_t *first, size_t attribute_count, void *stream) {
    GIVEN(to && from && sizes && count && attributes);
    CONTEXT;
    TRY(stream_for(stream));
    TRY(indices_legal(first, attribute_count, count));
    for (size_t i = 0; i < attribute_count; i++) TRY(order_legal(attributes[i].order, attributes[i].flags));
    for (size_t turn = 0; turn < 2; turn++) /* check all before doing any */
        for (size_t i = 0; i < count; i++) {
            struct copy copy = {.to = to[i], .from = from[i], .width = sizes[i], .height = 1, .depth = 1};
            if (!sizes[i] || copy_legal(&copy, when_of(stream))) return INVALID_VALUE;
            if (turn) TRY(each(&copy, 1, stream));
        }
    return SUCCESS;
}

/* A single copy, in any stream. */
EXPORTED int cuMemcpyWithAttributesAsync(device_pointer to, device_pointer from, size_t size, const struct copy_attributes *attributes,
                                         void *stream) {
    GIVEN(attributes && size);
    CONTEXT;
    const struct copy copy = {.to = to, .from = from, .width = size, .height = 1, .depth = 1};
    TRY(order_legal(attributes->order, attributes->flags));
    return copy_legal(&copy, when_of(stream)) ? INVALID_VALUE : each(&copy, 1, stream);
}

EXPORTED int cuMemcpyBatchAsync(const device_pointer *to, const device_pointer *from, const size_t *sizes, size_t count,
                                const struct copy_attributes *attributes, const size_t *first, size_t attribute_count, size_t *failed_at,
                                void *stream) {
    if (failed_at) *failed_at = SIZE_MAX; /* no particular copy */
    return cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, first, attribute_count, stream);
}

/* -- boxes --------------------------------------------------------------------------------------------------------------- */

enum { POINTER = 1, IN_ARRAY = 2 };
enum { ARRAY_TYPE = 3, UNIFIED_TYPE = 4 }; /* of memory, in other copies */
struct operand {
    int kind;
    union {
        struct {
            device_pointer address;
            size_t row, height;
            struct location hint;
        } linear;
        struct {
            void *array;
            size_t x, y, z;
        } in;
    };
};
struct box {
    struct operand from, to;
    size_t width, height, depth;
    int order;
    unsigned flags;
};

/* The bytes of an element, if an operand determines them. */
static int unit_of(const struct operand *o, size_t *unit) {
    if (o->kind != IN_ARRAY) return o->kind == POINTER ? SUCCESS : INVALID_VALUE;
    const struct array *array = object_of(AN_ARRAY, o->in.array);
    if (!array) return INVALID_VALUE;
    const size_t own = element_bytes(array->about.format, array->about.channels);
    if (*unit && *unit != own) return INVALID_VALUE;
    *unit = own;
    return SUCCESS;
}

/* A side of a box in the terms of other copies. */
struct side {
    int type;
    void *array;
    device_pointer address;
    size_t x, y, z, pitch, height;
};

static int side_of(const struct operand *o, const struct box *b, size_t unit, struct side *side) {
    *side = (struct side){.type = ARRAY_TYPE};
    if (o->kind == IN_ARRAY) {
        side->array = o->in.array, side->y = o->in.y, side->z = o->in.z;
        return __builtin_mul_overflow(o->in.x, unit, &side->x) ? INVALID_VALUE : SUCCESS;
    }
    const size_t row = o->linear.row ? o->linear.row : b->width;
    *side = (struct side){.type = UNIFIED_TYPE, .address = o->linear.address, .height = o->linear.height ? o->linear.height : b->height};
    if (row < b->width || side->height < b->height) return INVALID_VALUE;
    return __builtin_mul_overflow(row, unit, &side->pitch) ? INVALID_VALUE : SUCCESS;
}

static int box_copy(const struct box *b, enum when when, struct copy *copy) {
    struct side from, to;
    size_t unit = 0, width;
    if (!b->width || !b->height || !b->depth) return INVALID_VALUE;
    TRY(unit_of(&b->from, &unit));
    TRY(unit_of(&b->to, &unit));
    unit = unit ? unit : 1;
    TRY(side_of(&b->from, b, unit, &from));
    TRY(side_of(&b->to, b, unit, &to));
    TRY(order_legal(b->order, b->flags));
    if (__builtin_mul_overflow(b->width, unit, &width)) return INVALID_VALUE;
    const struct copy3d box = {.from_x = from.x,
                               .from_y = from.y,
                               .from_z = from.z,
                               .from_type = from.type,
                               .from_array = from.array,
                               .from = from.address,
                               .from_pitch = from.pitch,
                               .from_height = from.height,
                               .to_x = to.x,
                               .to_y = to.y,
                               .to_z = to.z,
                               .to_type = to.type,
                               .to_array = to.array,
                               .to = to.address,
                               .to_pitch = to.pitch,
                               .to_height = to.height,
                               .width = width,
                               .height = b->height,
                               .depth = b->depth};
    return copy_of_box(&box, copy, when);
}

EXPORTED int cuMemcpy3DBatchAsync_v2(size_t count, const struct box *boxes, uint64_t flags, void *stream) {
    GIVEN(count && boxes && !flags);
    CONTEXT;
    struct copy copy;
    TRY(stream_for(stream));
    for (size_t i = 0; i < count; i++) TRY(box_copy(&boxes[i], when_of(stream), &copy));
    for (size_t i = 0; i < count; i++) {
        TRY(box_copy(&boxes[i], when_of(stream), &copy));
        TRY(each(&copy, 1, stream));
    }
    return SUCCESS;
}

EXPORTED int cuMemcpy3DWithAttributesAsync(const struct box *box, uint64_t flags, void *stream) {
    GIVEN(box && !flags);
    CONTEXT;
    struct copy copy;
    TRY(box_copy(box, when_of(stream), &copy));
    return each(&copy, 1, stream);
}

EXPORTED int cuMemcpy3DBatchAsync(size_t count, const struct box *boxes, size_t *failed_at, uint64_t flags, void *stream) {
    if (failed_at) *failed_at = SIZE_MAX;
    return cuMemcpy3DBatchAsync_v2(count, boxes, flags, stream);
}

/* -- managed memory, whose location does not matter ------------------------------------------------------------------------ */

EXPORTED int cuMemPrefetchBatchAsync(const device_pointer *starts, const size_t *sizes, size_t count, const struct location *where,
                                     const size_t *first, size_t where_count, uint64_t flags, void *stream) {
    GIVEN(starts && sizes && count && where && !flags);
    CONTEXT;
    TRY(stream_for(stream));
    TRY(indices_legal(first, where_count, count));
    for (size_t i = 0, at = 0; i < count; i++) {
        while (at + 1 < where_count && first[at + 1] <= i) at++;
        TRY(prefetch(starts[i], sizes[i], where[at]));
    }
    return SUCCESS;
}

EXPORTED int cuMemDiscardBatchAsync(const device_pointer *starts, const size_t *sizes, size_t count, uint64_t flags, void *stream) {
    enum { ON_DEVICE = 1 };
    GIVEN(starts && sizes && count && !flags);
    CONTEXT;
    TRY(stream_for(stream));
    for (size_t i = 0; i < count; i++) TRY(prefetch(starts[i], sizes[i], (struct location){ON_DEVICE, 0}));
    return SUCCESS;
}

SAME(cuMemDiscardAndPrefetchBatchAsync, cuMemPrefetchBatchAsync);
