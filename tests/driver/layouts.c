/* Our structures beside NVIDIA's: what is compiled is right. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stddef.h>

#define dim3 our_dim3 /* the only name that both have */
#include "layouts.h"
#undef dim3

#define SAME(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), #ours " is as large as " #theirs)
#define AT(ours, member, theirs, their_member) \
    _Static_assert(offsetof(struct ours, member) == offsetof(theirs, their_member), #ours "." #member)

SAME(our_dim3, dim3);
SAME(extent, struct cudaExtent);
AT(extent, depth, struct cudaExtent, depth);
SAME(position, struct cudaPos);
AT(position, z, struct cudaPos, z);
SAME(pitched_pointer, struct cudaPitchedPtr);
AT(pitched_pointer, pitch, struct cudaPitchedPtr, pitch);
AT(pitched_pointer, ysize, struct cudaPitchedPtr, ysize);
SAME(channel_format, struct cudaChannelFormatDesc);
AT(channel_format, kind, struct cudaChannelFormatDesc, f);

SAME(copy, CUDA_MEMCPY3D);
AT(copy, source.level, CUDA_MEMCPY3D, srcLOD);
AT(copy, source.memory, CUDA_MEMCPY3D, srcMemoryType);
AT(copy, source.host, CUDA_MEMCPY3D, srcHost);
AT(copy, source.device, CUDA_MEMCPY3D, srcDevice);
AT(copy, source.array, CUDA_MEMCPY3D, srcArray);
AT(copy, source.pitch_bytes, CUDA_MEMCPY3D, srcPitch);
AT(copy, source.height, CUDA_MEMCPY3D, srcHeight);
AT(copy, destination.x_bytes, CUDA_MEMCPY3D, dstXInBytes);
AT(copy, destination.memory, CUDA_MEMCPY3D, dstMemoryType);
AT(copy, destination.array, CUDA_MEMCPY3D, dstArray);
AT(copy, destination.height, CUDA_MEMCPY3D, dstHeight);
AT(copy, width_bytes, CUDA_MEMCPY3D, WidthInBytes);
AT(copy, depth, CUDA_MEMCPY3D, Depth);

SAME(copy_3d, struct cudaMemcpy3DParms);
AT(copy_3d, source_position, struct cudaMemcpy3DParms, srcPos);
AT(copy_3d, source, struct cudaMemcpy3DParms, srcPtr);
AT(copy_3d, destination_array, struct cudaMemcpy3DParms, dstArray);
AT(copy_3d, destination, struct cudaMemcpy3DParms, dstPtr);
AT(copy_3d, extent, struct cudaMemcpy3DParms, extent);
AT(copy_3d, kind, struct cudaMemcpy3DParms, kind);

SAME(launch_config, cudaLaunchConfig_t);
AT(launch_config, shared_bytes, cudaLaunchConfig_t, dynamicSmemBytes);
AT(launch_config, stream, cudaLaunchConfig_t, stream);
AT(launch_config, attributes, cudaLaunchConfig_t, attrs);
AT(launch_config, attribute_count, cudaLaunchConfig_t, numAttrs);
SAME(driver_config, CUlaunchConfig);
AT(driver_config, block, CUlaunchConfig, blockDimX);
AT(driver_config, shared_bytes, CUlaunchConfig, sharedMemBytes);
AT(driver_config, stream, CUlaunchConfig, hStream);
AT(driver_config, attribute_count, CUlaunchConfig, numAttrs);
_Static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute), "attributes of launches are the same");

SAME(function_attributes, struct cudaFuncAttributes);
AT(function_attributes, of_function[0], struct cudaFuncAttributes, maxThreadsPerBlock);
AT(function_attributes, of_function[1], struct cudaFuncAttributes, numRegs);
AT(function_attributes, of_function[5], struct cudaFuncAttributes, maxDynamicSharedSizeBytes);
AT(function_attributes, of_function[7], struct cudaFuncAttributes, clusterDimMustBeSet);
AT(function_attributes, of_function[11], struct cudaFuncAttributes, clusterSchedulingPolicyPreference);
AT(function_attributes, of_function[12], struct cudaFuncAttributes, nonPortableClusterSizeAllowed);
AT(function_attributes, reserved, struct cudaFuncAttributes, reserved);
SAME(pointer_attributes, struct cudaPointerAttributes);
AT(pointer_attributes, host_pointer, struct cudaPointerAttributes, hostPointer);

SAME(array_description, CUDA_ARRAY3D_DESCRIPTOR);
AT(array_description, format, CUDA_ARRAY3D_DESCRIPTOR, Format);
AT(array_description, flags, CUDA_ARRAY3D_DESCRIPTOR, Flags);
SAME(resource, struct cudaResourceDesc);
AT(resource, in.array, struct cudaResourceDesc, res.array.array);
AT(resource, in.memory.format, struct cudaResourceDesc, res.linear.desc);
AT(resource, in.memory.bytes_or_width, struct cudaResourceDesc, res.linear.sizeInBytes);
AT(resource, in.memory.bytes_or_width, struct cudaResourceDesc, res.pitch2D.width);
AT(resource, in.memory.pitch_bytes, struct cudaResourceDesc, res.pitch2D.pitchInBytes);
AT(resource, flags, struct cudaResourceDesc, flags);
SAME(driver_resource, CUDA_RESOURCE_DESC);
AT(driver_resource, in.memory.channels, CUDA_RESOURCE_DESC, res.linear.numChannels);
AT(driver_resource, in.memory.bytes_or_width, CUDA_RESOURCE_DESC, res.linear.sizeInBytes);
AT(driver_resource, in.memory.pitch_bytes, CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes);
AT(driver_resource, flags, CUDA_RESOURCE_DESC, flags);
SAME(texture, struct cudaTextureDesc);
AT(texture, read_as_normalised, struct cudaTextureDesc, readMode);
AT(texture, border, struct cudaTextureDesc, borderColor);
AT(texture, normalised_coordinates, struct cudaTextureDesc, normalizedCoords);
AT(texture, max_level, struct cudaTextureDesc, maxMipmapLevelClamp);
AT(texture, seamless_cubemap, struct cudaTextureDesc, seamlessCubemap);
SAME(driver_texture, CUDA_TEXTURE_DESC);
AT(driver_texture, flags, CUDA_TEXTURE_DESC, flags);
AT(driver_texture, mipmap_filter, CUDA_TEXTURE_DESC, mipmapFilterMode);
AT(driver_texture, border, CUDA_TEXTURE_DESC, borderColor);

SAME(kernel_node, struct cudaKernelNodeParams);
AT(kernel_node, shared_bytes, struct cudaKernelNodeParams, sharedMemBytes);
AT(kernel_node, arguments, struct cudaKernelNodeParams, kernelParams);
SAME(driver_kernel_node, CUDA_KERNEL_NODE_PARAMS);
AT(driver_kernel_node, arguments, CUDA_KERNEL_NODE_PARAMS, kernelParams);
AT(driver_kernel_node, kernel, CUDA_KERNEL_NODE_PARAMS, kern);

SAME(any_node, struct cudaGraphNodeParams);
AT(any_node, in.kernel.kernel.shared_bytes, struct cudaGraphNodeParams, kernel.sharedMemBytes);
AT(any_node, in.kernel.context, struct cudaGraphNodeParams, kernel.ctx);
AT(any_node, in.kernel.function_type, struct cudaGraphNodeParams, kernel.functionType);
AT(any_node, in.copy.context, struct cudaGraphNodeParams, memcpy.ctx);
AT(any_node, in.copy.copy, struct cudaGraphNodeParams, memcpy.copyParams);
AT(any_node, unused, struct cudaGraphNodeParams, reserved2);
SAME(driver_any_node, CUgraphNodeParams);
AT(driver_any_node, in.kernel.kernel, CUgraphNodeParams, kernel.kern);
AT(driver_any_node, in.copy.context, CUgraphNodeParams, memcpy.copyCtx);
AT(driver_any_node, in.copy.copy, CUgraphNodeParams, memcpy.copyParams);
AT(driver_any_node, unused, CUgraphNodeParams, reserved2);
SAME(copy_between, struct cudaMemcpy3DPeerParms);
AT(copy_between, source_device, struct cudaMemcpy3DPeerParms, srcDevice);
AT(copy_between, destination_array, struct cudaMemcpy3DPeerParms, dstArray);
AT(copy_between, destination_device, struct cudaMemcpy3DPeerParms, dstDevice);
AT(copy_between, extent, struct cudaMemcpy3DPeerParms, extent);

/* What is passed on as it came. */
#define ALIKE(theirs, drivers) _Static_assert(sizeof(theirs) == sizeof(drivers), #theirs " is as large as " #drivers)
#define ALIKE_AT(theirs, member, drivers, their_member) \
    _Static_assert(offsetof(theirs, member) == offsetof(drivers, their_member), #theirs "." #member)
ALIKE(cudaDevResource, CUdevResource);
ALIKE_AT(cudaDevResource, sm.smCount, CUdevResource, sm.smCount);
ALIKE_AT(cudaDevResource, nextResource, CUdevResource, nextResource);
ALIKE(cudaDevSmResourceGroupParams, CU_DEV_SM_RESOURCE_GROUP_PARAMS);
ALIKE_AT(cudaDevSmResourceGroupParams, flags, CU_DEV_SM_RESOURCE_GROUP_PARAMS, flags);
ALIKE(struct cudaMemcpyAttributes, CUmemcpyAttributes);
ALIKE_AT(struct cudaMemcpyAttributes, flags, CUmemcpyAttributes, flags);
ALIKE(struct cudaMemcpy3DBatchOp, CUDA_MEMCPY3D_BATCH_OP);
ALIKE_AT(struct cudaMemcpy3DBatchOp, extent, CUDA_MEMCPY3D_BATCH_OP, extent);
ALIKE(struct cudaMemPoolPtrExportData, CUmemPoolPtrExportData);
ALIKE_AT(struct cudaGraphNodeParams, conditional.phGraph_out, CUgraphNodeParams, conditional.phGraph_out);
ALIKE_AT(struct cudaGraphNodeParams, alloc.dptr, CUgraphNodeParams, alloc.dptr);
ALIKE_AT(struct cudaGraphNodeParams, host.ctx, CUgraphNodeParams, host.ctx);
ALIKE_AT(struct cudaGraphNodeParams, memset.ctx, CUgraphNodeParams, memset.ctx);
ALIKE_AT(struct cudaGraphNodeParams, graph.ownership, CUgraphNodeParams, graph.ownership);
ALIKE_AT(struct cudaGraphNodeParams, eventWait.event, CUgraphNodeParams, eventWait.event);
ALIKE_AT(struct cudaGraphNodeParams, eventRecord.event, CUgraphNodeParams, eventRecord.event);
_Static_assert(sizeof(struct cudaMemsetParams) == sizeof(CUDA_MEMSET_NODE_PARAMS), "nodes that fill");
_Static_assert(offsetof(struct cudaMemsetParams, height) == offsetof(CUDA_MEMSET_NODE_PARAMS, height), "nodes that fill");
_Static_assert(sizeof(struct cudaHostNodeParams) <= sizeof(CUDA_HOST_NODE_PARAMS), "nodes of the host");
_Static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps), "pools");
_Static_assert(sizeof(struct cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS), "nodes that allocate");
_Static_assert(sizeof(struct cudaResourceViewDesc) == sizeof(CUDA_RESOURCE_VIEW_DESC), "views");
_Static_assert(sizeof(struct cudaMemLocation) == 8 && sizeof(CUmemLocation) == 8, "locations travel in a register");
