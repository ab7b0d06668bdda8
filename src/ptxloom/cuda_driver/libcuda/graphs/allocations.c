/* Memory of graphs: made with the node that allocates it, there from a launch on until it is freed, always at one place.

   Every work that allocates or frees it uses it. When there is none any more, and it is not there, its place is given up. */
#include <string.h>

#include "graphs/allocations.h"

enum place_step { REST = 1, RESTORE, LEAVE };
enum { UNIT = 32 << 20 }; /* in which a device says that it has set memory aside for graphs */

static uint64_t reserved, used_high, reserved_high;

static uint64_t in_units(uint64_t size) { return (size + UNIT - 1) / UNIT * UNIT; }

static int place(enum place_step step, device_pointer start) {
    uint64_t wanted[2] = {(uint64_t)step, start};
    struct part part = {wanted, sizeof wanted};
    return ask(PLACE, &part, 1, NULL);
}

static struct graph_memory *memory_of(const void *handle) { return object_of(A_GRAPH_MEMORY, handle); }

static void *memory_at(device_pointer address) {
    size_t at = 0;
    for (void *handle; (handle = handle_next(A_GRAPH_MEMORY, &at));) {
        const struct graph_memory *one = memory_of(handle);
        if (address - one->start < one->size) return handle;
    }
    return NULL;
}

int graph_memory_near(device_pointer address, uint64_t size) {
    const struct graph_memory *one = memory_of(memory_at(address));
    return one && size <= one->size - (address - one->start);
}

int graph_memory_adopt(device_pointer start, void *graph, size_t access_count, void **handle) {
    const struct allocation *made = allocation_at(start);
    if (!made) return INVALID_VALUE;
    *handle = handle_new(A_GRAPH_MEMORY, sizeof(struct graph_memory) + access_count * sizeof(struct access));
    struct graph_memory *one = memory_of(*handle);
    if (!one) return OUT_OF_MEMORY;
    *one = (struct graph_memory){.start = start, .size = made->size, .kind = made->kind, .graph = graph, .uses = 1};
    one->properties = (struct pool_properties){.type = PINNED, .where = {ON_DEVICE, 0}};
    one->access_count = access_count;
    allocation_drop(start);
    return place(REST, start);
}

int graph_memory_take(void *handle) {
    struct graph_memory *one = memory_of(handle);
    if (!one || one->is_there) return INVALID_VALUE;
    TRY(place(RESTORE, one->start));
    TRY(allocation_add(one->start, one->size, one->kind, 0));
    struct allocation *there = allocation_at(one->start);
    there->graph_memory = handle;
    there->context = NULL;
    one->is_there = 1;
    return SUCCESS;
}

static int leave_if_unused(void *handle) {
    const struct graph_memory *one = memory_of(handle);
    if (one->uses || one->is_there) return SUCCESS;
    device_pointer start = one->start;
    handle_free(handle);
    return place(LEAVE, start);
}

int graph_memory_end(void *handle) {
    struct graph_memory *one = memory_of(handle);
    if (!one) return INVALID_VALUE;
    one->is_there = 0;
    TRY(place(REST, one->start));
    return leave_if_unused(handle);
}

void graph_memory_use(void *handle, int times) {
    struct graph_memory *one = memory_of(handle);
    if (!one) return;
    one->uses += times;
    leave_if_unused(handle);
}

int graph_memory_free(void *handle) {
    const struct graph_memory *one = memory_of(handle);
    return one && one->is_there ? memory_free(one->start, 1 << one->kind) : INVALID_VALUE;
}

/* Who frees it: once its own graph, or any number of others, of which one at a time does. */
static int frees(struct graph_memory *one, const void *graph) {
    if (one->is_freed_by_own || (graph == one->graph && one->is_freed_by_others)) return INVALID_VALUE;
    if (graph == one->graph) one->is_freed_by_own = 1;
    else one->is_freed_by_others = 1;
    return SUCCESS;
}

int graph_memory_freeing(device_pointer start, const void *graph, struct work *work) {
    void *handle = memory_at(start);
    struct graph_memory *one = memory_of(handle);
    if (!one || one->start != start) return INVALID_VALUE;
    TRY(frees(one, graph));
    one->uses++;
    *work = (struct work){.kind = FREE_WORK, .handle = handle};
    return SUCCESS;
}

/* -- recorded streams -------------------------------------------------------------------------------------------------- */

static int submit(void *stream, struct work *work) {
    int error = work_submit(stream, work);
    work_drop(work);
    return error;
}

int graph_memory_record(void *handle, device_pointer start) {
    struct stream *stream;
    struct work work = {.kind = ALLOCATE_WORK};
    TRY(stream_of(handle, &stream));
    TRY(graph_memory_adopt(start, stream->capture, 0, &work.handle));
    return submit(handle, &work);
}

int graph_memory_record_free(void *handle, device_pointer start) {
    struct stream *stream;
    struct work work;
    TRY(stream_of(handle, &stream));
    TRY(graph_memory_freeing(start, stream->capture, &work));
    return submit(handle, &work);
}

/* -- what a graph that was made ready allocates and frees ------------------------------------------------------------- */

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
    for (size_t i = 0; i < allocated.count; i++) one->memory_bytes += memory_of(allocated.items[i])->size;
    list_drop(&allocated);
    list_drop(&freed);
    return error;
}

/* Whether all that is to be allocated is not there, and all that is to be freed is, or will be. */
static int may_launch(const struct list *allocated, const struct list *freed, int frees_first) {
    for (size_t i = 0; i < allocated->count; i++)
        if (memory_of(allocated->items[i])->is_there && !frees_first) return INVALID_VALUE;
    for (size_t i = 0; i < freed->count; i++)
        if (!memory_of(freed->items[i])->is_there && !list_has(allocated, freed->items[i])) return INVALID_VALUE;
    return SUCCESS;
}

int executable_prepare(const struct executable *one) {
    struct list allocated = {0}, freed = {0};
    if (!one->allocates) return SUCCESS;
    int error = collect_all(one, &allocated, &freed);
    if (!error) error = may_launch(&allocated, &freed, one->flags & AUTO_FREE);
    for (size_t i = 0; !error && i < allocated.count; i++)
        if (memory_of(allocated.items[i])->is_there) error = graph_memory_free(allocated.items[i]);
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

/* -- what the device tells of it ---------------------------------------------------------------------------------------- */

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
        if (memory_of(handle)->is_there) there += memory_of(handle)->size;
    reserved = in_units(there);
    return SUCCESS;
}
