#include "device.hpp"

// A block goes along one row: everything along the last axis, wherever that lies in memory. A row that holds a NaN or
// +inf, or nothing but -inf, has a sum of exponentials that is NaN; so all of it becomes NaN.
namespace {

constexpr int THREADS = 128;

template <typename T, typename W>
__device__ void write(const T *x, int64_t step, T *out, int64_t out_step, int64_t length, W peak, W total) {
    for (int64_t i = threadIdx.x; i < length; i += THREADS)
        out[i * out_step] = static_cast<T>(exp(widened(x[i * step]) - peak) / total);
}

template <typename T, typename Reduction>
__global__ void three_pass(View<const T> in, View<T> out) {
    using W = Wide<T>;
    const T *x = in.data + in.offset(blockIdx.x, in.rank - 1);
    const int64_t length = in.size(1), step = in.stride(1);
    W peak = -INFINITY, total = 0;
    for (int64_t i = threadIdx.x; i < length; i += THREADS) peak = Larger{}(peak, widened(x[i * step]));
    peak = Reduction::template reduce<THREADS>(peak, Larger{});
    for (int64_t i = threadIdx.x; i < length; i += THREADS) total += exp(widened(x[i * step]) - peak);
    total = Reduction::template reduce<THREADS>(total, Plus{});
    write(x, step, out.data + out.offset(blockIdx.x, out.rank - 1), out.stride(1), length, peak, total);
}

// As long as -inf is all there is, exponentials are 0, and not those of -inf minus -inf.
template <typename W>
__device__ W shift_of(W peak) {
    return peak == -INFINITY ? W(0) : peak;
}

template <typename T>
__global__ void online(View<const T> in, View<T> out) {
    using W = Wide<T>;
    const T *x = in.data + in.offset(blockIdx.x, in.rank - 1);
    const int64_t length = in.size(1), step = in.stride(1);
    W mine = -INFINITY, total = 0;
    for (int64_t i = threadIdx.x; i < length; i += THREADS) {
        const W value = widened(x[i * step]), higher = Larger{}(mine, value), shift = shift_of(higher);
        total = total * exp(mine - shift) + exp(value - shift);
        mine = higher;
    }
    const W peak = Shuffles::reduce<THREADS>(mine, Larger{});
    total = Shuffles::reduce<THREADS>(total * exp(mine - shift_of(peak)), Plus{});
    write(x, step, out.data + out.offset(blockIdx.x, out.rank - 1), out.stride(1), length, peak, total);
}

}  // namespace

ENTRY(three_pass, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return dispatch(Floats{}, x, [&](auto type) {
        using T = decltype(type);
        return launch(three_pass<T, Tree>, x.count(x.rank - 1), THREADS, call.stream, View<const T>(x), View<T>(out));
    });
}

ENTRY(warp_shuffles, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return dispatch(Floats{}, x, [&](auto type) {
        using T = decltype(type);
        return launch(three_pass<T, Shuffles>, x.count(x.rank - 1), THREADS, call.stream, View<const T>(x),
                      View<T>(out));
    });
}

ENTRY(online, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return dispatch(Floats{}, x, [&](auto type) {
        using T = decltype(type);
        return launch(online<T>, x.count(x.rank - 1), THREADS, call.stream, View<const T>(x), View<T>(out));
    });
}
