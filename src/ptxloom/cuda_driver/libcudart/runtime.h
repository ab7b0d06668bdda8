/* The CUDA runtime over the public functions of a driver: shared values, and the checks that start every function.

   Handles of the runtime are those of the driver (streams, events, graphs, arrays, kernels), and so are the numbers of
   errors, attributes, limits and flags. Structures with another layout are declared here, field by field; a test compares
   sizes and offsets with NVIDIA's headers where they are installed. */
#ifndef PTXLOOM_RUNTIME_H
#define PTXLOOM_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#include "../libcuda/names.h"
#include "layouts.h"

typedef uintptr_t word; /* an argument that is forwarded unchanged */

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    MEMORY_ALLOCATION = 2,
    INVALID_CONFIGURATION = 9,
    INVALID_SYMBOL = 13,
    INVALID_MEMCPY_DIRECTION = 21,
    INVALID_DEVICE_FUNCTION = 98,
    INVALID_DEVICE = 101,
    NOT_SUPPORTED = 801,
    UNKNOWN = 999,
};

/* errors.c */
int told(int error); /* records an error for cudaGetLastError; returns it */

/* context.c */
int ready(void); /* the calling thread has a context: the one that it made current, or its device's primary one */
int current_device(int *device);
int primary_of(int device, handle *context); /* the runtime retains it once */
int reset(void (*first)(void));              /* resets the current device, if it was used; calls `first` before */

#define START()                            \
    do {                                   \
        int failed_ = ready();             \
        if (failed_) return told(failed_); \
    } while (0)

/* code.c */
int kernel_of(const void *function, handle *kernel);
const void *function_of(handle kernel); /* the host address of a kernel, or its handle if it has none */
int variable_of(const void *symbol, char **address, size_t *bytes);
int part_of(const void *symbol, size_t offset, size_t bytes, char **address);

/* arrays.c */
int element_bytes(handle array, size_t *bytes);
int row_bytes(handle array, size_t *bytes);

/* copies.c */
enum { HOST = 1, DEVICE = 2, ARRAY = 3, UNIFIED = 4 };
int copy_of(const struct copy_3d *asked, struct copy *copy);
int copy_told(const struct copy *copy, struct copy_3d *to); /* in the runtime's terms */
int linear_copy(void *to, const void *from, size_t bytes, int kind, struct copy *copy);

/* graphs.c */
int kernel_node_of(const struct kernel_node *from, struct driver_kernel_node *to);
struct kernel_node kernel_node_told(const struct driver_kernel_node *from);

#endif
