// CUDA C++ for the GPUs of clang's target amdgcn, as far as kernels here need it: without ROCm, which has headers.
//
// A wave has 32 or 64 lanes, of which 32 that follow each other are a warp.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#define __global__ __attribute__((global))
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(threads, ...) __attribute__((amdgpu_flat_work_group_size(1, threads)))

constexpr int warpSize = 32;

struct dim3 {
    unsigned x, y, z;

    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

// Variables that are read from the device wherever they are used.
#define PORTOLAN_AXIS(axis, number)                                   \
    struct {                                                          \
        __device__ operator unsigned() const { return number(axis); } \
    } axis;
#define PORTOLAN_AXES(name, number)                                                                          \
    static const __device__ struct {                                                                         \
        PORTOLAN_AXIS(x, number) PORTOLAN_AXIS(y, number) PORTOLAN_AXIS(z, number)                            \
    } name{};
#define PORTOLAN_THREAD(axis) __builtin_amdgcn_workitem_id_##axis()
#define PORTOLAN_BLOCK(axis) __builtin_amdgcn_workgroup_id_##axis()
#define PORTOLAN_THREADS(axis) __builtin_amdgcn_workgroup_size_##axis()
#define PORTOLAN_BLOCKS(axis) __builtin_amdgcn_grid_size_##axis() / __builtin_amdgcn_workgroup_size_##axis()

PORTOLAN_AXES(threadIdx, PORTOLAN_THREAD)
PORTOLAN_AXES(blockIdx, PORTOLAN_BLOCK)
PORTOLAN_AXES(blockDim, PORTOLAN_THREADS)
PORTOLAN_AXES(gridDim, PORTOLAN_BLOCKS)

__device__ inline void __syncthreads() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// The lanes of a wave go on together; the compiler is told that they do.
__device__ inline void __syncwarp() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

[[noreturn]] __device__ inline void __trap() { __builtin_trap(); }

namespace amdgcn {

__device__ inline int lane() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }

// The value of another lane of the warp.
template <typename T>
__device__ T from_lane(T value, int source) {
    int words[(sizeof(T) + 3) / 4] = {};
    __builtin_memcpy(words, &value, sizeof value);
    const int place = 4 * ((lane() & ~(warpSize - 1)) | (source & (warpSize - 1)));
    for (int &word : words) word = __builtin_amdgcn_ds_bpermute(place, word);
    __builtin_memcpy(&value, words, sizeof value);
    return value;
}

}  // namespace amdgcn

template <typename T>
__device__ T __shfl_sync(uint32_t, T value, int source) {
    return amdgcn::from_lane(value, source);
}

template <typename T>
__device__ T __shfl_xor_sync(uint32_t, T value, int bits) {
    return amdgcn::from_lane(value, amdgcn::lane() ^ bits);
}

__device__ inline uint32_t __byte_perm(uint32_t low, uint32_t high, uint32_t chosen) {
    const uint32_t bytes = (chosen & 7) | (chosen & 0x70) << 4 | (chosen & 0x700) << 8 | (chosen & 0x7000) << 12;
    return __builtin_amdgcn_perm(high, low, bytes);
}

// ROCm's library has them; without it they are called at address 0.
extern "C" {
__attribute__((weak)) __device__ double __ocml_exp_f64(double);
__attribute__((weak)) __device__ float __ocml_tanh_f32(float);
__attribute__((weak)) __device__ double __ocml_tanh_f64(double);
}

__device__ inline float exp(float x) { return __builtin_expf(x); }
__device__ inline double exp(double x) { return __ocml_exp_f64(x); }
__device__ inline float sqrt(float x) { return __builtin_sqrtf(x); }
__device__ inline double sqrt(double x) { return __builtin_sqrt(x); }
__device__ inline float tanh(float x) { return __ocml_tanh_f32(x); }
__device__ inline double tanh(double x) { return __ocml_tanh_f64(x); }
__device__ inline void *memcpy(void *to, const void *from, size_t size) { return __builtin_memcpy(to, from, size); }

// Makes `kernel` part of what is compiled; there is nothing here that could run it.
template <typename... Parameters, typename... Arguments>
const char *launch(void (*kernel)(Parameters...), dim3, dim3, void *, Arguments...) {
    return kernel ? "kernels for amdgcn are compiled here and not launched" : nullptr;
}
