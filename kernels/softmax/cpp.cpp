#include <cmath>
#include <limits>
#include <vector>

#include "kernel.hpp"

// A row that holds a NaN or +inf, or nothing but -inf, has a sum of exponentials that is NaN, whatever a maximum makes
// of a NaN; so all of it becomes NaN.
namespace {

// One row of a tensor: everything along the last axis, wherever that lies in memory.
template <typename T>
struct Row {
    T *first;
    int64_t length, step;

    Row(const Tensor &tensor, int64_t row)
        : first(tensor.as<T>() + tensor.offset(row, tensor.rank - 1)), length(tensor.size(-1)), step(tensor.stride(-1)) {}

    T &operator[](int64_t i) const { return first[i * step]; }
};

template <typename W>
constexpr W LOWEST = -std::numeric_limits<W>::infinity();

template <typename T>
Wide<T> largest(const Row<const T> &x) {
    Wide<T> peak = LOWEST<Wide<T>>;
    for (int64_t i = 0; i < x.length; ++i) peak = widened(x[i]) > peak ? widened(x[i]) : peak;
    return peak;
}

template <typename T>
void three_pass(const Row<const T> &x, const Row<T> &out) {
    const Wide<T> peak = largest(x);
    Wide<T> total = 0;
    for (int64_t i = 0; i < x.length; ++i) total += std::exp(widened(x[i]) - peak);
    for (int64_t i = 0; i < x.length; ++i) out[i] = static_cast<T>(std::exp(widened(x[i]) - peak) / total);
}

template <typename T>
void online(const Row<const T> &x, const Row<T> &out) {
    Wide<T> peak = LOWEST<Wide<T>>, total = 0;
    for (int64_t i = 0; i < x.length; ++i) {
        const Wide<T> value = widened(x[i]), higher = value > peak ? value : peak;
        // As long as a row has shown nothing but -inf, its exponentials are 0, and not those of -inf minus -inf.
        const Wide<T> shift = higher == LOWEST<Wide<T>> ? 0 : higher;
        total = total * std::exp(peak - shift) + std::exp(value - shift);
        peak = higher;
    }
    for (int64_t i = 0; i < x.length; ++i) out[i] = static_cast<T>(std::exp(widened(x[i]) - peak) / total);
}

template <typename T>
void stored(const Row<const T> &x, const Row<T> &out) {
    std::vector<Wide<T>> powers(static_cast<size_t>(x.length));
    const Wide<T> peak = largest(x);
    Wide<T> total = 0;
    for (int64_t i = 0; i < x.length; ++i) total += powers[i] = std::exp(widened(x[i]) - peak);
    for (int64_t i = 0; i < x.length; ++i) out[i] = static_cast<T>(powers[i] / total);
}

template <typename T, typename Normalize>
void each_row(const Tensor &x, const Tensor &out, Normalize normalize) {
    const int64_t rows = x.count(x.rank - 1);
    for (int64_t row = 0; row < rows; ++row) normalize(Row<const T>(x, row), Row<T>(out, row));
}

}  // namespace

ENTRY(three_pass, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return dispatch(Floats{}, x, [&](auto type) { each_row<decltype(type)>(x, out, three_pass<decltype(type)>); });
}

ENTRY(online, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return dispatch(Floats{}, x, [&](auto type) { each_row<decltype(type)>(x, out, online<decltype(type)>); });
}

ENTRY(stored, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return dispatch(Floats{}, x, [&](auto type) { each_row<decltype(type)>(x, out, stored<decltype(type)>); });
}
