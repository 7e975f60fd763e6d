// What clang needs of a vendor's runtime to read CUDA C++ for the host: declarations, under the prefix of that vendor.
#pragma once

#include <cstddef>
#include <cstdint>

#define __global__ __attribute__((global))
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

struct dim3 {
    unsigned x, y, z;
    __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

extern const __device__ struct Place {
    unsigned x, y, z;
} threadIdx, blockIdx, blockDim, gridDim;

// What clang makes of `<<<>>>` in HIP.
typedef struct Queue *hipStream_t;
enum hipError_t { hipSuccess };
extern "C" unsigned __hipPushCallConfiguration(dim3, dim3, size_t, hipStream_t);
extern "C" hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, size_t, hipStream_t);

#define PORTOLAN_RUNTIME(prefix)                      \
    using prefix##Stream_t = hipStream_t;             \
    using prefix##Error_t = hipError_t;               \
    constexpr hipError_t prefix##Success = hipSuccess; \
    prefix##Error_t prefix##GetLastError();           \
    const char *prefix##GetErrorString(prefix##Error_t);

#define PORTOLAN_SHUFFLES(mask)                                      \
    template <typename T>                                            \
    __device__ T __shfl_sync(mask, T value, int source, int lanes);  \
    template <typename T>                                            \
    __device__ T __shfl_xor_sync(mask, T value, int bits, int lanes); \
    __device__ void __syncwarp(mask = (mask)-1);

__device__ void __syncthreads();
__device__ void __trap();
__device__ uint32_t __byte_perm(uint32_t, uint32_t, uint32_t);
__device__ float exp(float), sqrt(float), tanh(float), fmax(float, float), fabs(float);
__device__ double exp(double), sqrt(double), tanh(double), fmax(double, double), fabs(double);
__device__ void *memcpy(void *, const void *, size_t);
