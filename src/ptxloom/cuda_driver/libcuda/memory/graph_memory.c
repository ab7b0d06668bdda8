/* Memory of graphs: created with the node that allocates it, allocated from a launch until it is freed, always at one
   address. All work that allocates or frees it holds a reference. Without references, and not allocated, its
   address is released. */
#include "memory/graph_memory.h"

#include "base/handles.h"
#include "streams/recordings.h"

enum place_step { REST = 1, RESTORE, LEAVE };

static int place(enum place_step step, device_pointer start) {
    uint64_t wanted[2] = {(uint64_t)step, start};
    struct part part = {wanted, sizeof wanted};
    return ask(PLACE, &part, 1, NULL);
}

struct graph_memory *graph_memory_of(const void *handle) { return object_of(A_GRAPH_MEMORY, handle); }

static void *memory_at(device_pointer address) {
    size_t at = 0;
    for (void *handle; (handle = handle_next(A_GRAPH_MEMORY, &at));) {
        const struct graph_memory *one = graph_memory_of(handle);
        if (address - one->start < one->size) return handle;
    }
    return NULL;
}

int graph_memory_near(device_pointer address, uint64_t size) {
    const struct graph_memory *one = graph_memory_of(memory_at(address));
    return one && size <= one->size - (address - one->start);
}

int graph_memory_adopt(device_pointer start, void *graph, size_t access_count, void **handle) {
    const struct allocation *made = allocation_at(start);
    if (!made) return INVALID_VALUE;
    *handle = handle_new(A_GRAPH_MEMORY, sizeof(struct graph_memory) + access_count * sizeof(struct access));
    struct graph_memory *one = graph_memory_of(*handle);
    if (!one) return OUT_OF_MEMORY;
    *one = (struct graph_memory){.start = start, .size = made->size, .kind = made->kind, .graph = graph, .uses = 1};
    one->properties = (struct pool_properties){.type = PINNED, .where = {ON_DEVICE, 0}};
    one->access_count = access_count;
    allocation_drop(start);
    return place(REST, start);
}

int graph_memory_take(void *handle) {
    struct graph_memory *one = graph_memory_of(handle);
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
    const struct graph_memory *one = graph_memory_of(handle);
    if (one->uses || one->is_there) return SUCCESS;
    device_pointer start = one->start;
    handle_free(handle);
    return place(LEAVE, start);
}

int graph_memory_end(void *handle) {
    struct graph_memory *one = graph_memory_of(handle);
    if (!one) return INVALID_VALUE;
    one->is_there = 0;
    TRY(place(REST, one->start));
    return leave_if_unused(handle);
}

void graph_memory_use(void *handle, int times) {
    struct graph_memory *one = graph_memory_of(handle);
    if (!one) return;
    one->uses += times;
    leave_if_unused(handle);
}

/* Check who frees it: its own graph once, or any number of other graphs, one at a time. */
static int frees(struct graph_memory *one, const void *graph) {
    if (one->is_freed_by_own || (graph == one->graph && one->is_freed_by_others)) return INVALID_VALUE;
    if (graph == one->graph) one->is_freed_by_own = 1;
    else one->is_freed_by_others = 1;
    return SUCCESS;
}

int graph_memory_freeing(device_pointer start, const void *graph, struct work *work) {
    void *handle = memory_at(start);
    struct graph_memory *one = graph_memory_of(handle);
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
