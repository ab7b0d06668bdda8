/* Parts of the device, and contexts that have one. Kernels run on the whole device anyway: nothing runs concurrently. */
#include <string.h>

#include "base/contexts.h"
#include "base/handles.h"
#include "streams/events.h"
#include "streams/recordings.h"

enum { NO_RESOURCE = 0, MULTIPROCESSORS = 1 };
enum { UNIT = 2 }; /* multiprocessors that go together; those of sm_90 go by eight, and would leave few parts of this device */
enum { DEFAULT_STREAM = 1, NON_BLOCKING = 1, SPLIT_FLAGS = 3, MOST_GROUPS = 1 << 10, MOST_TOGETHER = 32 };

struct resource {
    int type;
    unsigned char unused[92];
    uint32_t count, least, aligned;
    unsigned char room[36];
};

struct description {
    struct resource resource;
};

struct green {
    void *context;
    uint64_t id;
    struct resource resource;
};

static struct resource part_of(uint32_t count) {
    return (struct resource){.type = MULTIPROCESSORS, .count = count, .least = UNIT, .aligned = UNIT};
}

static int tell(struct resource *found, int type, uint32_t count) {
    if (!found) return INVALID_VALUE;
    if (type != MULTIPROCESSORS) return INVALID_RESOURCE_TYPE;
    *found = part_of(count);
    return SUCCESS;
}

static uint32_t all(void) { return (uint32_t)device.attributes[MULTIPROCESSOR_COUNT]; }

static struct green *green_of_context(const void *context) {
    size_t place = 0;
    for (void *handle; (handle = handle_next(A_GREEN_CONTEXT, &place));) {
        struct green *one = object_of(A_GREEN_CONTEXT, handle);
        if (one->context == context) return one;
    }
    return NULL;
}

EXPORTED int cuDeviceGetDevResource(int which, struct resource *found, int type) {
    DRIVER;
    if (!is_device(which)) return INVALID_DEVICE;
    return tell(found, type, all());
}

EXPORTED int cuCtxGetDevResource(void *context, struct resource *found, int type) {
    GIVEN(found);
    DRIVER;
    const struct green *one = green_of_context(context);
    if (!object_of(A_CONTEXT, context)) return INVALID_CONTEXT;
    return tell(found, type, one ? one->resource.count : all());
}

EXPORTED int cuDevSmResourceSplitByCount(struct resource *parts, unsigned *count, const struct resource *whole, struct resource *rest,
                                         unsigned flags, unsigned least) {
    DRIVER;
    if (!count || !whole || flags & ~(unsigned)SPLIT_FLAGS) return INVALID_VALUE;
    if (whole->type != MULTIPROCESSORS) return INVALID_RESOURCE_TYPE;
    if (parts && !*count) return INVALID_VALUE;
    if (least > whole->count || whole->count > all()) return INVALID_RESOURCE_CONFIGURATION;
    uint32_t each = least ? (least + UNIT - 1) / UNIT * UNIT : UNIT, most = whole->count / each;
    if (!most) return INVALID_RESOURCE_CONFIGURATION;
    if (parts && *count < most) most = *count;
    for (uint32_t i = 0; parts && i < most; i++) parts[i] = part_of(each);
    *count = most;
    if (rest) *rest = whole->count > most * each ? part_of(whole->count - most * each) : (struct resource){NO_RESOURCE};
    return SUCCESS;
}

/* -- groups of any size: by the manual, not confirmed on a device ---------------------------------------------- */

enum { FILLED_UP = 1, IN_A_DOMAIN = 6 }; /* flags; there is only one domain, which has no number */

struct group {
    uint32_t count, together, preferred, flags, domain, reserved[11];
};

/* How many multiprocessors a group gets of those that are left; a count of 0 asks for as many as there are. */
static int group_size(const struct group *wanted, uint32_t left, uint32_t *count) {
    const uint32_t together = wanted->together ? wanted->together : UNIT;
    if (wanted->flags & ~(uint32_t)FILLED_UP) return wanted->flags & IN_A_DOMAIN ? INVALID_RESOURCE_CONFIGURATION : INVALID_VALUE;
    if (together % UNIT || together > MOST_TOGETHER || wanted->count % UNIT) return INVALID_VALUE;
    if (wanted->count > left || together > all()) return INVALID_RESOURCE_CONFIGURATION;
    if (!(wanted->flags & FILLED_UP) && wanted->count % together) return INVALID_VALUE;
    *count = wanted->count ? wanted->count : left / together * together;
    return SUCCESS;
}

EXPORTED int cuDevSmResourceSplit(struct resource *parts, unsigned groups, const struct resource *whole, struct resource *rest,
                                  unsigned flags, struct group *wanted) {
    DRIVER;
    if (!whole || !wanted || !groups || flags) return INVALID_VALUE;
    if (whole->type != MULTIPROCESSORS) return INVALID_RESOURCE_TYPE;
    if (groups > MOST_GROUPS || whole->count > all()) return INVALID_RESOURCE_CONFIGURATION;
    uint32_t left = whole->count, counts[MOST_GROUPS];
    for (unsigned i = 0; i < groups; i++) {
        TRY(group_size(&wanted[i], left, &counts[i]));
        if (parts && (!counts[i] || counts[i] < wanted[i].together)) return INVALID_RESOURCE_CONFIGURATION;
        left -= counts[i];
    }
    for (unsigned i = 0; i < groups; i++) {
        wanted[i].count = counts[i];
        if (parts) parts[i] = part_of(counts[i]);
    }
    if (rest) *rest = left ? part_of(left) : (struct resource){NO_RESOURCE};
    return SUCCESS;
}

EXPORTED int cuDevResourceGenerateDesc(void **description, const struct resource *resources, unsigned count) {
    GIVEN(description && resources && count);
    DRIVER;
    uint64_t together = 0;
    for (unsigned i = 0; i < count && i < MOST_GROUPS; i++) {
        if (resources[i].type != MULTIPROCESSORS) return INVALID_RESOURCE_TYPE;
        together += resources[i].count;
    }
    if (count > MOST_GROUPS || together > all()) return INVALID_RESOURCE_CONFIGURATION;
    void *made = handle_new(A_RESOURCE_DESCRIPTION, sizeof(struct description));
    struct description *one = object_of(A_RESOURCE_DESCRIPTION, made);
    if (!one) return OUT_OF_MEMORY;
    one->resource = part_of((uint32_t)together);
    *description = made;
    return SUCCESS;
}

EXPORTED int cuGreenCtxCreate(void **handle, void *description, int which, unsigned flags) {
    DRIVER;
    const struct description *wanted = object_of(A_RESOURCE_DESCRIPTION, description);
    if (!handle || flags != DEFAULT_STREAM || (description && !wanted)) return INVALID_VALUE;
    if (!is_device(which)) return INVALID_DEVICE;
    TRY(failed);
    void *made = handle_new(A_GREEN_CONTEXT, sizeof(struct green));
    struct green *one = object_of(A_GREEN_CONTEXT, made);
    if (!one) return OUT_OF_MEMORY;
    one->context = green_context_new(&one->id);
    one->resource = part_of(wanted ? wanted->resource.count : all());
    if (!one->context) return OUT_OF_MEMORY;
    *handle = made;
    return SUCCESS;
}

static struct green *green_of(const void *handle) { return object_of(A_GREEN_CONTEXT, handle); }

EXPORTED int cuGreenCtxDestroy(void *handle) {
    DRIVER;
    struct green *one = green_of(handle);
    if (!one) return INVALID_CONTEXT;
    context_end(one->context);
    handle_free(handle);
    return SUCCESS;
}

EXPORTED int cuCtxFromGreenCtx(void **context, void *handle) {
    GIVEN(context);
    DRIVER;
    const struct green *one = green_of(handle);
    if (!one) return INVALID_CONTEXT;
    *context = one->context;
    return SUCCESS;
}

EXPORTED int cuGreenCtxGetDevResource(void *handle, struct resource *found, int type) {
    GIVEN(found);
    DRIVER;
    const struct green *one = green_of(handle);
    return one ? tell(found, type, one->resource.count) : INVALID_CONTEXT;
}

EXPORTED int cuGreenCtxGetId(void *handle, uint64_t *id) {
    GIVEN(id);
    DRIVER;
    const struct green *one = green_of(handle);
    if (!one) return INVALID_CONTEXT;
    *id = one->id;
    return SUCCESS;
}

EXPORTED int cuGreenCtxStreamCreate(void **stream, void *handle, unsigned flags, int priority) {
    GIVEN(stream && flags == NON_BLOCKING);
    DRIVER;
    const struct green *one = green_of(handle);
    return one ? stream_new(stream, flags, priority, one->context) : INVALID_CONTEXT;
}

static int tell_green(void *handle, void **found) {
    struct stream *stream;
    size_t place = 0;
    TRY(stream_of(handle, &stream));
    *found = NULL;
    for (void *one; (one = handle_next(A_GREEN_CONTEXT, &place));)
        if (stream->context && green_of(one)->context == stream->context) *found = one;
    return SUCCESS;
}

EXPORTED int cuStreamGetGreenCtx(void *stream, void **found) {
    GIVEN(found);
    CONTEXT;
    return tell_green(stream, found);
}

EXPORTED int cuStreamGetCtx_v2(void *handle, void **context, void **green) {
    GIVEN(context);
    CONTEXT;
    struct stream *stream;
    void *found = NULL;
    TRY(tell_green(handle, &found));
    TRY(stream_of(handle, &stream));
    TRY(capture_lost(stream));
    *context = stream->context ? stream->context : current_context();
    if (green) *green = found;
    return SUCCESS;
}

EXPORTED int cuStreamGetDevResource(void *handle, struct resource *found, int type) {
    CONTEXT;
    struct stream *stream;
    TRY(stream_of(handle, &stream));
    const struct green *one = green_of_context(stream->context);
    return tell(found, type, one ? one->resource.count : all());
}

/* -- all that a context has been given: it is done ---------------------------------------------------------------- */

/* What is recorded in its streams meanwhile is lost. */
static int recorded_in(const void *context) {
    size_t place = 0;
    int error = SUCCESS;
    for (void *handle; (handle = handle_next(A_STREAM, &place));) {
        const struct stream *stream = object_of(A_STREAM, handle);
        if (stream->capture && stream->context == context) error = capture_invalidate(stream->capture);
    }
    return error;
}

static int record_all(const void *context, void *event) {
    if (!event) return INVALID_HANDLE;
    TRY(recorded_in(context));
    return event_record(event);
}

static int wait_all(const void *context, const void *event) {
    if (!object_of(AN_EVENT, event)) return INVALID_HANDLE;
    return recorded_in(context);
}

EXPORTED int cuGreenCtxRecordEvent(void *handle, void *event) {
    if (!handle) return INVALID_CONTEXT;
    DRIVER;
    const struct green *one = green_of(handle);
    return one ? record_all(one->context, event) : INVALID_CONTEXT;
}
EXPORTED int cuGreenCtxWaitEvent(void *handle, void *event) {
    if (!handle) return INVALID_CONTEXT;
    DRIVER;
    const struct green *one = green_of(handle);
    return one ? wait_all(one->context, event) : INVALID_CONTEXT;
}
EXPORTED int cuCtxRecordEvent(void *context, void *event) {
    DRIVER;
    if (!object_of(A_CONTEXT, context)) return INVALID_CONTEXT;
    return event_context(event) == context ? record_all(context, event) : INVALID_HANDLE; /* a green one takes any */
}
EXPORTED int cuCtxWaitEvent(void *context, void *event) {
    DRIVER;
    return object_of(A_CONTEXT, context) ? wait_all(context, event) : INVALID_CONTEXT;
}
