#include "device.hpp"

namespace {

constexpr int THREADS = 128;

template <typename T, typename Reduction>
__global__ void by_block(View<const T> in, View<const T> weight, T *out, double eps) {
    using W = Wide<T>;
    const T *x = in.data + in.offset(blockIdx.x, in.rank - 1);
    const int64_t length = in.size(1), step = in.stride(1);
    W squares = 0;
    for (int64_t i = threadIdx.x; i < length; i += THREADS) squares += widened(x[i * step]) * widened(x[i * step]);
    squares = Reduction::template reduce<THREADS>(squares, Plus{});
    const W scale = 1 / sqrt(squares / static_cast<W>(length) + static_cast<W>(eps));
    for (int64_t i = threadIdx.x; i < length; i += THREADS) {
        const W normal = widened(x[i * step]) * scale;
        out[blockIdx.x * length + i] = static_cast<T>(normal * widened(weight.data[i * weight.stride(1)]));
    }
}

template <typename Reduction>
const char *normalized(const Call &call) {
    const Tensor &x = call.tensors[0], &weight = call.tensors[1], &out = call.tensors[2];
    return dispatch(Floats{}, x, [&](auto type) {
        using T = decltype(type);
        return launch(by_block<T, Reduction>, x.count(x.rank - 1), THREADS, call.stream, View<const T>(x),
                      View<const T>(weight), out.as<T>(), call.reals[0]);
    });
}

}  // namespace

ENTRY(shared_tree, call) { return normalized<Tree>(call); }

ENTRY(warp_shuffles, call) { return normalized<Shuffles>(call); }
