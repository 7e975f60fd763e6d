#include "device.hpp"

// A square of threads moves a square of elements; blocks count the squares of all matrices, row by row.
namespace {

constexpr int SIDE = 32, ROWS = 8;  // of a tile, and of the threads that move it

struct Place {
    int64_t matrix, row, column;

    __device__ Place(int64_t rows, int64_t columns) {
        const int64_t across = (columns + SIDE - 1) / SIDE, down = (rows + SIDE - 1) / SIDE;
        matrix = blockIdx.x / (across * down);
        row = blockIdx.x / across % down * SIDE;
        column = blockIdx.x % across * SIDE;
    }
};

template <typename T>
__global__ void naive(View<const T> x, T *out) {
    const int64_t rows = x.size(2), columns = x.size(1);
    const Place place(rows, columns);
    const T *from = x.data + x.offset(place.matrix, x.rank - 2);
    T *to = out + place.matrix * rows * columns;
    const int64_t column = place.column + threadIdx.x;
    for (int64_t row = place.row + threadIdx.y; row < rows && row < place.row + SIDE; row += ROWS)
        if (column < columns) to[column * rows + row] = from[row * x.stride(2) + column * x.stride(1)];
}

// Rows of a tile are PADDING longer than what they hold: lanes that go down a column then meet different banks.
template <typename T, int PADDING>
__global__ void tiled(View<const T> x, T *out) {
    __shared__ T tile[SIDE][SIDE + PADDING];
    const int64_t rows = x.size(2), columns = x.size(1);
    const Place place(rows, columns);
    const T *from = x.data + x.offset(place.matrix, x.rank - 2);
    T *to = out + place.matrix * rows * columns;
    for (int i = threadIdx.y; i < SIDE; i += ROWS) {
        const int64_t row = place.row + i, column = place.column + threadIdx.x;
        if (row < rows && column < columns) tile[i][threadIdx.x] = from[row * x.stride(2) + column * x.stride(1)];
    }
    __syncthreads();
    for (int i = threadIdx.y; i < SIDE; i += ROWS) {
        const int64_t row = place.row + threadIdx.x, column = place.column + i;
        if (row < rows && column < columns) to[column * rows + row] = tile[threadIdx.x][i];
    }
}

template <typename T>
using Kernel = void (*)(View<const T>, T *);

template <typename T>
const char *launch_tiles(const Call &call, Kernel<T> kernel) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    const int64_t tiles = int64_t(blocks_for(x.size(-2), SIDE)) * blocks_for(x.size(-1), SIDE);
    return launch(kernel, static_cast<unsigned>(tiles * x.count(x.rank - 2)), dim3(SIDE, ROWS), call.stream,
                  View<const T>(x), out.as<T>());
}

}  // namespace

ENTRY(naive, call) {
    return dispatch(Numbers{}, call.tensors[0], [&](auto type) {
        using T = decltype(type);
        return launch_tiles<T>(call, naive<T>);
    });
}

ENTRY(tiled, call) {
    return dispatch(Numbers{}, call.tensors[0], [&](auto type) {
        using T = decltype(type);
        return launch_tiles<T>(call, tiled<T, 0>);
    });
}

ENTRY(padded, call) {
    return dispatch(Numbers{}, call.tensors[0], [&](auto type) {
        using T = decltype(type);
        return launch_tiles<T>(call, tiled<T, 1>);
    });
}
