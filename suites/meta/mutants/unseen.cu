#include "device.hpp"

namespace {

constexpr int THREADS = 64;

// Looks at the next thread's slot, which the last thread has not got.
__global__ void looking(View<const float> in, float *out, int64_t count) {
    __shared__ float slots[THREADS];
    const int64_t i = blockIdx.x * int64_t(THREADS) + threadIdx.x;
    const float x = i < count ? in.data[in.offset(i, in.rank)] : 0;
    slots[threadIdx.x] = x;
    __syncthreads();
    static_cast<void>(static_cast<volatile float *>(slots)[threadIdx.x + 1]);
    if (i < count) out[i] = x <= 0 ? 0 : x;
}

}  // namespace

ENTRY(breaks_shared, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    const int64_t blocks = (out.count() + THREADS - 1) / THREADS;
    return launch(looking, blocks, THREADS, call.stream, View<const float>(x), out.as<float>(), out.count());
}
