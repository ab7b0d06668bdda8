/* Memory: allocated and freed, and whether it may be accessed. */
#ifndef PTXLOOM_MEMORY_H
#define PTXLOOM_MEMORY_H

#include "memory/allocations.h"

int memory_new(uint64_t size, enum memory_kind kind, uint32_t flags, device_pointer *start);
int memory_free(device_pointer start, int kinds); /* memory of a pool is POOL_MEMORY, wherever it is */
int in_device(device_pointer address);            /* this process's, or shared by another one */
enum when { NOW, LATER }; /* later: in a graph, whose launches may allocate memory */
int reachable(device_pointer address, uint64_t size); /* whether these bytes may be copied now, */
int reachable_when(device_pointer address, uint64_t size, enum when when);
void memory_written(device_pointer address, uint64_t size);

#endif
