// What kernels in CUDA C++ include: `launch`, tensors as kernels get them, and reductions of a block.
//
// nvcc compiles them for a device, and clang as HIP for one that is not there; any other compiler compiles them for the
// processor, on fibers.
#pragma once

#if defined(__HIP__)
#include "amdgcn.hpp"
#elif !defined(__CUDACC__)
#include "fibers.hpp"
#endif

#include "view.hpp"

#if defined(__CUDACC__) && !defined(__HIP__)
// Launches `kernel` on a stream; returns what went wrong, or null.
template <typename... Parameters, typename... Arguments>
const char *launch(void (*kernel)(Parameters...), dim3 grid, dim3 threads, void *stream, Arguments... arguments) {
    kernel<<<grid, threads, 0, static_cast<cudaStream_t>(stream)>>>(arguments...);
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}
#endif

constexpr unsigned ALL = 0xffffffff;  // lanes of a warp

__host__ inline unsigned blocks_for(int64_t count, int64_t each) {
    return static_cast<unsigned>((count + each - 1) / each);
}

// The number of this thread among all of a grid of one axis.
__device__ inline int64_t thread_number() { return int64_t(blockIdx.x) * blockDim.x + threadIdx.x; }

struct Plus {
    template <typename W>
    __device__ W operator()(W left, W right) const {
        return wrapping_sum(left, right);
    }
};

// Drops a NaN; whoever uses it sees to it that the NaN comes by another way.
struct Larger {
    template <typename W>
    __device__ W operator()(W left, W right) const {
        return right > left ? right : left;
    }
};

// Reductions of one value a thread over a block of one axis; each thread gets the result. By a tree in shared memory:
struct Tree {
    template <int THREADS, typename W, typename Combine>
    __device__ static W reduce(W value, Combine combine) {
        __shared__ W slots[THREADS];
        slots[threadIdx.x] = value;
        __syncthreads();
        for (int half = THREADS / 2; half; half /= 2) {
            if (threadIdx.x < unsigned(half)) slots[threadIdx.x] = combine(slots[threadIdx.x], slots[threadIdx.x + half]);
            __syncthreads();
        }
        const W result = slots[0];
        __syncthreads();
        return result;
    }
};

// By shuffles within warps, and shared memory between them:
struct Shuffles {
    template <int THREADS, typename W, typename Combine>
    __device__ static W reduce(W value, Combine combine) {
        constexpr int WARPS = THREADS / 32;
        __shared__ W slots[WARPS];
        value = of_warp<32>(value, combine);
        if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = value;
        __syncthreads();
        value = of_warp<WARPS>(slots[threadIdx.x % WARPS], combine);
        __syncthreads();
        return value;
    }

    template <int LANES, typename W, typename Combine>
    __device__ static W of_warp(W value, Combine combine) {
        for (int distance = LANES / 2; distance; distance /= 2)
            value = combine(value, __shfl_xor_sync(ALL, value, distance));
        return value;
    }
};
