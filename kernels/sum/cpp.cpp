#include "kernel.hpp"

namespace {

constexpr int64_t LANES = 16;   // partial sums that do not wait for each other
constexpr int64_t BLOCK = 128;  // elements that are summed one after another before their sums are added in pairs

// A row is what is summed up: the last axis of `x`, wherever it lies in memory.
template <typename T, typename Sum>
void each_row(const Tensor &x, const Tensor &out, Sum sum) {
    const int64_t rows = out.count();
    for (int64_t row = 0; row < rows; ++row) {
        const T *first = x.as<const T>() + x.offset(row, x.rank - 1);
        out.as<T>()[row] = static_cast<T>(sum(first, x.size(-1), x.stride(-1)));
    }
}

template <typename T>
Wide<T> sequential(const T *x, int64_t length, int64_t step) {
    Wide<T> total = 0;
    for (int64_t i = 0; i < length; ++i) total = wrapping_sum(total, widened(x[i * step]));
    return total;
}

template <typename T>
Wide<T> in_lanes(const T *x, int64_t length, int64_t step) {
    Wide<T> lanes[LANES] = {};
    int64_t i = 0;
    for (; i + LANES <= length; i += LANES)
        for (int64_t lane = 0; lane < LANES; ++lane)
            lanes[lane] = wrapping_sum(lanes[lane], widened(x[(i + lane) * step]));
    for (; i < length; ++i) lanes[i % LANES] = wrapping_sum(lanes[i % LANES], widened(x[i * step]));
    for (int64_t half = LANES / 2; half; half /= 2)
        for (int64_t lane = 0; lane < half; ++lane) lanes[lane] = wrapping_sum(lanes[lane], lanes[lane + half]);
    return lanes[0];
}

template <typename T>
Wide<T> pairwise(const T *x, int64_t length, int64_t step) {
    if (length <= BLOCK) return in_lanes(x, length, step);
    const int64_t half = (length / 2 + BLOCK - 1) / BLOCK * BLOCK;
    return wrapping_sum(pairwise(x, half, step), pairwise(x + half * step, length - half, step));
}

using Summed = Types<double, float, Float16, BFloat16, int64_t>;

}  // namespace

ENTRY(sequential, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return dispatch(Summed{}, x, [&](auto type) { each_row<decltype(type)>(x, out, sequential<decltype(type)>); });
}

ENTRY(lanes, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return dispatch(Summed{}, x, [&](auto type) { each_row<decltype(type)>(x, out, in_lanes<decltype(type)>); });
}

ENTRY(pairwise, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return dispatch(Summed{}, x, [&](auto type) { each_row<decltype(type)>(x, out, pairwise<decltype(type)>); });
}
