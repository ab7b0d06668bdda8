/* Memory that graphs allocate and free in launches. */
#include "base/handles.h"
#include "graphs/graphs.h"
#include "memory/graph_memory.h"
#include "memory/memory.h"

enum { UNIT = 32 << 20 }; /* the granularity of a device's memory for graphs */

static uint64_t reserved, used_high, reserved_high;

static uint64_t in_units(uint64_t size) { return (size + UNIT - 1) / UNIT * UNIT; }

static int graph_memory_free(void *handle) {
    const struct graph_memory *one = graph_memory_of(handle);
    return one && one->is_there ? memory_free(one->start, 1 << one->kind) : INVALID_VALUE;
}

static int take(const struct work *work) { return graph_memory_take(work->handle); }
static int give_back(const struct work *work) { return graph_memory_free(work->handle); }

static int used(struct work *copy) {
    graph_memory_use(copy->handle, 1);
    return SUCCESS;
}

static void unused(struct work *work) { graph_memory_use(work->handle, -1); }

static const struct way takes = {take, used, unused}, gives_back = {give_back, used, unused};
WORK(ALLOCATE_WORK, takes)
WORK(FREE_WORK, gives_back)

/* -- memory of an instantiated graph ------------------------------------------------------------- */

static int collect(const struct work *work, struct list *allocated, struct list *freed) {
    const struct graph *child = work->kind == GRAPH_WORK ? object_of(A_GRAPH, work->handle) : NULL;
    if (work->kind == ALLOCATE_WORK) return list_add(allocated, work->handle);
    if (work->kind == FREE_WORK) return list_add(freed, work->handle);
    for (size_t i = 0; child && i < child->nodes.count; i++) {
        const struct node *node = object_of(A_NODE, child->nodes.items[i]);
        TRY(collect(&node->work, allocated, freed));
    }
    return SUCCESS;
}

int graph_allocates(void *handle) {
    struct list found = {0};
    const struct work work = {.kind = GRAPH_WORK, .handle = handle};
    int allocates = collect(&work, &found, &found) || found.count;
    list_drop(&found);
    return allocates;
}

static int collect_all(const struct executable *one, struct list *allocated, struct list *freed) {
    for (size_t i = 0; i < one->nodes.count; i++) TRY(collect(&one->works[i], allocated, freed));
    return SUCCESS;
}

int executable_memory(struct executable *one) {
    struct list allocated = {0}, freed = {0};
    int error = collect_all(one, &allocated, &freed);
    one->memory_bytes = 0;
    one->allocates = allocated.count || freed.count;
    for (size_t i = 0; i < allocated.count; i++) one->memory_bytes += graph_memory_of(allocated.items[i])->size;
    list_drop(&allocated);
    list_drop(&freed);
    return error;
}

/* Whether nothing to allocate is allocated yet, and everything to free is, or will be. */
static int may_launch(const struct list *allocated, const struct list *freed, int frees_first) {
    for (size_t i = 0; i < allocated->count; i++)
        if (graph_memory_of(allocated->items[i])->is_there && !frees_first) return INVALID_VALUE;
    for (size_t i = 0; i < freed->count; i++)
        if (!graph_memory_of(freed->items[i])->is_there && !list_has(allocated, freed->items[i])) return INVALID_VALUE;
    return SUCCESS;
}

int executable_prepare(const struct executable *one) {
    struct list allocated = {0}, freed = {0};
    if (!one->allocates) return SUCCESS;
    int error = collect_all(one, &allocated, &freed);
    if (!error) error = may_launch(&allocated, &freed, one->flags & AUTO_FREE);
    for (size_t i = 0; !error && i < allocated.count; i++)
        if (graph_memory_of(allocated.items[i])->is_there) error = graph_memory_free(allocated.items[i]);
    list_drop(&allocated);
    list_drop(&freed);
    return error;
}

void executable_reserve(struct executable *which) {
    uint64_t together = 0;
    size_t place = 0;
    which->is_uploaded = 1;
    if (!which->allocates) return;
    for (void *handle; (handle = handle_next(AN_EXECUTABLE, &place));) {
        const struct executable *one = object_of(AN_EXECUTABLE, handle);
        if (one->is_uploaded) together += in_units(one->memory_bytes);
    }
    if (together > reserved) reserved = together;
    if (reserved > reserved_high) reserved_high = reserved;
    if (reserved > used_high) used_high = reserved;
}

/* -- the device's statistics ---------------------------------------------------------------------------------------- */

enum { USED, USED_HIGH, RESERVED, RESERVED_HIGH };

EXPORTED int cuDeviceGetGraphMemAttribute(int which, int attribute, uint64_t *value) {
    DRIVER;
    const uint64_t values[] = {reserved, used_high, reserved, reserved_high};
    if (!value || attribute < USED || attribute > RESERVED_HIGH) return INVALID_VALUE;
    if (!is_device(which)) return INVALID_DEVICE;
    *value = values[attribute];
    return SUCCESS;
}

EXPORTED int cuDeviceSetGraphMemAttribute(int which, int attribute, const uint64_t *value) {
    DRIVER;
    if (!value || (attribute != USED_HIGH && attribute != RESERVED_HIGH)) return INVALID_VALUE;
    if (!is_device(which)) return INVALID_DEVICE;
    if (*value) return INVALID_VALUE;
    if (attribute == USED_HIGH) used_high = reserved;
    else reserved_high = reserved;
    return SUCCESS;
}

EXPORTED int cuDeviceGraphMemTrim(int which) {
    DRIVER;
    uint64_t there = 0;
    size_t at = 0;
    if (!is_device(which)) return INVALID_DEVICE;
    for (void *handle; (handle = handle_next(A_GRAPH_MEMORY, &at));)
        if (graph_memory_of(handle)->is_there) there += graph_memory_of(handle)->size;
    reserved = in_units(there);
    return SUCCESS;
}
