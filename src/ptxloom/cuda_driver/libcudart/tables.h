/* Tables generated from names.txt: errors by number, and the offsets of device properties. */
#ifndef PTXLOOM_TABLES_H
#define PTXLOOM_TABLES_H

#include "runtime.h"

struct property {
    size_t offset;
    int bytes;     /* 4 or 8 */
    int attribute; /* of the device, as cuDeviceGetAttribute numbers them */
};

extern const struct property properties[];
extern const int property_count;
extern const size_t properties_bytes; /* of cudaDeviceProp */
extern const size_t uuid_offset;
extern const size_t memory_offset; /* totalGlobalMem */
extern const int runtime_version;

#endif
