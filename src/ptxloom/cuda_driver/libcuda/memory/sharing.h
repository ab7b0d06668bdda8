/* Memory of other processes. */
#ifndef PTXLOOM_SHARING_H
#define PTXLOOM_SHARING_H

#include "base/errors.h"

int memory_open(int32_t session, device_pointer start);

#endif
