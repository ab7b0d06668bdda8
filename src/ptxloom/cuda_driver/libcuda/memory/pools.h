/* The settings of pools, and of nodes that allocate. */
#ifndef PTXLOOM_POOLS_H
#define PTXLOOM_POOLS_H

#include "memory/allocations.h"

enum { PINNED = 1, MANAGED };

struct pool_properties {
    int type, handles;
    struct location where;
    void *security;
    size_t limit;
    unsigned short usage;
    unsigned char reserved[54];
};

struct access {
    struct location where;
    int flags;
};

enum { POOL_TO_FILE = 1 };
struct pool {
    enum memory_kind kind;
    int32_t reuse[3];
    uint64_t threshold, used, high, limit;
    int handles; /* the kinds of handles by which it is shared */
    int is_opened; /* through such a handle: its owner, and its handle there */
    int32_t session;
    uint64_t there;
};
void *pool_new(enum memory_kind kind, uint64_t limit);
struct pool *own_pool(const void *handle); /* NULL for a pool that another process owns */
void pool_gets_back(const void *handle, size_t size);

#endif
