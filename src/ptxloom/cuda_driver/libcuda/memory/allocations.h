/* The table of all allocations, in order of addresses. */
#ifndef PTXLOOM_ALLOCATED_H
#define PTXLOOM_ALLOCATED_H

#include "base/connection.h"

enum memory_kind { DEVICE_MEMORY, HOST_MEMORY, MANAGED_MEMORY, VARIABLE_MEMORY, POOL_MEMORY, FOREIGN_MEMORY, MAPPED_MEMORY, ARRAY_MEMORY };
struct allocation {
    device_pointer start;
    uint64_t size;
    enum memory_kind kind;
    uint32_t flags;
    uint64_t id;
    void *context, *pool, *graph_memory;
    uint64_t owner; /* a module, for its variables */
    enum { NOT_TOLD, MAY_OVERLAP, WAIT } copies; /* as set by a program: all wait here */
    unsigned opened; /* how often beyond the first time */
};
enum { NOWHERE, ON_DEVICE, ON_HOST, ON_HOST_NODE, ON_HOST_NODE_NEAR };
struct location {
    int type, id;
};

struct allocation *allocation_at(device_pointer address);
int allocation_add(device_pointer start, uint64_t size, enum memory_kind kind, uint64_t owner);
void allocation_remove(struct allocation *one);
void allocation_drop(device_pointer start); /* removes it, if there is one */
void allocations_remove_of(uint64_t owner);
uint64_t allocation_id(void); /* a unique number */
uint64_t memory_used(void);

#endif
