#include "device.hpp"

namespace {

constexpr int THREADS = 64;

// The last thread adds up what the others have stored, and nobody waits for anybody.
template <typename T>
__global__ void barrier_missing(View<const T> in, T *out) {
    __shared__ Wide<T> slots[THREADS];
    const T *x = in.data + in.offset(blockIdx.x, in.rank - 1);
    Wide<T> total = 0;
    for (int64_t i = threadIdx.x; i < in.size(1); i += THREADS) total += widened(x[i * in.stride(1)]);
    slots[threadIdx.x] = total;
    if (threadIdx.x < THREADS - 1) return;
    total = 0;
    for (int i = 0; i < THREADS; ++i) total += slots[i];
    out[blockIdx.x] = static_cast<T>(total);
}

// Each half of the block waits at a barrier of its own.
template <typename T>
__global__ void barrier_divergent(View<const T> in, T *out) {
    __shared__ Wide<T> slots[THREADS];
    const T *x = in.data + in.offset(blockIdx.x, in.rank - 1);
    Wide<T> total = 0;
    for (int64_t i = threadIdx.x; i < in.size(1); i += THREADS) total += widened(x[i * in.stride(1)]);
    slots[threadIdx.x] = total;
    if (threadIdx.x < THREADS / 2) {
        __syncthreads();
    } else {
        __syncthreads();
        return;
    }
    if (threadIdx.x) return;
    total = 0;
    for (int i = 0; i < THREADS; ++i) total += slots[i];
    out[blockIdx.x] = static_cast<T>(total);
}

// Half of a warp takes part in a shuffle that names all of it.
template <typename T>
__global__ void lanes_missing(View<const T> in, T *out) {
    const T *x = in.data + in.offset(blockIdx.x, in.rank - 1);
    Wide<T> total = 0;
    for (int64_t i = threadIdx.x; i < in.size(1); i += THREADS) total += widened(x[i * in.stride(1)]);
    if (threadIdx.x % 32 < 16) total += __shfl_xor_sync(ALL, total, 16);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = static_cast<T>(total);
}

template <typename T>
using Kernel = void (*)(View<const T>, T *);

template <typename T>
const char *launch_rows(const Call &call, Kernel<T> kernel) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return launch(kernel, out.count(), THREADS, call.stream, View<const T>(x), out.as<T>());
}

}  // namespace

ENTRY(barrier_missing, call) { return launch_rows<float>(call, barrier_missing<float>); }

ENTRY(barrier_divergent, call) { return launch_rows<float>(call, barrier_divergent<float>); }

ENTRY(lanes_missing, call) { return launch_rows<float>(call, lanes_missing<float>); }
