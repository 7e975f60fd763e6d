#include "device.hpp"

// A row is what is summed up: the last axis of `x`, wherever it lies in memory.
namespace {

constexpr int THREADS = 128;

template <typename T>
__global__ void naive(View<const T> in, T *out, int64_t rows) {
    const int64_t row = thread_number();
    if (row >= rows) return;
    const T *x = in.data + in.offset(row, in.rank - 1);
    Wide<T> total = 0;
    for (int64_t i = 0; i < in.size(1); ++i) total = wrapping_sum(total, widened(x[i * in.stride(1)]));
    out[row] = static_cast<T>(total);
}

template <typename T, typename Reduction>
__global__ void by_block(View<const T> in, T *out) {
    const T *x = in.data + in.offset(blockIdx.x, in.rank - 1);
    Wide<T> total = 0;
    for (int64_t i = threadIdx.x; i < in.size(1); i += THREADS)
        total = wrapping_sum(total, widened(x[i * in.stride(1)]));
    total = Reduction::template reduce<THREADS>(total, Plus{});
    if (threadIdx.x == 0) out[blockIdx.x] = static_cast<T>(total);
}

using Summed = Types<double, float, Float16, BFloat16, int64_t>;

}  // namespace

ENTRY(naive, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return dispatch(Summed{}, x, [&](auto type) {
        using T = decltype(type);
        return launch(naive<T>, blocks_for(out.count(), THREADS), THREADS, call.stream, View<const T>(x), out.as<T>(),
                      out.count());
    });
}

ENTRY(shared_tree, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return dispatch(Summed{}, x, [&](auto type) {
        using T = decltype(type);
        return launch(by_block<T, Tree>, out.count(), THREADS, call.stream, View<const T>(x), out.as<T>());
    });
}

ENTRY(warp_shuffles, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return dispatch(Summed{}, x, [&](auto type) {
        using T = decltype(type);
        return launch(by_block<T, Shuffles>, out.count(), THREADS, call.stream, View<const T>(x), out.as<T>());
    });
}
