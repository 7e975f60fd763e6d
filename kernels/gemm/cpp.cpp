#include <algorithm>
#include <vector>

#include "kernel.hpp"

namespace {

// Matrices in memory: rows, columns, and the step to the next of either. The product's is row-major.
template <typename T>
struct Matrix {
    T *first;
    int64_t rows, columns, down, across;

    Matrix(const Tensor &tensor, int64_t batch)
        : first(tensor.as<T>() + tensor.offset(batch, tensor.rank - 2)),
          rows(tensor.size(-2)),
          columns(tensor.size(-1)),
          down(tensor.stride(-2)),
          across(tensor.stride(-1)) {}

    T &operator()(int64_t row, int64_t column) const { return first[row * down + column * across]; }
};

template <typename T>
void naive(Matrix<const T> a, Matrix<const T> b, Matrix<T> out) {
    for (int64_t i = 0; i < out.rows; ++i) {
        for (int64_t j = 0; j < out.columns; ++j) {
            Wide<T> total = 0;
            for (int64_t k = 0; k < a.columns; ++k) total += widened(a(i, k)) * widened(b(k, j));
            out(i, j) = static_cast<T>(total);
        }
    }
}

// The inner loop goes along a row of b and of the result, where neighbours lie side by side.
template <typename T>
void interchanged(Matrix<const T> a, Matrix<const T> b, Matrix<T> out) {
    std::vector<Wide<T>> totals(static_cast<size_t>(out.columns));
    for (int64_t i = 0; i < out.rows; ++i) {
        std::fill(totals.begin(), totals.end(), Wide<T>(0));
        for (int64_t k = 0; k < a.columns; ++k) {
            const Wide<T> left = widened(a(i, k));
            for (int64_t j = 0; j < out.columns; ++j) totals[j] += left * widened(b(k, j));
        }
        for (int64_t j = 0; j < out.columns; ++j) out(i, j) = static_cast<T>(totals[j]);
    }
}

constexpr int64_t TALL = 4, BROAD = 16, DEEP = 256;  // a block of the result in registers, and how far it goes along k

// Copies a block of `from` to where its rows lie side by side, wide, with zeros where there is none.
template <int64_t ROWS, int64_t COLUMNS, typename T>
void pack(Wide<T> (&to)[ROWS][COLUMNS], const Matrix<const T> &from, int64_t row, int64_t column) {
    const int64_t rows = std::min(ROWS, from.rows - row), columns = std::min(COLUMNS, from.columns - column);
    for (int64_t i = 0; i < ROWS; ++i)
        for (int64_t j = 0; j < COLUMNS; ++j)
            to[i][j] = i < rows && j < columns ? widened(from(row + i, column + j)) : Wide<T>(0);
}

// Each block of columns goes through k by panels of b, packed once for all rows.
template <typename T>
void blocked(Matrix<const T> a, Matrix<const T> b, Matrix<T> out) {
    using W = Wide<T>;
    static thread_local W left[TALL][DEEP], right[DEEP][BROAD];
    std::vector<W> totals(static_cast<size_t>(out.rows * BROAD));
    for (int64_t column = 0; column < out.columns; column += BROAD) {
        std::fill(totals.begin(), totals.end(), W(0));
        for (int64_t start = 0; start < a.columns; start += DEEP) {
            const int64_t depth = std::min(DEEP, a.columns - start);
            pack<DEEP, BROAD, T>(right, b, start, column);
            for (int64_t row = 0; row < out.rows; row += TALL) {
                const int64_t tall = std::min(TALL, out.rows - row);
                pack<TALL, DEEP, T>(left, a, row, start);
                W block[TALL][BROAD] = {};
                for (int64_t k = 0; k < depth; ++k)
                    for (int64_t i = 0; i < TALL; ++i)
                        for (int64_t j = 0; j < BROAD; ++j) block[i][j] += left[i][k] * right[k][j];
                for (int64_t i = 0; i < tall; ++i)
                    for (int64_t j = 0; j < BROAD; ++j) totals[(row + i) * BROAD + j] += block[i][j];
            }
        }
        const int64_t broad = std::min(BROAD, out.columns - column);
        for (int64_t i = 0; i < out.rows; ++i)
            for (int64_t j = 0; j < broad; ++j) out(i, column + j) = static_cast<T>(totals[i * BROAD + j]);
    }
}

template <typename T, typename Multiply>
void each_matrix(const Call &call, Multiply multiply) {
    const Tensor &a = call.tensors[0], &b = call.tensors[1], &out = call.tensors[2];
    const int64_t matrices = out.count(out.rank - 2);
    for (int64_t i = 0; i < matrices; ++i) multiply(Matrix<const T>(a, i), Matrix<const T>(b, i), Matrix<T>(out, i));
}

}  // namespace

ENTRY(naive, call) {
    return dispatch(Floats{}, call.tensors[2],
                    [&](auto type) { each_matrix<decltype(type)>(call, naive<decltype(type)>); });
}

ENTRY(interchanged, call) {
    return dispatch(Floats{}, call.tensors[2],
                    [&](auto type) { each_matrix<decltype(type)>(call, interchanged<decltype(type)>); });
}

ENTRY(blocked, call) {
    return dispatch(Floats{}, call.tensors[2],
                    [&](auto type) { each_matrix<decltype(type)>(call, blocked<decltype(type)>); });
}
