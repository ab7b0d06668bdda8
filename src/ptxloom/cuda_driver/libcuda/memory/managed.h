/* Managed memory: advice and prefetching, which change nothing. */
#ifndef PTXLOOM_MANAGED_H
#define PTXLOOM_MANAGED_H

#include "memory/allocations.h"

int is_managed(device_pointer start, uint64_t size);
int prefetch(device_pointer start, uint64_t size, struct location where);

#endif
