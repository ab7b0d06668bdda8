/* Graphs: nodes in the order in which they were added, each after some others. */
#ifndef PTXLOOM_GRAPHS_H
#define PTXLOOM_GRAPHS_H

#include "base/lists.h"
#include "memory/allocations.h"
#include "streams/recordings.h"

struct graph {
    struct recording recording; /* comes first: `recording_of` */
    unsigned id;
    unsigned made; /* nodes created so far */
    struct list nodes;
    struct list kept; /* user objects, once for each use */
    struct list conditions; /* their values */
    int is_child;     /* of a node, and destroyed with it; */
    int is_given;     /* passed by a program, not copied */
    void *cloned_from;
    void *outer; /* the graph of that node */
};

struct node {
    void *graph;
    unsigned id; /* within its graph */
    uint64_t number; /* among all nodes */
    struct list after;
    struct work work;
    void *cloned_from;
    uint64_t mark; /* used by `graph_order` */
    void **parameters; /* the kernel parameters that the node returns */
};

/* A graph as it was when instantiated; `nodes` are the graph's, for updates. */
struct executable {
    unsigned id;
    uint64_t flags;
    void *graph; /* its source */
    int allocates, is_uploaded;
    uint64_t memory_bytes; /* that it allocates */
    struct list nodes, kept, conditions;
    struct work *works;
    size_t *edges; /* the number of nodes that each node waits for */
};

enum { AUTO_FREE = 1 }; /* a flag: a launch frees memory that the last one did not free */
int graph_allocates(void *graph);                        /* or frees; then it cannot be copied, nor its nodes removed */
int executable_memory(struct executable *one);           /* counts what it allocates */
int executable_prepare(const struct executable *one);    /* for a launch; an error if its memory is in the wrong state */
void executable_reserve(struct executable *one);         /* records that the device holds its memory */

int user_objects_keep(struct list *to, const struct list *from);
void user_objects_drop(struct list *kept);

/* In the form in which programs pass them, except outputs. */
struct condition_params {
    uint64_t handle;
    int kind;
    uint32_t size;
    void **bodies; /* outputs */
    void *context;
};
int condition_make(const struct condition_params *p, struct work *work);
void **condition_bodies(void *handle);
int condition_tell(void *handle, struct condition_params *p);
int condition_legal(void *handle);
int condition_value_is(device_pointer place); /* whether this is the address of a condition's value */
void conditions_begin(const struct list *values);
int condition_values_keep(struct list *to, const struct list *from); /* graphs and their executables hold them */
void condition_values_drop(struct list *values);

/* Graphs in works, which a kind of work runs, copies and destroys. */
struct inner {
    void *const *graphs;
    uint32_t count;
};
struct nesting {
    struct inner (*inner)(const struct work *work);
    int (*copy)(void *handle, void **copy);
    void (*drop)(void *handle);
};
void nesting_is(enum work_kind kind, const struct nesting *nesting);
#define NESTS(kind, nesting) \
    __attribute__((constructor)) static void nesting_of_##kind(void) { nesting_is(kind, &(nesting)); }
struct inner graphs_in(const struct work *work); /* run by a node */
int nest(void *graph, const struct work *work);  /* makes them this graph's, if permitted */
int work_own(struct work *work);                 /* replaces them with copies of its own */
void inner_drop(const struct work *work);        /* destroys them, but not the work itself */

/* Drop a work of an executable after all launches under way, which may still need it. */
void retire(struct work *work, struct list *kept);
int works_do(void *stream, const struct work *works, size_t count); /* in order; other threads may run in between */

void *graph_new(void);
void graph_destroy(void *handle);
int graph_copy(void *handle, void **copy);
int graph_append(void *graph, const struct work *work, void *const *after, size_t count, void **node);
int graph_run(void *handle);
struct work *work_in(const void *executable, const void *node); /* the work for a node */
int graph_clone(void *handle, void **clone, struct list *of_old, struct list *of_new);
/* The nodes in a valid order; NULL if there is a cycle, or out of memory. */
void **graph_order(const struct graph *graph);

#endif
