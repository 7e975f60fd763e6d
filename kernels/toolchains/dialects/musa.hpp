// CUDA C++ for mcc: what is called otherwise there. Written after its documentation; mcc has never read it.
//
// `__CUDA_ARCH__` stays undefined, so that kernels convert by integer arithmetic and do without matrix units.
#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include <musa_runtime.h>

#ifndef __CUDACC__
#define __CUDACC__
#endif

#define cudaStream_t musaStream_t
#define cudaError_t musaError_t
#define cudaSuccess musaSuccess
#define cudaGetLastError musaGetLastError
#define cudaGetErrorString musaGetErrorString

// A warp of these kernels is 32 lanes that follow each other, of which a warp here may have 128.
#define __shfl_sync(mask, value, source) __shfl_sync(mask, value, source, 32)
#define __shfl_xor_sync(mask, value, bits) __shfl_xor_sync(mask, value, bits, 32)
