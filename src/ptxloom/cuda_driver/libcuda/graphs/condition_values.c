/* The values of conditions, in device memory. */
#include <string.h>

#include "base/handles.h"
#include "graphs/graphs.h"
#include "memory/memory.h"

enum { ASSIGNS_DEFAULT = 1 };

struct condition_value {
    device_pointer place;
    uint32_t first; /* assigned before each launch, */
    int assigned;   /* if this is set */
    unsigned uses;
};

EXPORTED int cuGraphConditionalHandleCreate(uint64_t *handle, void *graph_handle, void *context, unsigned first, unsigned flags) {
    GIVEN(handle && graph_handle);
    DRIVER;
    struct graph *graph = object_of(A_GRAPH, graph_handle);
    if (!graph || flags > ASSIGNS_DEFAULT) return INVALID_VALUE;
    if (!context && !current_context()) return INVALID_CONTEXT;
    if (!context || !object_of(A_CONTEXT, context)) return INVALID_CONTEXT;
    device_pointer place;
    TRY(memory_new(sizeof first, VARIABLE_MEMORY, 0, &place)); /* programs cannot free it */
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

/* Assign every value for the start of a launch. */
void conditions_begin(const struct list *values) {
    for (size_t i = 0; i < values->count; i++) {
        struct condition_value *one = object_of(A_CONDITION_VALUE, values->items[i]);
        if (one && one->assigned) memcpy((void *)(uintptr_t)one->place, &one->first, sizeof one->first);
    }
}

int condition_value_is(device_pointer place) {
    size_t at = 0;
    for (void *handle; (handle = handle_next(A_CONDITION_VALUE, &at));)
        if (((struct condition_value *)object_of(A_CONDITION_VALUE, handle))->place == place) return 1;
    return 0;
}
