/* Managed memory: advice and prefetching change nothing. */
#include "memory/managed.h"

#include "base/contexts.h"
#include "memory/advice.h"
#include "memory/memory.h"
#include "streams/recordings.h"

int is_managed(device_pointer start, uint64_t size) {
    struct allocation *one = allocation_at(start);
    return one && one->kind == MANAGED_MEMORY && size && reachable(start, size);
}

static int place_legal(struct location where, int no_device) {
    switch (where.type) {
    case ON_DEVICE: return is_device(where.id) ? SUCCESS : no_device;
    case ON_HOST:
    case ON_HOST_NODE_NEAR: return SUCCESS;
    case ON_HOST_NODE: return where.id == 0 ? SUCCESS : INVALID_VALUE;
    default: return INVALID_VALUE;
    }
}

/* The host is device -1, as before CUDA had locations. */
static struct location location_of(int number) {
    return number == -1 ? (struct location){ON_HOST, 0} : (struct location){ON_DEVICE, number};
}

int prefetch(device_pointer start, uint64_t size, struct location where) {
    TRY(place_legal(where, INVALID_DEVICE));
    return is_managed(start, size) ? advice_keep(start, size, MOVED, where) : INVALID_VALUE;
}

EXPORTED int cuMemPrefetchAsync_v2(device_pointer start, size_t size, struct location where, unsigned flags, void *stream) {
    struct stream *found;
    GIVEN(size && !flags);
    CONTEXT;
    TRY(stream_of(stream, &found));
    return prefetch(start, size, where);
}

EXPORTED int cuMemPrefetchAsync(device_pointer start, size_t size, int where, void *stream) {
    CONTEXT;
    return cuMemPrefetchAsync_v2(start, size, location_of(where), 0, stream);
}

static int advise(device_pointer start, size_t size, int advice, struct location where, int no_device) {
    CONTEXT;
    if (advice < SET_READ_MOSTLY || advice > UNSET_ACCESSED_BY || !is_managed(start, size)) return INVALID_VALUE;
    TRY(place_legal(where, no_device));
    return advice_keep(start, size, (enum advice)advice, where);
}

EXPORTED int cuMemAdvise_v2(device_pointer start, size_t size, int advice, struct location where) {
    GIVEN(size);
    return advise(start, size, advice, where, INVALID_VALUE);
}

EXPORTED int cuMemAdvise(device_pointer start, size_t size, int advice, int where) {
    return advise(start, size, advice, location_of(where), INVALID_DEVICE);
}

EXPORTED int cuStreamAttachMemAsync(void *handle, device_pointer start, size_t size, unsigned flags) {
    enum { GLOBAL = 1, HOST = 2, SINGLE = 4 };
    CONTEXT;
    struct stream *stream;
    TRY(stream_of(handle, &stream));
    if (stream->capture) return capture_invalidate(stream->capture);
    struct allocation *one = allocation_at(start);
    if (!one || one->kind != MANAGED_MEMORY || (size && size != one->size)) return INVALID_VALUE;
    if (flags == SINGLE) return (uintptr_t)handle < 3 ? INVALID_VALUE : SUCCESS;
    return flags == GLOBAL || flags == HOST ? SUCCESS : INVALID_VALUE;
}

EXPORTED int cuMemRangeGetAttribute(void *data, size_t width, int attribute, device_pointer start, size_t size) {
    CONTEXT;
    TRY(advice_legal(data, width, attribute));
    if (!is_managed(start, size)) return INVALID_VALUE;
    advice_tell(data, width, attribute, start, size);
    return SUCCESS;
}

EXPORTED int cuMemRangeGetAttributes(void **data, const size_t *widths, const int *attributes, size_t wanted, device_pointer start,
                                     size_t size) {
    CONTEXT;
    if (!data || !widths || !attributes || !wanted || !is_managed(start, size)) return INVALID_VALUE;
    for (size_t i = 0; i < wanted; i++) TRY(advice_legal(data[i], widths[i], attributes[i]));
    for (size_t i = 0; i < wanted; i++) advice_tell(data[i], widths[i], attributes[i], start, size);
    return SUCCESS;
}
