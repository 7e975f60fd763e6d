// CUDA C++ for mxcc: what is called otherwise there. Written after its documentation; mxcc has never read it.
//
// `__CUDA_ARCH__` stays undefined, so that kernels convert by integer arithmetic and do without matrix units.
#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include <mc_runtime.h>

#ifndef __CUDACC__
#define __CUDACC__
#endif

#define cudaStream_t mcStream_t
#define cudaError_t mcError_t
#define cudaSuccess mcSuccess
#define cudaGetLastError mcGetLastError
#define cudaGetErrorString mcGetErrorString

// A warp of these kernels is 32 lanes that follow each other, half of a wave here, whose masks have 64 bits.
#define __shfl_sync(mask, value, source) __shfl_sync(~0ull, value, source, 32)
#define __shfl_xor_sync(mask, value, bits) __shfl_xor_sync(~0ull, value, bits, 32)
