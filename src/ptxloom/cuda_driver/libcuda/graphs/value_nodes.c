/* Nodes that write values and wait for them. */
#include <stdlib.h>

#include "base/handles.h"
#include "graphs/value_nodes.h"
#include "memory/values.h"

enum { MOST_IN_A_NODE = 255 };

int value_work(const struct value_node *p, struct work *work) {
    if (!p || p->flags || p->count > MOST_IN_A_NODE || (p->count && !p->all)) return INVALID_VALUE;
    if (!object_of(A_CONTEXT, p->context)) return INVALID_VALUE;
    for (unsigned i = 0; i < p->count; i++) TRY(value_known(&p->all[i])); /* addresses are checked when it runs */
    const struct work given = {.kind = VALUE_WORK, .values = {p->context, p->all, p->count}};
    return work_copy(work, &given);
}

EXPORTED int cuGraphAddBatchMemOpNode(void **node, void *graph, void *const *after, size_t count, const struct value_node *p) {
    GIVEN(node && graph && p);
    CONTEXT;
    struct work work;
    TRY(value_work(p, &work));
    return node_add(node, graph, after, count, &work);
}

EXPORTED int cuGraphBatchMemOpNodeGetParams(void *node, struct value_node *p) {
    GIVEN(node && p);
    DRIVER;
    const struct work *work = work_of_node(node);
    if (!work || work->kind != VALUE_WORK) return INVALID_VALUE;
    *p = (struct value_node){work->values.context, work->values.count, work->values.all, 0};
    return SUCCESS;
}

EXPORTED int cuGraphBatchMemOpNodeSetParams(void *node, const struct value_node *p) {
    GIVEN(node && p);
    CONTEXT;
    struct work work;
    TRY(value_work(p, &work));
    return node_set(work_of_node(node), &work, VALUE_WORK);
}

EXPORTED int cuGraphExecBatchMemOpNodeSetParams(void *exec, void *node, const struct value_node *p) {
    GIVEN(exec && node && p);
    CONTEXT;
    struct work work, *place = work_in(exec, node);
    if (!place || place->kind != VALUE_WORK || place->values.count != p->count) return INVALID_VALUE;
    TRY(value_work(p, &work));
    return node_set(place, &work, VALUE_WORK);
}
