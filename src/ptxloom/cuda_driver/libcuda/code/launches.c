/* Launches: copies the parameters, and checks the shape. */
#include <stdlib.h>
#include <string.h>

#include "base/handles.h"
#include "code/attributes.h"
#include "code/functions.h"
#include "code/launches.h"
#include "streams/events.h"
#include "streams/recordings.h"

static int shape_legal(const struct function *f, const struct shape *shape) {
    const int32_t *d = device.attributes;
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (shape->grid[i] == 0 || shape->grid[i] > (uint32_t)d[MAX_GRID_DIM_X + i]) return INVALID_VALUE;
        if (shape->block[i] == 0 || shape->block[i] > (uint32_t)d[MAX_BLOCK_DIM_X + i]) return INVALID_VALUE;
        threads *= shape->block[i];
    }
    if (threads > (uint32_t)d[MAX_THREADS_PER_BLOCK]) return INVALID_VALUE;
    if (threads > (uint32_t)f->attributes[MAX_THREADS]) return INVALID_VALUE; /* more than its `.maxntid` */
    int64_t asked = f->attributes[MAX_DYNAMIC_SHARED], plain = d[MAX_SHARED_MEMORY_PER_BLOCK] - f->attributes[STATIC_SHARED];
    int64_t most = asked > plain ? asked : plain;
    return (int64_t)shape->shared_bytes > most ? INVALID_VALUE : SUCCESS;
}

enum { END_OF_EXTRA = 0, BUFFER = 1, BUFFER_SIZE = 2 };

/* Take all parameters from one buffer. */
static int take_buffer(const struct function *f, void **extra, unsigned char *into) {
    const void *buffer = NULL;
    const size_t *size = NULL;
    for (int i = 0; extra[i] != (void *)END_OF_EXTRA; i += 2) {
        if (i >= 8) return INVALID_VALUE;
        if (extra[i] == (void *)BUFFER) buffer = extra[i + 1];
        else if (extra[i] == (void *)BUFFER_SIZE) size = extra[i + 1];
        else return INVALID_VALUE;
    }
    if (!size || !buffer || !*size) return INVALID_VALUE;
    if (*size > f->parameter_bytes) return LAUNCH_OUT_OF_RESOURCES;
    memcpy(into, buffer, *size);
    return SUCCESS;
}

static int take_each(const struct function *f, void **parameters, unsigned char *into) {
    if (f->parameter_count && !parameters) return INVALID_VALUE;
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        if (!parameters[i]) return INVALID_VALUE;
        memcpy(into + f->parameters[i].offset, parameters[i], f->parameters[i].size);
    }
    return SUCCESS;
}

int launch_of(void *handle, const struct shape *shape, void **parameters, void **extra, struct work *work) {
    struct function *f = object_of(A_FUNCTION, handle);
    if (!f) return INVALID_HANDLE;
    if (parameters && extra && extra[0]) return INVALID_VALUE;
    TRY(shape_legal(f, shape));
    unsigned char *taken = calloc(1, f->parameter_bytes ? f->parameter_bytes : 1);
    if (!taken) return OUT_OF_MEMORY;
    int error = parameters || !extra ? take_each(f, parameters, taken) : take_buffer(f, extra, taken);
    if (error) {
        free(taken);
        return error;
    }
    *work = (struct work){.kind = KERNEL_WORK};
    struct launch *launch = &work->launch;
    launch->function = f->number;
    launch->handle = handle;
    memcpy(launch->grid, shape->grid, sizeof launch->grid);
    memcpy(launch->block, shape->block, sizeof launch->block);
    for (int i = 0; i < 3; i++) launch->cluster[i] = (uint32_t)f->attributes[REQUIRED_CLUSTER + i];
    launch->shared_bytes = shape->shared_bytes;
    launch->size = f->parameter_bytes;
    launch->parameters = taken;
    launch->hints.domains[1] = 1; /* the second domain is the second */
    return SUCCESS;
}

/* Whether all CTAs of a cooperative launch are resident at once. */
static int together(const struct launch *launch) {
    int64_t ctas = (int64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    int64_t threads = (int64_t)launch->block[0] * launch->block[1] * launch->block[2];
    return ctas <= (int64_t)resident(launch->handle, threads, launch->shared_bytes) * device.attributes[MULTIPROCESSOR_COUNT] ? SUCCESS
                                                                                                                              : 720;
}

static int run(void *stream, struct work *work) {
    int fits = work->launch.flags & COOPERATIVE ? together(&work->launch) : SUCCESS;
    if (fits) {
        work_drop(work);
        return fits;
    }
    int error = work_submit(stream, work);
    work_drop(work);
    return error;
}

int launch_plain(void *function, const struct shape *shape, void *stream, void **parameters, void **extra, uint32_t flags) {
    CONTEXT;
    struct work work;
    struct stream *found;
    TRY(stream_of(stream, &found));
    TRY(launch_of(function, shape, parameters, extra, &work));
    work.launch.flags = flags;
    work.launch.hints.priority = found->priority;
    return run(stream, &work);
}

EXPORTED int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                            unsigned shared_bytes, void *stream, void **parameters, void **extra) {
    struct shape shape = {{gx, gy, gz}, {bx, by, bz}, shared_bytes};
    return launch_plain(function, &shape, stream, parameters, extra, 0);
}

EXPORTED int cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                       unsigned shared_bytes, void *stream, void **parameters) {
    struct shape shape = {{gx, gy, gz}, {bx, by, bz}, shared_bytes};
    return launch_plain(function, &shape, stream, parameters, NULL, COOPERATIVE);
}

struct launch_attribute {
    int32_t id;
    char unused[4];
    union {
        char room[64];
        int32_t number;
        uint32_t size[3];
        void *event;
    } value;
};

struct configuration {
    uint32_t grid[3], block[3], shared_bytes;
    void *stream;
    const struct launch_attribute *attributes;
    uint32_t count;
};

enum { PORTABLE_CLUSTER = 8, LARGEST_CLUSTER = 16 };

int launch_clusters(struct launch *launch, const uint32_t *size) {
    const struct function *f = object_of(A_FUNCTION, launch->handle);
    if (!size[0] && !size[1] && !size[2]) return SUCCESS; /* no clusters */
    uint64_t ctas = (uint64_t)size[0] * size[1] * size[2];
    if (ctas == 0 || ctas > (f && f->attributes[NON_PORTABLE_CLUSTER] ? LARGEST_CLUSTER : PORTABLE_CLUSTER)) return INVALID_CLUSTER_SIZE;
    for (int i = 0; i < 3; i++)
        if (launch->grid[i] % size[i]) return INVALID_CLUSTER_SIZE;
    memcpy(launch->cluster, size, sizeof launch->cluster);
    return SUCCESS;
}

static int apply(struct launch *launch, const struct launch_attribute *one) {
    int32_t number = one->value.number;
    if (one->id < 0 || one->id > LAST) return INVALID_VALUE;
    switch ((enum attribute)one->id) {
    case COOPERATIVE_LAUNCH: launch->flags |= number ? COOPERATIVE : 0; return SUCCESS;
    case SERIALIZATION: launch->flags |= number ? PROGRAMMATIC : 0; return SUCCESS;
    case CLUSTER: return launch_clusters(launch, one->value.size);
    case PREFERRED_CLUSTER: return launch->cluster[0] ? SUCCESS : INVALID_CLUSTER_SIZE;
    case SYNCHRONIZATION: return INVALID_VALUE; /* only for streams */
    case POLICY: return number < 0 || number > 2 ? INVALID_VALUE : SUCCESS;
    case MEMORY_DOMAIN: return number < 0 || number > 1 ? INVALID_VALUE : SUCCESS;
    case CARVEOUT: return number < -1 || number > 100 ? INVALID_VALUE : SUCCESS;
    case UPDATABLE: return number ? NOT_SUPPORTED : SUCCESS;
    default: return SUCCESS;
    }
}

/* Events that a launch signals are recorded after it. */
static int record_events(const struct configuration *c) {
    for (uint32_t i = 0; i < c->count; i++)
        if (c->attributes[i].id == PROGRAMMATIC_EVENT || c->attributes[i].id == COMPLETION_EVENT)
            TRY(event_record(c->attributes[i].value.event));
    return SUCCESS;
}

EXPORTED int cuLaunchKernelEx(const struct configuration *c, void *function, void **parameters, void **extra) {
    GIVEN(c);
    CONTEXT;
    struct work work;
    struct stream *stream;
    struct shape shape;
    if (!c || (c->count && !c->attributes) || c->count > 64) return INVALID_VALUE;
    TRY(stream_of(c->stream, &stream));
    memcpy(&shape, c, sizeof shape);
    TRY(launch_of(function, &shape, parameters, extra, &work));
    work.launch.hints.priority = stream->priority;
    for (uint32_t i = 0; i < c->count; i++) {
        int error = apply(&work.launch, &c->attributes[i]);
        if (!error) hint_of(&work.launch.hints, (enum attribute)c->attributes[i].id, &c->attributes[i].value);
        if (error) {
            work_drop(&work);
            return error;
        }
    }
    TRY(run(c->stream, &work));
    return record_events(c);
}

/* -- occupancy in clusters -------------------------------------------------------------------------------- */

static int cluster_asked(const struct configuration *c, void *handle, struct launch *launch) {
    const struct function *f = object_of(A_FUNCTION, handle);
    if (!f) return INVALID_HANDLE;
    if (!device.attributes[CLUSTER_LAUNCH]) return INVALID_CLUSTER_SIZE;
    if ((c->count && !c->attributes) || c->count > 64) return INVALID_VALUE;
    *launch = (struct launch){.handle = handle};
    memcpy(launch->grid, c->grid, sizeof launch->grid);
    memcpy(launch->cluster, f->attributes + REQUIRED_CLUSTER, sizeof launch->cluster);
    for (int i = 0; i < 3; i++)
        if (!c->grid[i] || !c->block[i]) return INVALID_VALUE;
    for (uint32_t i = 0; i < c->count; i++) TRY(apply(launch, &c->attributes[i]));
    return SUCCESS;
}

enum { CLUSTERED_BLOCKS = 8 }; /* the most that a multiprocessor holds, as on sm_90 */

static int64_t threads_of(const struct configuration *c) { return (int64_t)c->block[0] * c->block[1] * c->block[2]; }

EXPORTED int cuOccupancyMaxPotentialClusterSize(int *size, void *handle, const struct configuration *c) {
    GIVEN(size && c);
    CONTEXT;
    struct launch launch;
    TRY(cluster_asked(c, handle, &launch));
    const struct function *f = object_of(A_FUNCTION, handle);
    int fits = threads_of(c) <= device.attributes[MAX_THREADS_PER_BLOCK] && resident(handle, threads_of(c), c->shared_bytes);
    *size = !fits ? 0 : f->attributes[NON_PORTABLE_CLUSTER] ? LARGEST_CLUSTER : PORTABLE_CLUSTER;
    return SUCCESS;
}

EXPORTED int cuOccupancyMaxActiveClusters(int *count, void *handle, const struct configuration *c) {
    GIVEN(count && c);
    CONTEXT;
    struct launch launch;
    int error = cluster_asked(c, handle, &launch);
    const struct function *f = object_of(A_FUNCTION, handle);
    if (error && (error != INVALID_CLUSTER_SIZE || !device.attributes[CLUSTER_LAUNCH] || !f->attributes[NON_PORTABLE_CLUSTER]))
        return error;
    int64_t ctas = error ? 0 : (int64_t)launch.cluster[0] * launch.cluster[1] * launch.cluster[2];
    int64_t each = threads_of(c) <= device.attributes[MAX_THREADS_PER_BLOCK] ? resident(handle, threads_of(c), c->shared_bytes) : 0;
    if (each > CLUSTERED_BLOCKS) each = CLUSTERED_BLOCKS;
    *count = ctas ? (int)(each * device.attributes[MULTIPROCESSOR_COUNT] / ctas) : 0;
    return SUCCESS;
}
