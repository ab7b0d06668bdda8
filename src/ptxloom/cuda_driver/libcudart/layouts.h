/* Structures of the runtime and of the driver, member by member, under names of our own.

   tests/driver/layouts.c compares sizes and offsets with NVIDIA's headers where they are installed. */
#ifndef PTXLOOM_LAYOUTS_H
#define PTXLOOM_LAYOUTS_H

#include <stddef.h>
#include <stdint.h>

typedef struct handle *handle;

struct dim3 {
    unsigned x, y, z;
};
struct extent {
    size_t width, height, depth;
};
struct position {
    size_t x, y, z;
};
struct pitched_pointer {
    char *pointer;
    size_t pitch, xsize, ysize;
};
struct channel_format {
    int bits[4];
    int kind;
};

struct copy_end {
    size_t x_bytes, y, z, level;
    int memory;
    const void *host;
    const char *device;
    handle array;
    void *reserved;
    size_t pitch_bytes, height;
};
struct copy { /* CUDA_MEMCPY3D */
    struct copy_end source, destination;
    size_t width_bytes, height, depth;
};
struct copy_3d { /* cudaMemcpy3DParms */
    handle source_array;
    struct position source_position;
    struct pitched_pointer source;
    handle destination_array;
    struct position destination_position;
    struct pitched_pointer destination;
    struct extent extent;
    int kind;
};

struct launch_config { /* cudaLaunchConfig_t */
    struct dim3 grid, block;
    size_t shared_bytes;
    handle stream;
    void *attributes;
    unsigned attribute_count;
};

struct driver_config { /* CUlaunchConfig */
    struct dim3 grid, block;
    unsigned shared_bytes;
    handle stream;
    void *attributes;
    unsigned attribute_count;
};

struct function_attributes { /* cudaFuncAttributes */
    size_t shared_bytes, const_bytes, local_bytes;
    int of_function[15]; /* maxThreadsPerBlock and what follows it */
    int reserved[14];
};

struct pointer_attributes { /* cudaPointerAttributes */
    int type, device;
    char *device_pointer, *host_pointer;
    long reserved[8];
};

struct array_description { /* CUDA_ARRAY3D_DESCRIPTOR */
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
};

struct resource { /* cudaResourceDesc */
    int type;
    union {
        handle array;
        struct {
            char *address;
            struct channel_format format;
            size_t bytes_or_width, height, pitch_bytes;
        } memory;
        int reserved[32];
    } in;
    unsigned flags;
};

struct driver_resource { /* CUDA_RESOURCE_DESC */
    int type;
    union {
        handle array;
        struct {
            char *address;
            int format;
            unsigned channels;
            size_t bytes_or_width, height, pitch_bytes;
        } memory;
        int reserved[32];
    } in;
    unsigned flags;
};

struct texture { /* cudaTextureDesc */
    int address_modes[3], filter, read_as_normalised, srgb;
    float border[4];
    int normalised_coordinates;
    unsigned max_anisotropy;
    int mipmap_filter;
    float mipmap_bias, min_level, max_level;
    int no_trilinear_optimisation, seamless_cubemap;
};

struct driver_texture { /* CUDA_TEXTURE_DESC */
    int address_modes[3], filter;
    unsigned flags, max_anisotropy;
    int mipmap_filter;
    float mipmap_bias, min_level, max_level, border[4];
    int reserved[12];
};

struct kernel_node { /* cudaKernelNodeParams */
    const void *function;
    struct dim3 grid, block;
    unsigned shared_bytes;
    void **arguments, **extra;
};

struct driver_kernel_node { /* CUDA_KERNEL_NODE_PARAMS_v2 */
    handle function;
    struct dim3 grid, block;
    unsigned shared_bytes;
    void **arguments, **extra;
    handle kernel, context;
};

struct any_node { /* cudaGraphNodeParams; kinds not named here have the driver's layout */
    int type, reserved[3];
    union {
        uint64_t room[29];
        struct {
            struct kernel_node kernel;
            handle context;
            int function_type;
        } kernel;
        struct {
            int flags, reserved;
            handle context;
            struct copy_3d copy;
        } copy;
    } in;
    uint64_t unused;
};

struct driver_any_node { /* CUgraphNodeParams */
    int type, reserved[3];
    union {
        uint64_t room[29];
        struct driver_kernel_node kernel;
        struct {
            int flags, reserved;
            handle context;
            struct copy copy;
        } copy;
    } in;
    uint64_t unused;
};

struct copy_between { /* cudaMemcpy3DPeerParms */
    handle source_array;
    struct position source_position;
    struct pitched_pointer source;
    int source_device;
    handle destination_array;
    struct position destination_position;
    struct pitched_pointer destination;
    int destination_device;
    struct extent extent;
};

#endif
