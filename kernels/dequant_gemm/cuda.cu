#include "units.hpp"

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

// A few rows: what counts is how fast weights are read. A warp has 128 columns, a lane 16 of them, which it reads at
// once from four packed lines at a time, as matrix units take them: nothing moves between lanes to be unpacked. Copies
// are on their way while others are computed with, each into a place of its lane, so that nobody waits for anybody.
constexpr int ROWS = 16;            // of a block, as matrix units have
constexpr int EACH = 16;            // columns of a lane
constexpr int LINES = 16;           // packed ones that a warp takes at a time
constexpr int ACROSS = 1, DEEP = 4;  // warps of a block side by side, and along k
constexpr int THREADS = 32 * ACROSS * DEEP;
constexpr int STAGES = 4;           // places for copies
constexpr int BLOCK_COLUMNS = ACROSS * 8 * EACH;

// The scales and zeros of a lane's columns in a group of rows.
template <typename T, int BITS>
struct Group {
    Words scales[2], zeros;

    __device__ void load(const T *scale, const uint8_t *zero) {
        scales[0] = reinterpret_cast<const Words *>(scale)[0];
        scales[1] = reinterpret_cast<const Words *>(scale)[1];
        zeros = *reinterpret_cast<const Words *>(zero);
    }

    // Twice the scale of a column.
    __device__ uint32_t scale(int column) const {
        return __byte_perm(scales[column / 8].word[column % 8 / 2], 0, column % 2 ? 0x3232 : 0x1010);
    }
};

// Pairs of weights without their zeros, exact: an integer in the last bits of a power of two is that power and it.
// Powers come as an argument, since compilers need one instruction more for two constants.
template <typename T>
constexpr uint32_t POWER = std::is_same_v<T, Float16> ? 0x6400 : 0x4300;

template <typename T>
__device__ uint32_t above(uint32_t codes, uint32_t powers, int byte, uint32_t zeros) {
    return difference<T>(codes | powers, __byte_perm(zeros, powers >> 8, byte * 0x0101 | 0x4040));
}

// Of bytes in words of two lines; in float where T has too few bits for such a power.
template <typename T>
__device__ uint32_t bytes_above(uint32_t first, uint32_t second, uint32_t powers, int byte, uint32_t zeros) {
    if constexpr (std::is_same_v<T, Float16>) {
        const uint32_t codes = __byte_perm(first, second, byte | (byte + 4) << 8) & 0x00ff00ff;
        return above<T>(codes, powers, byte, zeros);
    } else {
        const auto wide = [&](uint32_t word) { return bits_as<float>(__byte_perm(word, 0x4b000000, 0x7440 | byte)); };
        const float zero = wide(zeros);
        return pair_of(T(wide(first) - zero), T(wide(second) - zero));
    }
}

template <typename T, int BITS>
__global__ void __launch_bounds__(THREADS, 3)
few_rows(const T *a, const uint8_t *packed, const T *scales, const uint8_t *zeros, float *partial, int64_t m, int64_t n,
         int64_t groups, int64_t steps, uint32_t powers) {
    constexpr int PER_LINE = 8 / BITS;
    __shared__ Words places[STAGES][6][THREADS];
    const int me = threadIdx.x, lane = me % 32, warp = me / 32, four = lane % 4;
    const int64_t k = groups * steps * LINES * PER_LINE, row = int64_t(blockIdx.z) * ROWS + lane / 4;
    const int64_t corner = int64_t(blockIdx.x) * BLOCK_COLUMNS + warp % ACROSS * (8 * EACH);
    const int64_t column = corner + lane / 4 * EACH;
    const int64_t slice = int64_t(blockIdx.y) * DEEP + warp / ACROSS, slices = int64_t(gridDim.y) * DEEP;
    const int64_t begin = groups * slice / slices, end = groups * (slice + 1) / slices;
    const bool inside = column < n;

    const auto fetch = [&](int64_t step) {
        if (step < end * steps) {
            Words(&place)[6][THREADS] = places[step % STAGES];
            const int64_t line = step * LINES + 4 * four;
            for (int i = 0; i < 4; ++i) copy_later<16>(&place[i][me], packed + (line + i) * n + column, inside);
            for (int i = 0; i < 2; ++i)
                copy_later<8 * PER_LINE>(&place[4 + i][me], a + (row + 8 * i) * k + line * PER_LINE, row + 8 * i < m);
        }
        end_of_batch();
    };

    float sums[EACH][4] = {};
    Group<T, BITS> group{}, next{};
    for (int i = 0; i < STAGES - 1; ++i) fetch(begin * steps + i);
    if (inside && begin < end) next.load(scales + begin * n + column, zeros + begin * n + column);
    for (int64_t shared = begin; shared < end; ++shared) {
        group = next;
        const int64_t ahead = (shared + 1) * n + column;
        if (inside && shared + 1 < end) next.load(scales + ahead, zeros + ahead);
        for (int64_t step = shared * steps; step < (shared + 1) * steps; ++step) {
            await_copies<STAGES - 2>();
            Words lines[4], lefts[2];
            for (int i = 0; i < 4; ++i) lines[i] = places[step % STAGES][i][me];
            for (int i = 0; i < 2; ++i) lefts[i] = places[step % STAGES][4 + i][me];
            fetch(step + STAGES - 1);
            if constexpr (BITS == 4) {
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    uint32_t left[4];
                    for (int i = 0; i < 4; ++i)  // even columns of a, then odd ones
                        left[i] = __byte_perm(lefts[i % 2].word[2 * half], lefts[i % 2].word[2 * half + 1],
                                              i < 2 ? 0x5410 : 0x7632);
#pragma unroll
                    for (int c = 0; c < EACH; ++c) {
                        const int byte = c % 4;
                        const uint32_t codes = __byte_perm(lines[2 * half].word[c / 4], lines[2 * half + 1].word[c / 4],
                                                           byte | (byte + 4) << 8);
                        const uint32_t scale = group.scale(c), zero = group.zeros.word[c / 4];
                        const uint32_t right[2] = {
                            product<T>(above<T>(codes & 0x000f000f, powers, byte, zero), scale),
                            product<T>(above<T>(codes >> 4 & 0x000f000f, powers, byte, zero), scale),
                        };
                        multiply_tile<T>(sums[c], left, right);
                    }
                }
            } else {
                const uint32_t left[4] = {lefts[0].word[0], lefts[1].word[0], lefts[0].word[1], lefts[1].word[1]};
#pragma unroll
                for (int c = 0; c < EACH; ++c) {
                    const uint32_t scale = group.scale(c), zero = group.zeros.word[c / 4];
                    uint32_t right[2];
                    for (int i = 0; i < 2; ++i)
                        right[i] = product<T>(bytes_above<T>(lines[2 * i].word[c / 4], lines[2 * i + 1].word[c / 4],
                                                             powers, c % 4, zero), scale);
                    multiply_tile<T>(sums[c], left, right);
                }
            }
        }
    }

    // Warps along k are added up in the places that copies do not need any more.
    await_copies<0>();
    float *meeting = reinterpret_cast<float *>(places);
    const int neighbour = me % (32 * ACROSS);
    for (int other = 1; other < DEEP; ++other) {
        __syncthreads();
        if (warp / ACROSS == other)
            for (int i = 0; i < 4 * EACH; ++i) meeting[i * 32 * ACROSS + neighbour] = sums[i / 4][i % 4];
        __syncthreads();
        if (warp < ACROSS)
            for (int i = 0; i < 4 * EACH; ++i) sums[i / 4][i % 4] += meeting[i * 32 * ACROSS + neighbour];
    }
    if (warp >= ACROSS) return;
    for (int i = 0; i < 4; ++i) {
        const int64_t down = row + i / 2 * 8, at = corner + (2 * four + i % 2) * EACH;
        if (down >= m || at >= n) continue;
        Words *target = reinterpret_cast<Words *>(partial + (int64_t(blockIdx.y) * m + down) * n + at);
        for (int c = 0; c < EACH; c += 4)
            target[c / 4] = {bits_as<uint32_t>(sums[c][i]), bits_as<uint32_t>(sums[c + 1][i]),
                             bits_as<uint32_t>(sums[c + 2][i]), bits_as<uint32_t>(sums[c + 3][i])};
    }
}

template <typename T>
__global__ void add_up(const float *partial, T *out, int64_t count, int64_t slices) {
    const int64_t i = thread_number();
    if (i >= count) return;
    float total = 0;
    for (int64_t slice = 0; slice < slices; ++slice) total += partial[slice * count + i];
    out[i] = static_cast<T>(total);
}

template <typename T, int BITS>
const char *launch_few_rows(const Call &call) {
    const Tensor *tensors = call.tensors, &out = tensors[4], &partial = tensors[5];
    const int64_t m = out.size(0), n = out.size(1), groups = tensors[2].size(0), slices = partial.size(0);
    const int64_t steps = call.integers[1] * BITS / 8 / LINES;
    const dim3 grid(blocks_for(n, BLOCK_COLUMNS), static_cast<unsigned>(slices), blocks_for(m, ROWS));
    if (const char *trouble = launch(few_rows<T, BITS>, grid, dim3(THREADS), call.stream, tensors[0].as<const T>(),
                                     tensors[1].as<const uint8_t>(), tensors[2].as<const T>(),
                                     tensors[3].as<const uint8_t>(), partial.as<float>(), m, n, groups, steps,
                                     POWER<T> * 0x10001))
        return trouble;
    return launch(add_up<T>, dim3(blocks_for(m * n, 256)), dim3(256), call.stream, partial.as<const float>(),
                  out.as<T>(), m * n, slices);
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

// For tensors that are contiguous and aligned, with columns in multiples of EACH, and packed lines of a group in those
// of LINES.
ENTRY(few_rows, call) {
    return dispatch(Types<Float16, BFloat16>{}, call.tensors[0], [&](auto type) {
        using T = decltype(type);
        return call.integers[0] == 8 ? launch_few_rows<T, 8>(call) : launch_few_rows<T, 4>(call);
    });
}
