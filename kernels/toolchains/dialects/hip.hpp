// CUDA C++ for hipcc: what is called otherwise there. Written after its documentation; hipcc has never read it.
//
// `__CUDA_ARCH__` stays undefined, so that kernels convert by integer arithmetic and do without matrix units.
#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include <hip/hip_runtime.h>

#ifndef __CUDACC__
#define __CUDACC__
#endif
#undef __HIP__  // by which device.hpp knows clang without ROCm

#define cudaStream_t hipStream_t
#define cudaError_t hipError_t
#define cudaSuccess hipSuccess
#define cudaGetLastError hipGetLastError
#define cudaGetErrorString hipGetErrorString

// A warp of these kernels is 32 lanes that follow each other, of which a wave may have 64.
#define __shfl_sync(mask, value, source) __shfl(value, source, 32)
#define __shfl_xor_sync(mask, value, bits) __shfl_xor(value, bits, 32)

// Its lanes go on together, of which the compiler has to be told; HIP has a name for it since ROCm 7 alone.
#define __syncwarp()                                      \
    (__builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront"), \
     __builtin_amdgcn_wave_barrier(),                       \
     __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront"))
