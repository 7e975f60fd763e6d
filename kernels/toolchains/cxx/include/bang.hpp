// What kernels in BANG C include: `launch`, and tensors as kernels get them.
//
// cncc compiles them for a card; with BANG_SHIM any other compiler compiles them for the processor. What stands here for
// cncc has been written by the names in Cambricon's documentation, and no cncc has seen it yet.
#pragma once

#ifdef BANG_SHIM
#include "bang_shim.hpp"
#else
#include <bang.h>
#include <cnrt.h>

#define __host__ __mlu_host__
#define __device__ __mlu_device__
#endif

#include "view.hpp"

#ifndef BANG_SHIM
template <>
constexpr DType dtype_of<half> = DType::float16;
template <>
constexpr DType dtype_of<bfloat16_t> = DType::bfloat16;

// Launches `kernel` on all cores of all clusters; returns what went wrong, or null.
template <typename... Parameters, typename... Arguments>
const char *launch(void (*kernel)(Parameters...), void *queue, Arguments... arguments) {
    int device = 0, clusters = 1, cores = 4;
    cnrtGetDevice(&device);
    cnrtDeviceGetAttribute(&clusters, cnrtAttrClusterCount, device);
    cnrtDeviceGetAttribute(&cores, cnrtAttrMcorePerCluster, device);
    const cnrtDim3_t tasks = {static_cast<unsigned>(cores), static_cast<unsigned>(clusters), 1};
    kernel<<<tasks, cnrtFuncTypeUnion1, static_cast<cnrtQueue_t>(queue)>>>(arguments...);
    const cnrtRet_t error = cnrtGetLastError();
    return error == cnrtSuccess ? nullptr : cnrtGetErrorStr(error);
}
#endif

using Elements = Types<float, half, bfloat16_t>;

// Vectors are of whole lots of so many elements: 128 bytes of the narrowest type.
constexpr int LOT = 64;

__device__ inline int padded(int64_t count) { return static_cast<int>((count + LOT - 1) / LOT * LOT); }

// Copies `count` elements, `stride` apart in GDRAM, to NRAM. What is repeated is read once, and then doubled.
template <typename T>
__device__ void load(T *to, const T *from, int64_t count, int64_t stride) {
    if (stride == 1 || count == 1) {
        __memcpy(to, from, count * sizeof(T), GDRAM2NRAM);
    } else if (stride) {
        __memcpy(to, from, sizeof(T), GDRAM2NRAM, sizeof(T), stride * sizeof(T), count - 1);
    } else {
        __memcpy(to, from, sizeof(T), GDRAM2NRAM);
        for (int64_t done = 1; done < count; done *= 2)
            __memcpy(to + done, to, (count < 2 * done ? count - done : done) * sizeof(T), NRAM2NRAM);
    }
}

// Copies `count` elements from NRAM to GDRAM, `stride` apart there.
template <typename T>
__device__ void store(T *to, const T *from, int64_t count, int64_t stride) {
    if (stride == 1 || count == 1) {
        __memcpy(to, from, count * sizeof(T), NRAM2GDRAM);
    } else {
        __memcpy(to, from, sizeof(T), NRAM2GDRAM, stride * sizeof(T), sizeof(T), count - 1);
    }
}

__device__ inline void widen(float *to, const half *from, int count) { __bang_half2float(to, from, count); }
__device__ inline void widen(float *to, const bfloat16_t *from, int count) { __bang_bfloat162float(to, from, count); }
__device__ inline void narrow(half *to, const float *from, int count) { __bang_float2half_rn(to, from, count); }
__device__ inline void narrow(bfloat16_t *to, const float *from, int count) {
    __bang_float2bfloat16_rn(to, from, count);
}
__device__ inline void widen(float *to, const float *from, int count) {
    __memcpy(to, from, count * sizeof(float), NRAM2NRAM);
}
__device__ inline void narrow(float *to, const float *from, int count) { widen(to, from, count); }
