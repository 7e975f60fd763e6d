#include "device.hpp"

namespace {

// The matrices of one batch: `rows` and `columns` of the product, and the steps to the next row and column.
template <typename T>
struct Matrix {
    T *first;
    int64_t rows, columns, down, across;

    __device__ Matrix(const View<T> &view, int64_t batch)
        : first(view.data + view.offset(batch, view.rank - 2)),
          rows(view.size(2)),
          columns(view.size(1)),
          down(view.stride(2)),
          across(view.stride(1)) {}

    __device__ T &operator()(int64_t row, int64_t column) const { return first[row * down + column * across]; }

    // The element in the wide type, or 0 outside of the matrix.
    __device__ auto padded(int64_t row, int64_t column) const {
        using W = decltype(widened(*first));
        return row < rows && column < columns ? widened((*this)(row, column)) : W(0);
    }
};

// Which tile of which product a block computes: batches outermost, then rows of tiles.
struct Tile {
    int64_t batch, row, column;

    __device__ Tile(int64_t rows, int64_t columns, int height, int width) {
        const int64_t across = (columns + width - 1) / width, down = (rows + height - 1) / height;
        batch = blockIdx.x / (across * down);
        row = blockIdx.x / across % down * height;
        column = blockIdx.x % across * width;
    }
};

constexpr int SIDE = 16;  // of a block of threads, and of the tiles that it shares

template <typename T>
__global__ void naive(View<const T> a, View<const T> b, View<T> out) {
    const Tile tile(out.size(2), out.size(1), SIDE, SIDE);
    const Matrix<const T> left(a, tile.batch), right(b, tile.batch);
    const Matrix<T> product(out, tile.batch);
    const int64_t row = tile.row + threadIdx.y, column = tile.column + threadIdx.x;
    if (row >= product.rows || column >= product.columns) return;
    Wide<T> total = 0;
    for (int64_t k = 0; k < left.columns; ++k) total += widened(left(row, k)) * widened(right(k, column));
    product(row, column) = static_cast<T>(total);
}

template <typename T>
__global__ void tiled(View<const T> a, View<const T> b, View<T> out) {
    __shared__ Wide<T> lefts[SIDE][SIDE], rights[SIDE][SIDE];
    const Tile tile(out.size(2), out.size(1), SIDE, SIDE);
    const Matrix<const T> left(a, tile.batch), right(b, tile.batch);
    const Matrix<T> product(out, tile.batch);
    const int x = threadIdx.x, y = threadIdx.y;
    const int64_t row = tile.row + y, column = tile.column + x;
    Wide<T> total = 0;
    for (int64_t start = 0; start < left.columns; start += SIDE) {
        lefts[y][x] = left.padded(row, start + x);
        rights[y][x] = right.padded(start + y, column);
        __syncthreads();
        for (int k = 0; k < SIDE; ++k) total += lefts[y][k] * rights[k][x];
        __syncthreads();
    }
    if (row < product.rows && column < product.columns) product(row, column) = static_cast<T>(total);
}

constexpr int EACH = 4, LARGE = SIDE * EACH;  // elements of the product a thread has along each axis; and so a block

template <typename T>
__global__ void register_blocked(View<const T> a, View<const T> b, View<T> out) {
    using W = Wide<T>;
    __shared__ W lefts[SIDE][LARGE], rights[SIDE][LARGE];
    const Tile tile(out.size(2), out.size(1), LARGE, LARGE);
    const Matrix<const T> left(a, tile.batch), right(b, tile.batch);
    const Matrix<T> product(out, tile.batch);
    const int x = threadIdx.x, y = threadIdx.y;
    W totals[EACH][EACH] = {};
    for (int64_t start = 0; start < left.columns; start += SIDE) {
        for (int i = 0; i < EACH; ++i) {
            lefts[x][y + i * SIDE] = left.padded(tile.row + y + i * SIDE, start + x);
            rights[y][x + i * SIDE] = right.padded(start + y, tile.column + x + i * SIDE);
        }
        __syncthreads();
        for (int k = 0; k < SIDE; ++k) {
            W rows[EACH], columns[EACH];
            for (int i = 0; i < EACH; ++i) {
                rows[i] = lefts[k][y + i * SIDE];
                columns[i] = rights[k][x + i * SIDE];
            }
            for (int i = 0; i < EACH; ++i)
                for (int j = 0; j < EACH; ++j) totals[i][j] += rows[i] * columns[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; ++i) {
        for (int j = 0; j < EACH; ++j) {
            const int64_t row = tile.row + y + i * SIDE, column = tile.column + x + j * SIDE;
            if (row < product.rows && column < product.columns) product(row, column) = static_cast<T>(totals[i][j]);
        }
    }
}

template <typename T>
using Kernel = void (*)(View<const T>, View<const T>, View<T>);

template <typename T>
const char *launch_tiles(const Call &call, Kernel<T> kernel, int side) {
    const Tensor &out = call.tensors[2];
    const int64_t tiles = int64_t(blocks_for(out.size(-2), side)) * blocks_for(out.size(-1), side);
    return launch(kernel, static_cast<unsigned>(tiles * out.count(out.rank - 2)), dim3(SIDE, SIDE), call.stream,
                  View<const T>(call.tensors[0]), View<const T>(call.tensors[1]), View<T>(out));
}

}  // namespace

ENTRY(naive, call) {
    return dispatch(Floats{}, call.tensors[2], [&](auto type) {
        using T = decltype(type);
        return launch_tiles<T>(call, naive<T>, SIDE);
    });
}

ENTRY(tiled, call) {
    return dispatch(Floats{}, call.tensors[2], [&](auto type) {
        using T = decltype(type);
        return launch_tiles<T>(call, tiled<T>, SIDE);
    });
}

ENTRY(register_blocked, call) {
    return dispatch(Floats{}, call.tensors[2], [&](auto type) {
        using T = decltype(type);
        return launch_tiles<T>(call, register_blocked<T>, LARGE);
    });
}
