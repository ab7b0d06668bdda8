/* Graphs: nodes in the order in which they were added, each after some others. */
#ifndef PTXLOOM_GRAPHS_H
#define PTXLOOM_GRAPHS_H

#include "base/lists.h"
#include "memory/allocations.h"
#include "streams/recordings.h"

struct graph {
    struct recording recording; /* comes first: `recording_of` */
    unsigned id;
    unsigned made; /* nodes so far */
    struct list nodes;
    struct list kept; /* user objects, once for each use */
    struct list conditions; /* their values */
    int is_child;     /* of a node, and destroyed with it; */
    int is_given;     /* as it is, by a program */
    void *cloned_from;
    void *outer; /* the graph of whose nodes it is */
};

struct node {
    void *graph;
    unsigned id; /* of those of its graph */
    uint64_t number; /* of all */
    struct list after;
    struct work work;
    void *cloned_from;
    uint64_t mark; /* of `graph_order` */
    void **parameters; /* what the kernel's node returns of its parameters */
};

/* What a graph was when it was made ready; `nodes` are those of the graph, for changes. */
struct executable {
    unsigned id;
    uint64_t flags;
    void *graph; /* that it was made of */
    int allocates, is_uploaded;
    uint64_t memory_bytes; /* that it allocates */
    struct list nodes, kept, conditions;
    struct work *works;
    size_t *edges; /* how many of them each node waits for */
};

enum { AUTO_FREE = 1 }; /* of the flags: the next launch frees what the last one allocated and did not free */
int graph_allocates(void *graph);                        /* or frees; it is not copied, nor are its nodes taken away */
int executable_memory(struct executable *one);           /* counts what it allocates */
int executable_prepare(const struct executable *one);    /* for a launch: an error if memory is not as it has to be */
void executable_reserve(struct executable *one);         /* tells the device that it has its memory */

int user_objects_keep(struct list *to, const struct list *from);
void user_objects_drop(struct list *kept);

/* As programs pass them, except outputs. */
struct condition_params {
    uint64_t handle;
    int kind;
    uint32_t size;
    void **bodies; /* what they get */
    void *context;
};
int condition_make(const struct condition_params *p, struct work *work);
void **condition_bodies(void *handle);
int condition_tell(void *handle, struct condition_params *p);
int condition_legal(void *handle);
int condition_value_is(device_pointer place); /* whether the value of a condition is there */
void conditions_begin(const struct list *values);
int condition_values_keep(struct list *to, const struct list *from); /* graphs, and what was made ready of them, hold them */
void condition_values_drop(struct list *values);

/* Graphs in works: what a kind of work runs of them, makes copies of, ends with. */
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
struct inner graphs_in(const struct work *work); /* that a node runs */
int nest(void *graph, const struct work *work);  /* they are this graph's from now on, if that may be */
int work_own(struct work *work);                 /* they become copies, which it is the only one to have */
void inner_drop(const struct work *work);        /* they end; the work itself is not dropped */

/* What a graph that is made ready has no more: it goes behind all launches that are under way, as they may still do it. */
void retire(struct work *work, struct list *kept);
int works_do(void *stream, const struct work *works, size_t count); /* in their order; other threads may come in between */

void *graph_new(void);
void graph_destroy(void *handle);
int graph_copy(void *handle, void **copy);
int graph_append(void *graph, const struct work *work, void *const *after, size_t count, void **node);
int graph_run(void *handle);
struct work *work_in(const void *executable, const void *node); /* what was made ready of a node */
int graph_clone(void *handle, void **clone, struct list *of_old, struct list *of_new);
/* The nodes, each behind all that it waits for; NULL if that cannot be or there is no memory. */
void **graph_order(const struct graph *graph);

#endif
