/* Graphs: nodes in the order in which they were added, each after some others. */
#ifndef PTXLOOM_GRAPHS_H
#define PTXLOOM_GRAPHS_H

#include "driver.h"

struct list {
    void **items;
    size_t count, room;
};
int list_add(struct list *list, void *item);
int list_has(const struct list *list, const void *item);
size_t list_count(const struct list *list, const void *item);
void list_remove(struct list *list, const void *item);
void list_drop(struct list *list);

struct graph {
    struct list nodes;
    struct list kept; /* user objects, once for each use */
    int is_child;     /* of a node, and destroyed with it */
    int is_recorded, is_invalid; /* by a stream; no longer, as something was asked that does not go with it */
    int mode;
    const void *thread; /* that began to record it */
};

struct node {
    void *graph;
    struct list after;
    struct work work;
    void **parameters; /* what the kernel's node tells of its parameters */
};

/* What a graph was when it was made ready; `nodes` are those of the graph, for changes. */
struct executable {
    uint64_t flags;
    struct list nodes, kept;
    struct work *works;
    size_t *edges; /* how many of them each node waits for */
};

int user_objects_keep(struct list *to, const struct list *from);
void user_objects_drop(struct list *kept);

void graph_destroy(void *handle);
int graph_clone(void *handle, void **clone, struct list *of_old, struct list *of_new);
/* The nodes, each behind all that it waits for; NULL if that cannot be or there is no memory. */
void **graph_order(const struct graph *graph);

#endif
