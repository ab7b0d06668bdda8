/* The inputs and outputs of a node of values. */
#ifndef PTXLOOM_VALUE_NODES_H
#define PTXLOOM_VALUE_NODES_H

#include "graphs/nodes.h"

struct value_node {
    void *context;
    unsigned count;
    struct value *all;
    unsigned flags;
};
int value_work(const struct value_node *p, struct work *work);

int cuGraphBatchMemOpNodeGetParams(void *node, struct value_node *p);

#endif
