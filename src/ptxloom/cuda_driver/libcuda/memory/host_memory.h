/* Memory of the host that kernels see. */
#ifndef PTXLOOM_HOST_MEMORY_H
#define PTXLOOM_HOST_MEMORY_H

#include "memory/allocations.h"

void host_memory_in(void); /* synchronise registered memory before a launch, and after it */
void host_memory_out(void);
int host_memory_known(device_pointer address, struct allocation *told); /* whether it is registered */
device_pointer host_memory_device(device_pointer address);

#endif
