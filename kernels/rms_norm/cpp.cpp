#include <cmath>

#include "kernel.hpp"

namespace {

constexpr int64_t LANES = 16;  // partial sums that do not wait for each other

template <typename T>
Wide<T> square(T value) {
    return widened(value) * widened(value);
}

template <typename T>
Wide<T> sequential(const T *x, int64_t length, int64_t step) {
    Wide<T> total = 0;
    for (int64_t i = 0; i < length; ++i) total += square(x[i * step]);
    return total;
}

template <typename T>
Wide<T> in_lanes(const T *x, int64_t length, int64_t step) {
    Wide<T> lanes[LANES] = {};
    int64_t i = 0;
    for (; i + LANES <= length; i += LANES)
        for (int64_t lane = 0; lane < LANES; ++lane) lanes[lane] += square(x[(i + lane) * step]);
    for (; i < length; ++i) lanes[i % LANES] += square(x[i * step]);
    for (int64_t half = LANES / 2; half; half /= 2)
        for (int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    return lanes[0];
}

template <typename T, typename SumOfSquares>
void each_row(const Call &call, SumOfSquares sum_of_squares) {
    const Tensor &x = call.tensors[0], &weight = call.tensors[1], &out = call.tensors[2];
    const int64_t rows = x.count(x.rank - 1), length = x.size(-1), step = x.stride(-1);
    for (int64_t row = 0; row < rows; ++row) {
        const T *from = x.as<const T>() + x.offset(row, x.rank - 1);
        T *to = out.as<T>() + row * length;
        const Wide<T> mean = sum_of_squares(from, length, step) / static_cast<Wide<T>>(length);
        const Wide<T> scale = 1 / std::sqrt(mean + static_cast<Wide<T>>(call.reals[0]));
        for (int64_t i = 0; i < length; ++i)
            to[i] = static_cast<T>(widened(from[i * step]) * scale * widened(weight.as<const T>()[i * weight.stride(0)]));
    }
}

}  // namespace

ENTRY(two_pass, call) {
    return dispatch(Floats{}, call.tensors[0],
                    [&](auto type) { each_row<decltype(type)>(call, sequential<decltype(type)>); });
}

ENTRY(lanes, call) {
    return dispatch(Floats{}, call.tensors[0],
                    [&](auto type) { each_row<decltype(type)>(call, in_lanes<decltype(type)>); });
}
