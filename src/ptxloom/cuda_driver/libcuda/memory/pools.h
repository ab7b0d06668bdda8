/* What pools, and nodes that allocate, are told. */
#ifndef PTXLOOM_POOLS_H
#define PTXLOOM_POOLS_H

#include "driver.h"

enum { NOWHERE, ON_DEVICE, ON_HOST, ON_HOST_NODE, ON_HOST_NODE_NEAR };
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

#endif
