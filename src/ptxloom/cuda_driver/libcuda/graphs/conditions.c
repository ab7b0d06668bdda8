/* Nodes of graphs that decide: a value in the device's memory, and the graphs that are run, or not, or again.

   The handle of a condition is where its value lies, so that `cudaGraphSetConditional` is a store. */
#include <string.h>

#include "graphs/graphs.h"

enum { IF = 0, WHILE = 1, SWITCH = 2 };
enum { ASSIGNS_DEFAULT = 1, MOST_BODIES = 1 << 10 };

struct condition_value {
    device_pointer place;
    uint32_t first; /* before each launch, */
    int assigned;   /* if so wanted */
    unsigned uses;
};

struct condition {
    device_pointer place;
    int kind;
    uint32_t size;
    void *bodies[]; /* graphs */
};

EXPORTED int cuGraphConditionalHandleCreate(uint64_t *handle, void *graph_handle, void *context, unsigned first, unsigned flags) {
    GIVEN(handle && graph_handle);
    DRIVER;
    struct graph *graph = object_of(A_GRAPH, graph_handle);
    if (!graph || flags > ASSIGNS_DEFAULT) return INVALID_VALUE;
    if (!context && !current_context()) return INVALID_CONTEXT;
    if (!context || !object_of(A_CONTEXT, context)) return INVALID_CONTEXT;
    device_pointer place;
    TRY(memory_new(sizeof first, VARIABLE_MEMORY, 0, &place)); /* which no program frees */
    memory_written(place, sizeof first);
    void *made = handle_new(A_CONDITION_VALUE, sizeof(struct condition_value));
    struct condition_value *value = object_of(A_CONDITION_VALUE, made);
    if (!value) return OUT_OF_MEMORY;
    *value = (struct condition_value){place, first, (int)flags, 1};
    *handle = place;
    return list_add(&graph->conditions, made);
}

int condition_values_keep(struct list *to, const struct list *from) {
    for (size_t i = 0; i < from->count; i++) {
        struct condition_value *one = object_of(A_CONDITION_VALUE, from->items[i]);
        TRY(list_add(to, from->items[i]));
        if (one) one->uses++;
    }
    return SUCCESS;
}

void condition_values_drop(struct list *values) {
    for (size_t i = 0; i < values->count; i++) {
        struct condition_value *one = object_of(A_CONDITION_VALUE, values->items[i]);
        if (!one || --one->uses) continue;
        memory_free(one->place, 1 << VARIABLE_MEMORY);
        handle_free(values->items[i]);
    }
    list_drop(values);
}

/* Every value as it is at the beginning of a launch. */
void conditions_begin(const struct list *values) {
    for (size_t i = 0; i < values->count; i++) {
        struct condition_value *one = object_of(A_CONDITION_VALUE, values->items[i]);
        if (one && one->assigned) memcpy((void *)(uintptr_t)one->place, &one->first, sizeof one->first);
    }
}

static int is_condition(device_pointer place) {
    size_t at = 0;
    for (void *handle; (handle = handle_next(A_CONDITION_VALUE, &at));)
        if (((struct condition_value *)object_of(A_CONDITION_VALUE, handle))->place == place) return 1;
    return 0;
}

static int condition_new(device_pointer place, int kind, uint32_t size, void **made) {
    *made = handle_new(A_CONDITION, sizeof(struct condition) + size * sizeof(void *));
    struct condition *one = object_of(A_CONDITION, *made);
    if (!one) return OUT_OF_MEMORY;
    *one = (struct condition){place, kind, size};
    return SUCCESS;
}

int condition_make(const struct condition_params *p, struct work *work) {
    uint32_t most = p->kind == IF ? 2 : p->kind == WHILE ? 1 : MOST_BODIES;
    if (p->kind < IF || p->kind > SWITCH || p->size == 0 || p->size > most || !is_condition(p->handle)) return INVALID_VALUE;
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

void condition_drop(void *handle) {
    struct condition *one = object_of(A_CONDITION, handle);
    if (!one) return;
    for (uint32_t i = 0; i < one->size; i++) graph_destroy(one->bodies[i]);
    handle_free(handle);
}

int condition_copy(void *handle, void **copy) {
    struct condition *one = object_of(A_CONDITION, handle);
    if (!one) return INVALID_VALUE;
    TRY(condition_new(one->place, one->kind, one->size, copy));
    struct condition *made = object_of(A_CONDITION, *copy);
    int error = SUCCESS;
    for (uint32_t i = 0; i < one->size && !error; i++) error = graph_copy(one->bodies[i], &made->bodies[i]);
    return error;
}

/* What has to be done by the device alone. */
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

int condition_run(void *handle) {
    struct condition *one = object_of(A_CONDITION, handle);
    if (!one) return INVALID_HANDLE;
    uint32_t value = value_of(one);
    if (one->kind == SWITCH) return value < one->size ? graph_run(one->bodies[value]) : SUCCESS;
    if (one->kind == IF) return value ? graph_run(one->bodies[0]) : one->size > 1 ? graph_run(one->bodies[1]) : SUCCESS;
    while (value_of(one)) {
        TRY(graph_run(one->bodies[0]));
        if (failed) return SUCCESS; /* the next call tells of it */
    }
    return SUCCESS;
}
