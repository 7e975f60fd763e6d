#include "device.hpp"

namespace {

// The weights: codes of 8 or of 4 bits, and the scale and zero of their groups of rows.
template <typename T>
struct Weights {
    View<const uint8_t> packed;
    View<const T> scales;
    View<const uint8_t> zeros;
    int64_t bits, group;

    __device__ int code(int64_t row, int64_t column) const {
        const int64_t line = bits == 8 ? row : row / 2;
        const int byte = packed.data[line * packed.stride(2) + column * packed.stride(1)];
        return bits == 8 ? byte : byte >> row % 2 * 4 & 15;
    }

    __device__ float operator()(int64_t row, int64_t column) const {
        const int64_t shared = row / group;
        const int zero = zeros.data[shared * zeros.stride(2) + column * zeros.stride(1)];
        const T scale = scales.data[shared * scales.stride(2) + column * scales.stride(1)];
        return static_cast<float>(code(row, column) - zero) * widened(scale);
    }
};

constexpr int SIDE = 16;  // of a block of threads, and of the tiles that it shares

template <typename T>
__global__ void naive(View<const T> a, Weights<T> weights, View<T> out) {
    const int64_t row = int64_t(blockIdx.x) * SIDE + threadIdx.y, column = int64_t(blockIdx.y) * SIDE + threadIdx.x;
    if (row >= out.size(2) || column >= out.size(1)) return;
    float total = 0;
    for (int64_t k = 0; k < a.size(1); ++k)
        total += widened(a.data[row * a.stride(2) + k * a.stride(1)]) * weights(k, column);
    out.data[row * out.stride(2) + column] = static_cast<T>(total);
}

template <typename T>
__global__ void tiled(View<const T> a, Weights<T> weights, View<T> out) {
    __shared__ float lefts[SIDE][SIDE], rights[SIDE][SIDE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int64_t row = int64_t(blockIdx.x) * SIDE + y, column = int64_t(blockIdx.y) * SIDE + x;
    const int64_t m = out.size(2), n = out.size(1), depth = a.size(1);
    float total = 0;
    for (int64_t start = 0; start < depth; start += SIDE) {
        const int64_t across = start + x, down = start + y;
        lefts[y][x] = row < m && across < depth ? widened(a.data[row * a.stride(2) + across * a.stride(1)]) : 0;
        rights[y][x] = down < depth && column < n ? weights(down, column) : 0;
        __syncthreads();
        for (int k = 0; k < SIDE; ++k) total += lefts[y][k] * rights[k][x];
        __syncthreads();
    }
    if (row < m && column < n) out.data[row * out.stride(2) + column] = static_cast<T>(total);
}

template <typename T>
using Kernel = void (*)(View<const T>, Weights<T>, View<T>);

template <typename T>
const char *launch_tiles(const Call &call, Kernel<T> kernel) {
    const Tensor *tensors = call.tensors, &out = tensors[4];
    const Weights<T> weights{View<const uint8_t>(tensors[1]), View<const T>(tensors[2]),
                             View<const uint8_t>(tensors[3]), call.integers[0], call.integers[1]};
    return launch(kernel, dim3(blocks_for(out.size(0), SIDE), blocks_for(out.size(1), SIDE)), dim3(SIDE, SIDE),
                  call.stream, View<const T>(tensors[0]), weights, View<T>(out));
}

using Multiplied = Types<float, Float16, BFloat16>;

}  // namespace

ENTRY(naive, call) {
    return dispatch(Multiplied{}, call.tensors[0], [&](auto type) {
        using T = decltype(type);
        return launch_tiles<T>(call, naive<T>);
    });
}

ENTRY(tiled, call) {
    return dispatch(Multiplied{}, call.tensors[0], [&](auto type) {
        using T = decltype(type);
        return launch_tiles<T>(call, tiled<T>);
    });
}
