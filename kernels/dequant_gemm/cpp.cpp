#include <vector>

#include "kernel.hpp"

namespace {

// The weights: codes of 8 or of 4 bits, and the scale and zero of their groups of rows.
template <typename T>
struct Weights {
    const Tensor &packed, &scales, &zeros;
    int64_t bits, group;

    int code(int64_t row, int64_t column) const {
        const int64_t line = bits == 8 ? row : row / 2;
        const int byte = packed.as<const uint8_t>()[line * packed.stride(0) + column * packed.stride(1)];
        return bits == 8 ? byte : byte >> row % 2 * 4 & 15;
    }

    float operator()(int64_t row, int64_t column) const {
        const int64_t shared = row / group;
        const int zero = zeros.as<const uint8_t>()[shared * zeros.stride(0) + column * zeros.stride(1)];
        const T scale = scales.as<const T>()[shared * scales.stride(0) + column * scales.stride(1)];
        return static_cast<float>(code(row, column) - zero) * widened(scale);
    }
};

template <typename T>
void naive(const Tensor &a, const Weights<T> &weights, const Tensor &out) {
    for (int64_t i = 0; i < out.size(0); ++i) {
        for (int64_t j = 0; j < out.size(1); ++j) {
            float total = 0;
            for (int64_t k = 0; k < a.size(1); ++k)
                total += widened(a.as<const T>()[i * a.stride(0) + k * a.stride(1)]) * weights(k, j);
            out.as<T>()[i * out.size(1) + j] = static_cast<T>(total);
        }
    }
}

// Goes through k row by row of the weights, and dequantizes each row once for all rows of a.
template <typename T>
void row_once(const Tensor &a, const Weights<T> &weights, const Tensor &out) {
    const int64_t m = out.size(0), n = out.size(1);
    std::vector<float> totals(static_cast<size_t>(m * n)), row(static_cast<size_t>(n));
    for (int64_t k = 0; k < a.size(1); ++k) {
        for (int64_t j = 0; j < n; ++j) row[j] = weights(k, j);
        for (int64_t i = 0; i < m; ++i) {
            const float left = widened(a.as<const T>()[i * a.stride(0) + k * a.stride(1)]);
            float *line = &totals[i * n];
            for (int64_t j = 0; j < n; ++j) line[j] += left * row[j];
        }
    }
    for (int64_t i = 0; i < m * n; ++i) out.as<T>()[i] = static_cast<T>(totals[i]);
}

template <typename T>
Weights<T> weights_of(const Call &call) {
    return {call.tensors[1], call.tensors[2], call.tensors[3], call.integers[0], call.integers[1]};
}

using Multiplied = Types<float, Float16, BFloat16>;

}  // namespace

ENTRY(naive, call) {
    return dispatch(Multiplied{}, call.tensors[0], [&](auto type) {
        naive(call.tensors[0], weights_of<decltype(type)>(call), call.tensors[4]);
    });
}

ENTRY(row_once, call) {
    return dispatch(Multiplied{}, call.tensors[0], [&](auto type) {
        row_once(call.tensors[0], weights_of<decltype(type)>(call), call.tensors[4]);
    });
}
