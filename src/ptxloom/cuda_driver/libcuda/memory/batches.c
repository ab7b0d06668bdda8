/* Copies and prefetches given many at a time. */
#include "driver.h"

enum { FIRST_ORDER = 1, LAST_ORDER = 3, KNOWN_FLAGS = 3 };

/* Which stream: not the legacy one, as what is in it cannot be told apart. */
static int stream_for(void *handle) {
    struct stream *stream;
    return (uintptr_t)handle < 2 ? INVALID_VALUE : stream_of(handle, &stream);
}

/* Each attribute is that of what begins at its index, up to the next one's. */
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
    for (size_t turn = 0; turn < 2; turn++) /* none is done before all are known to be legal */
        for (size_t i = 0; i < count; i++) {
            struct copy copy = {.to = to[i], .from = from[i], .width = sizes[i], .height = 1, .depth = 1};
            if (!sizes[i] || copy_legal(&copy, when_of(stream))) return INVALID_VALUE;
            if (turn) TRY(each(&copy, 1, stream));
        }
    return SUCCESS;
}

/* One of them, in any stream. */
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
    if (failed_at) *failed_at = SIZE_MAX; /* none in particular */
    return cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, first, attribute_count, stream);
}

/* -- boxes --------------------------------------------------------------------------------------------------------------- */

enum { POINTER = 1 };
struct operand {
    int kind;
    device_pointer address; /* or an array, */
    size_t row, height;     /* and where in it */
    struct location hint;
};
struct box {
    struct operand from, to;
    size_t width, height, depth;
    int order;
    unsigned flags;
};

static int box_copy(const struct box *b, enum when when, struct copy *copy) {
    size_t from_row = b->from.row ? b->from.row : b->width, to_row = b->to.row ? b->to.row : b->width;
    size_t from_height = b->from.height ? b->from.height : b->height, to_height = b->to.height ? b->to.height : b->height;
    if (b->from.kind != POINTER || b->to.kind != POINTER) return INVALID_VALUE;
    if (!b->width || !b->height || !b->depth || from_row < b->width || to_row < b->width) return INVALID_VALUE;
    *copy = (struct copy){.to = b->to.address, .from = b->from.address, .to_pitch = to_row, .from_pitch = from_row,
                          .width = b->width, .height = b->height, .depth = b->depth};
    if (from_height < b->height || to_height < b->height) return INVALID_VALUE;
    if (__builtin_mul_overflow(from_row, from_height, &copy->from_slice)) return INVALID_VALUE;
    if (__builtin_mul_overflow(to_row, to_height, &copy->to_slice)) return INVALID_VALUE;
    TRY(order_legal(b->order, b->flags));
    return copy_legal(copy, when);
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

/* -- managed memory: where it is does not matter ------------------------------------------------------------------------ */

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

EXPORTED int cuMemDiscardAndPrefetchBatchAsync(const device_pointer *starts, const size_t *sizes, size_t count, const struct location *where,
                                               const size_t *first, size_t where_count, uint64_t flags, void *stream) {
    return cuMemPrefetchBatchAsync(starts, sizes, count, where, first, where_count, flags, stream);
}
