/* What streams and graphs are made of: launches, copies, fills, host functions; how each is done. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

static int do_launch(const struct launch *launch) {
    uint64_t head[16] = {
        launch->function, launch->grid[0],    launch->grid[1],    launch->grid[2],      launch->block[0], launch->block[1],
        launch->block[2], launch->cluster[0], launch->cluster[1], launch->cluster[2], launch->shared_bytes, launch->flags,
        context_limit(STACK_LIMIT), context_limit(PRINTF_LIMIT), context_limit(HEAP_LIMIT), context_limit(PENDING_LAUNCHES)};
    struct part parts[] = {{head, sizeof head}, {launch->parameters, launch->size}};
    struct answer answer;
    host_memory_in();
    int error = ask(LAUNCH, parts, 2, &answer);
    if (error == DEVICE_UNAVAILABLE) return error;
    host_memory_out();
    return launch_ended(error, &answer);
}

static unsigned char *row(device_pointer base, uint64_t pitch, uint64_t slice, uint64_t y, uint64_t z) {
    return (unsigned char *)(uintptr_t)(base + z * slice + y * pitch);
}

static void move_row(unsigned char *to, const unsigned char *from, uint64_t width) {
    device_pointer into = (device_pointer)(uintptr_t)to, out_of = (device_pointer)(uintptr_t)from;
    memmove(to, from, width);
    if (!device.marks || into - device.start >= device.size) return;
    if (out_of - device.start < device.size) memmove(to - device.start + device.marks, from - device.start + device.marks, width);
    else memory_written(into, width);
}

static int do_copy(const struct copy *c) {
    if (c->width == 0 || c->height == 0 || c->depth == 0) return SUCCESS;
    for (uint64_t z = 0; z < c->depth; z++)
        for (uint64_t y = 0; y < c->height; y++)
            move_row(row(c->to, c->to_pitch, c->to_slice, y, z), row(c->from, c->from_pitch, c->from_slice, y, z), c->width);
    return SUCCESS;
}

static int do_fill(const struct fill *f) {
    if (f->width == 0) return SUCCESS; /* at no address, it may be */
    for (uint64_t y = 0; y < f->height; y++) {
        unsigned char *to = row(f->to, f->pitch, 0, y, 0);
        if (f->element_bytes == 1) memset(to, (int)f->value, f->width);
        else
            for (uint64_t x = 0; x < f->width; x++) memcpy(to + x * f->element_bytes, &f->value, f->element_bytes);
        memory_written(f->to + y * f->pitch, f->width * f->element_bytes);
    }
    return SUCCESS;
}

/* Other threads may ask the driver meanwhile. */
static int do_host(void (*function)(void *), void *argument) {
    int times = lock_release();
    calling_host++;
    function(argument);
    calling_host--;
    lock_take(times);
    return SUCCESS;
}

int work_do(const struct work *work) {
    if (work->is_off) return SUCCESS;
    switch (work->kind) {
    case NOTHING:
    case WAIT_WORK: return SUCCESS;
    case ALLOCATE_WORK: return graph_memory_take(work->handle);
    case FREE_WORK: return graph_memory_free(work->handle);
    case KERNEL_WORK: return do_launch(&work->launch);
    case COPY_WORK: return do_copy(&work->copy);
    case FILL_WORK: return do_fill(&work->fill);
    case HOST_WORK: return do_host(work->host.function, work->host.argument);
    case CONDITION_WORK: return condition_run(work->handle);
    case VALUE_WORK: return values_do(&work->values);
    case RECORD_WORK: return event_record(work->handle);
    case GRAPH_WORK: return graph_run(work->handle);
    }
    return INVALID_VALUE;
}

static void *copied(const void *data, size_t size) {
    void *made = malloc(size ? size : 1);
    return made && size ? memcpy(made, data, size) : made;
}

static int uses_memory(const struct work *work) { return work->kind == ALLOCATE_WORK || work->kind == FREE_WORK; }

int work_copy(struct work *to, const struct work *from) {
    *to = *from;
    if (uses_memory(from)) graph_memory_use(from->handle, 1);
    if (from->kind == VALUE_WORK) {
        to->values.all = copied(from->values.all, from->values.count * sizeof *from->values.all);
        return to->values.all ? SUCCESS : OUT_OF_MEMORY;
    }
    if (from->kind != KERNEL_WORK) return SUCCESS;
    to->launch.parameters = copied(from->launch.parameters, from->launch.size);
    return to->launch.parameters ? SUCCESS : OUT_OF_MEMORY;
}

void work_drop(struct work *work) {
    if (uses_memory(work)) graph_memory_use(work->handle, -1);
    if (work->kind == KERNEL_WORK) free(work->launch.parameters);
    if (work->kind == VALUE_WORK) free(work->values.all);
    work->kind = NOTHING;
}
