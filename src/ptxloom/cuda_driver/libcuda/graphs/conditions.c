/* Conditional nodes: a value in device memory, and the graphs that it selects or repeats. The
   handle of a condition is the address of its value, so that `cudaGraphSetConditional` is a store. */
#include <string.h>

#include "base/handles.h"
#include "graphs/graphs.h"
#include "memory/memory.h"

enum { IF = 0, WHILE = 1, SWITCH = 2 };
enum { MOST_BODIES = 1 << 10 };

struct condition {
    device_pointer place;
    int kind;
    uint32_t size;
    void *bodies[]; /* graphs */
};

static int condition_new(device_pointer place, int kind, uint32_t size, void **made) {
    *made = handle_new(A_CONDITION, sizeof(struct condition) + size * sizeof(void *));
    struct condition *one = object_of(A_CONDITION, *made);
    if (!one) return OUT_OF_MEMORY;
    *one = (struct condition){place, kind, size};
    return SUCCESS;
}

int condition_make(const struct condition_params *p, struct work *work) {
    uint32_t most = p->kind == IF ? 2 : p->kind == WHILE ? 1 : MOST_BODIES;
    if (p->kind < IF || p->kind > SWITCH || p->size == 0 || p->size > most || !condition_value_is(p->handle)) return INVALID_VALUE;
    *work = (struct work){.kind = CONDITION_WORK};
    TRY(condition_new(p->handle, p->kind, p->size, &work->handle));
    struct condition *one = object_of(A_CONDITION, work->handle);
    for (uint32_t i = 0; i < p->size; i++) {
        one->bodies[i] = graph_new();
        if (!one->bodies[i]) return OUT_OF_MEMORY;
    }
    return SUCCESS;
}

void **condition_bodies(void *handle) { return ((struct condition *)object_of(A_CONDITION, handle))->bodies; }

int condition_tell(void *handle, struct condition_params *p) {
    struct condition *one = object_of(A_CONDITION, handle);
    if (!one) return INVALID_VALUE;
    *p = (struct condition_params){one->place, one->kind, one->size, one->bodies, current_context()};
    return SUCCESS;
}

static void condition_drop(void *handle) {
    struct condition *one = object_of(A_CONDITION, handle);
    if (!one) return;
    for (uint32_t i = 0; i < one->size; i++) graph_destroy(one->bodies[i]);
    handle_free(handle);
}

static int condition_copy(void *handle, void **copy) {
    struct condition *one = object_of(A_CONDITION, handle);
    if (!one) return INVALID_VALUE;
    TRY(condition_new(one->place, one->kind, one->size, copy));
    struct condition *made = object_of(A_CONDITION, *copy);
    int error = SUCCESS;
    for (uint32_t i = 0; i < one->size && !error; i++) error = graph_copy(one->bodies[i], &made->bodies[i]);
    return error;
}

/* The work in a body must be the device's alone. */
static int body_legal(void *handle) {
    const struct graph *graph = object_of(A_GRAPH, handle);
    for (size_t i = 0; graph && i < graph->nodes.count; i++) {
        struct node *node = object_of(A_NODE, graph->nodes.items[i]);
        switch (node->work.kind) {
        case NOTHING:
        case KERNEL_WORK:
        case COPY_WORK:
        case FILL_WORK: break;
        case GRAPH_WORK: TRY(body_legal(node->work.handle)); break;
        case CONDITION_WORK: TRY(condition_legal(node->work.handle)); break;
        default: return INVALID_VALUE;
        }
    }
    return SUCCESS;
}

int condition_legal(void *handle) {
    struct condition *one = object_of(A_CONDITION, handle);
    for (uint32_t i = 0; one && i < one->size; i++) TRY(body_legal(one->bodies[i]));
    return SUCCESS;
}

static uint32_t value_of(const struct condition *one) {
    uint32_t value = 0;
    if (reachable(one->place, sizeof value)) memcpy(&value, (void *)(uintptr_t)one->place, sizeof value);
    return value;
}

static int run(const struct work *work) {
    const struct condition *one = object_of(A_CONDITION, work->handle);
    if (!one) return INVALID_HANDLE;
    uint32_t value = value_of(one);
    if (one->kind == SWITCH) return value < one->size ? graph_run(one->bodies[value]) : SUCCESS;
    if (one->kind == IF) return value ? graph_run(one->bodies[0]) : one->size > 1 ? graph_run(one->bodies[1]) : SUCCESS;
    while (value_of(one)) {
        TRY(graph_run(one->bodies[0]));
        if (failed) return SUCCESS; /* the next call returns it */
    }
    return SUCCESS;
}

static const struct way runs = {.run = run};
WORK(CONDITION_WORK, runs)

static struct inner bodies(const struct work *work) {
    const struct condition *one = object_of(A_CONDITION, work->handle);
    return one ? (struct inner){one->bodies, one->size} : (struct inner){0};
}
static const struct nesting nests = {bodies, condition_copy, condition_drop};
NESTS(CONDITION_WORK, nests)
