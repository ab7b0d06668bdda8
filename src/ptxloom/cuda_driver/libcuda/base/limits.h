/* The call depth of a context's kernels, and how much they may print and allocate. */
#ifndef PTXLOOM_LIMITS_H
#define PTXLOOM_LIMITS_H

#include <stdint.h>

enum {
    STACK_LIMIT,
    PRINTF_LIMIT,
    HEAP_LIMIT,
    SYNC_DEPTH,
    PENDING_LAUNCHES,
    FETCH_GRANULARITY,
    PERSISTING_L2,
    SHARED_MEMORY,
    GRAPHICS,
    GRAPHICS_DRAWS,
    LIMITS
};
uint64_t context_limit(int which);

#endif
