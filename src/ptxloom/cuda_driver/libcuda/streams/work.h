/* Work that is done at once or recorded in a graph: launches, copies, fills, host functions. */
#ifndef PTXLOOM_WORK_H
#define PTXLOOM_WORK_H

#include "base/errors.h"

enum work_kind {
    NOTHING,
    KERNEL_WORK,
    COPY_WORK,
    FILL_WORK,
    HOST_WORK,
    RECORD_WORK,
    WAIT_WORK,
    GRAPH_WORK,
    FREE_WORK,
    ALLOCATE_WORK,
    VALUE_WORK,
    CONDITION_WORK,
    WORK_KINDS
};

/* Attributes of a launch that a node of a graph keeps, without effect here. */
struct hints {
    struct {
        void *start;
        size_t size;
        float ratio;
        int hit, miss;
    } window; /* of memory to keep in caches */
    int cooperative, policy, priority, domain, carveout;
    unsigned char domains[2];
};

struct launch {
    uint64_t function; /* the server's number */
    void *handle;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t shared_bytes, flags;
    uint32_t size;
    unsigned char *parameters;
    struct hints hints;
};

struct fill {
    device_pointer to;
    uint64_t pitch, width, height; /* width in elements */
    uint32_t value, element_bytes;
};

/* In the form in which programs pass them. */
struct copy2d {
    size_t from_x, from_y;
    int from_type;
    const void *from_host;
    device_pointer from;
    void *from_array;
    size_t from_pitch, to_x, to_y;
    int to_type;
    void *to_host;
    device_pointer to;
    void *to_array;
    size_t to_pitch, width, height;
};

struct copy3d {
    size_t from_x, from_y, from_z, from_level;
    int from_type;
    const void *from_host;
    device_pointer from;
    void *from_array, *reserved0;
    size_t from_pitch, from_height, to_x, to_y, to_z, to_level;
    int to_type;
    void *to_host;
    device_pointer to;
    void *to_array, *reserved1;
    size_t to_pitch, to_height, width, height, depth;
};
struct copy {
    device_pointer to, from;
    uint64_t to_pitch, to_slice, from_pitch, from_slice;
    uint64_t width, height, depth;
    struct copy3d given; /* the parameters of a node of a graph; empty if it was made from another call */
};

/* Values to write or wait for, in the form in which programs pass them. */
struct value {
    int kind;
    device_pointer address; /* of a barrier, its flags */
    uint64_t value;
    unsigned flags;
    device_pointer alias;
    uint64_t unused;
};
struct values {
    void *context;
    struct value *all;
    unsigned count;
};

struct work {
    enum work_kind kind;
    int is_off; /* in an instantiated graph */
    union {
        struct launch launch;
        struct copy copy;
        struct fill fill;
        struct {
            void (*function)(void *);
            void *argument;
        } host;
        struct values values;
        void *handle; /* of an event, a graph, memory of graphs */
    };
};

/* How a kind of work is done. Resources that it owns are copied and dropped with it; NULL if it owns none. */
struct way {
    int (*run)(const struct work *work);
    int (*copied)(struct work *copy); /* makes a copy own its resources */
    void (*dropped)(struct work *work);
};
void work_way(enum work_kind kind, const struct way *way);
/* WORK(kind, way): the file of this kind of work registers its function, before anything is called. */
#define WORK(kind, way) \
    __attribute__((constructor)) static void way_of_##kind(void) { work_way(kind, &(way)); }

int work_do(const struct work *work);
int work_submit(void *stream, const struct work *work); /* done at once, or recorded if the stream is captured */
int work_copy(struct work *to, const struct work *from);
void work_drop(struct work *work);

#endif
