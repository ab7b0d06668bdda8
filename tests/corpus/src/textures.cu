// Texture and surface objects in every dimension, and the older named references.
#include <cuda_runtime.h>
#include <surface_indirect_functions.h>
#include <texture_indirect_functions.h>

extern "C" __global__ void fetch(cudaTextureObject_t t, float4 *out, float x, float y, float z) {
    int i = threadIdx.x;
    out[i] = tex1D<float4>(t, x);
    out[i + 32] = tex2D<float4>(t, x, y);
    out[i + 64] = tex3D<float4>(t, x, y, z);
    out[i + 96] = tex1Dfetch<float4>(t, i);
    out[i + 128] = tex1DLayered<float4>(t, x, i);
    out[i + 160] = tex2DLayered<float4>(t, x, y, i);
    out[i + 192] = texCubemap<float4>(t, x, y, z);
    out[i + 224] = texCubemapLayered<float4>(t, x, y, z, i);
    out[i + 256] = tex2Dgather<float4>(t, x, y, 2);
    out[i + 288] = tex1DLod<float4>(t, x, z);
    out[i + 320] = tex2DLod<float4>(t, x, y, z);
    out[i + 352] = tex3DLod<float4>(t, x, y, z, 1.0f);
    out[i + 384] = tex1DGrad<float4>(t, x, y, z);
    out[i + 416] = tex2DGrad<float4>(t, x, y, make_float2(x, y), make_float2(y, z));
    out[i + 448] = tex3DGrad<float4>(t, x, y, z, make_float4(x, y, z, 0), make_float4(y, z, x, 0));
    int4 whole = tex2D<int4>(t, x, y);
    uint4 bits = tex1Dfetch<uint4>(t, whole.x);
    out[i + 480] = make_float4(bits.x, bits.y, whole.z, whole.w);
}

extern "C" __global__ void surfaces(cudaSurfaceObject_t s, int x, int y, int z, float4 *out) {
    out[0] = surf1Dread<float4>(s, x * 16);
    out[1] = surf2Dread<float4>(s, x * 16, y, cudaBoundaryModeClamp);
    out[2] = surf3Dread<float4>(s, x * 16, y, z, cudaBoundaryModeZero);
    uchar4 bytes = surf2Dread<uchar4>(s, x * 4, y);
    surf1Dwrite(make_short2(x, y), s, x * 4);
    surf2Dwrite(bytes, s, x * 4, y + 1, cudaBoundaryModeTrap);
    surf3Dwrite(1.5f, s, x * 4, y, z);
    surf1DLayeredwrite(x, s, x * 4, z);
    surf2DLayeredwrite(make_int4(x, y, z, 0), s, x * 16, y, z);
    surfCubemapwrite(make_uint2(x, y), s, x * 8, y, 3);
}

extern "C" __global__ void queries(cudaTextureObject_t t, cudaSurfaceObject_t s, unsigned *out) {
    asm volatile("txq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(t));
    asm volatile("txq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(t));
    asm volatile("txq.num_mipmap_levels.b32 %0, [%1];" : "=r"(out[2]) : "l"(t));
    asm volatile("suq.width.b32 %0, [%1];" : "=r"(out[3]) : "l"(s));
    asm volatile("suq.channel_order.b32 %0, [%1];" : "=r"(out[4]) : "l"(s));
    asm volatile("sured.b.2d.add.u32.trap [%0, {%1, %2}], %3;" ::"l"(s), "r"(out[5]), "r"(out[6]), "r"(out[7]) : "memory");
    asm volatile("sured.p.1d.min.b32.zero [%0, {%1}], %2;" ::"l"(s), "r"(out[5]), "r"(out[6]) : "memory");
    asm volatile("{\n.reg .pred p;\nistypep.texref p, %1;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(out[8]) : "l"(t));
}
