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

// A few rows: what counts is how fast weights are read, and then how little is done to unpack them. Warps share the sum
// over k, each with copies of its own on their way. Matrix units take the weights as their left operand, 16 columns at a
// time, so that few rows of `a` fill the right one; they come out of shared memory turned, pairs of lines in a word, which
// a mask makes numbers of.
constexpr int TILE = 16;                 // columns that matrix units take at a time
constexpr int TILES = 4;                 // of a warp, side by side
constexpr int COLUMNS = TILES * TILE;    // of a block
constexpr int LINES = 16;                // packed ones that a warp takes at a time
constexpr int DEEP = 14, LESS_DEEP = 10;  // warps of a block, all along k: where it has 8 rows of `a`, and where 16
constexpr int STAGES = 3;                // places for copies
constexpr int RESIDENT = 2;              // blocks at a time on a multiprocessor
constexpr int SIDE_ROWS = 8;             // of `a` that matrix units take at a time
static_assert(STAGES * LINES * COLUMNS >= 4 * SIDE_ROWS * COLUMNS, "warps meet in the places of their copies");

// Codes in a power of two: an integer in the last bits of one is that power and it, exactly, and so is a difference of
// two. The power comes as an argument, since compilers need one instruction more for two constants.
template <typename T>
constexpr uint32_t POWER = std::is_same_v<T, Float16> ? 0x6400 : 0x4300;

// bfloat16 has too few bits for a byte in one: these go through float.
template <typename T, int BITS>
constexpr bool BY_FLOAT = BITS == 8 && !std::is_same_v<T, Float16>;

__device__ inline float byte_above(uint32_t bytes, int which) {
    return bits_as<float>(__byte_perm(bytes, 0x4b000000, 0x7440 | which));
}

// The scales and zeros of a lane's columns in a group, two of each tile: as they are read, and as they are used, scales
// and zeros in pairs, but for zeros in float.
struct Read {
    uint32_t scales[TILES], zeros[TILES];
};

struct Group {
    uint32_t scales[TILES], zeros[TILES][2];
};

template <typename T, int BITS>
__device__ inline void prepare(Group &group, const Read &read, uint32_t powers) {
    for (int tile = 0; tile < TILES; ++tile) {
        group.scales[tile] = read.scales[tile];
        if constexpr (BY_FLOAT<T, BITS>)
            for (int i = 0; i < 2; ++i) group.zeros[tile][i] = bits_as<uint32_t>(byte_above(read.zeros[tile], i));
        else
            group.zeros[tile][0] = __byte_perm(read.zeros[tile], powers >> 8, 0x4140);
    }
}

// Two weights of a column, `which` of the two that the words have: of 4 bits, those `odd` in their bytes.
template <typename T, int BITS>
__device__ inline uint32_t weights_of(uint32_t word, int which, int odd, const Group &group, int tile, uint32_t powers) {
    const uint32_t scale = twice(group.scales[tile], which);
    if constexpr (BY_FLOAT<T, BITS>) {
        const float zero = bits_as<float>(group.zeros[tile][which]);
        const auto above = [&](int byte) { return T(byte_above(word, byte) - zero); };
        return product<T>(pair_of(above(which), above(which + 2)), scale);
    } else {
        uint32_t codes;
        if constexpr (BITS == 4)
            codes = word >> (8 * which + 4 * odd) & 0x000f000f | powers;
        else
            codes = __byte_perm(word, powers >> 8, 0x4240 | which * 0x0101);
        return product<T>(difference<T>(codes, twice(group.zeros[tile][0], which)), scale);
    }
}

// Two words that are read at once.
struct alignas(8) Pair {
    uint32_t word[2];
};

// Rows beyond the last one are computed from that, and not written.
template <typename T, int BITS, int SIDES, int WARPS>
__global__ void __launch_bounds__(32 * WARPS, RESIDENT)
few_rows(const T *a, const uint8_t *packed, const T *scales, const uint8_t *zeros, T *out, float *partial, int64_t m,
         int64_t n, int groups, int steps, uint32_t powers) {
    constexpr int PER_LINE = 8 / BITS, PRODUCTS = LINES * PER_LINE / TILE, HALF = LINES / 2 * TILES;
    constexpr int STAGE = LINES * TILES;
    __shared__ Words places[WARPS][STAGES * STAGE];
    const int me = threadIdx.x, lane = me % 32, warp = me / 32, four = lane % 4, eight = lane / 4;
    const int64_t first = int64_t(blockIdx.z) * SIDES * SIDE_ROWS, corner = int64_t(blockIdx.x) * COLUMNS;
    const int64_t slice = int64_t(blockIdx.y) * WARPS + warp, slices = int64_t(gridDim.y) * WARPS;
    const int64_t all = int64_t(groups) * steps, k = all * LINES * PER_LINE;
    const int begin = static_cast<int>(all * slice / slices), end = static_cast<int>(all * (slice + 1) / slices);

    // A lane copies 16 bytes of a line, and of the one half a stage further. Where they lie is turned from line to line,
    // so that those that are read together are in banks of their own.
    const uint8_t *source = packed + (int64_t(begin) * LINES + eight) * n + corner + four * TILE;
    Words *const written = places[warp] + eight * TILES + (four ^ eight / 2);
    const Words *const turned = places[warp] + lane % 8 * TILES + (lane / 8 ^ lane % 8 / 2);
    int fetched = begin;
    unsigned into = 0, from = 0;  // where the next stage is copied to, and read from
    const auto fetch = [&] {
        if (fetched < end) {
            copy_later(written + into, source);
            copy_later(written + into + HALF, source + LINES / 2 * n);
        }
        end_of_batch();
        source += LINES * n;
        into = (into + STAGE) % (STAGES * STAGE);
        ++fetched;
    };

    uint32_t sides[SIDES][PRODUCTS][2];
    const T *side_sources[SIDES];
    for (int side = 0; side < SIDES; ++side) {
        const int64_t row = first + side * SIDE_ROWS + eight;
        side_sources[side] = a + (row < m ? row : m - 1) * k + int64_t(begin) * LINES * PER_LINE + (BITS == 4 ? 4 : 2) * four;
    }
    const auto fetch_side = [&](int side, int i) {
        const T *from = side_sources[side] + i * TILE;
        if constexpr (BITS == 4) {
            const Pair pair = *reinterpret_cast<const Pair *>(from);
            for (int j = 0; j < 2; ++j) sides[side][i][j] = pair.word[j];
        } else {
            for (int j = 0; j < 2; ++j) sides[side][i][j] = *reinterpret_cast<const uint32_t *>(from + 8 * j);
        }
    };

    Read read;
    int shared = begin / steps;
    const T *scale_source = scales + shared * n + corner + 2 * eight;
    const uint8_t *zero_source = zeros + shared * n + corner + 2 * eight;
    const auto fetch_group = [&] {
        for (int tile = 0; tile < TILES; ++tile) {
            read.scales[tile] = *reinterpret_cast<const uint32_t *>(scale_source + tile * TILE);
            read.zeros[tile] = *reinterpret_cast<const uint16_t *>(zero_source + tile * TILE);
        }
        if (++shared < groups) {
            scale_source += n;
            zero_source += n;
        }
    };

    float sums[SIDES][TILES][4] = {};
    Group group;
    for (int i = 0; i < STAGES - 1; ++i) fetch();
    if (begin < end) {
        for (int side = 0; side < SIDES; ++side)
            for (int i = 0; i < PRODUCTS; ++i) fetch_side(side, i);
        fetch_group();
    }
    for (int step = begin, until = begin; step < end; ++step) {
        if (step == until) {
            prepare<T, BITS>(group, read, powers);
            until = shared * steps;
            fetch_group();
        }
        await_copies<STAGES - 2>();
        __syncwarp();
        fetch();
        if (step + 1 < end)
            for (int side = 0; side < SIDES; ++side) side_sources[side] += LINES * PER_LINE;
        uint32_t words[2][TILES];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            turned_tiles(words[half], turned + from + half * HALF);
            if (BITS == 8 && !half) continue;  // whose halves are multiplied at once
            const int i = BITS == 4 ? half : 0;
            uint32_t right[SIDES][2];
#pragma unroll
            for (int side = 0; side < SIDES; ++side) {
                for (int j = 0; j < 2; ++j)
                    right[side][j] = BITS == 8 ? sides[side][i][j]
                                               : __byte_perm(sides[side][i][0], sides[side][i][1], j ? 0x7632 : 0x5410);
                fetch_side(side, i);
            }
#pragma unroll
            for (int tile = 0; tile < TILES; ++tile) {
                uint32_t left[4];
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    left[j] = weights_of<T, BITS>(words[BITS == 4 ? i : j / 2][tile], j % 2, j / 2, group, tile, powers);
#pragma unroll
                for (int side = 0; side < SIDES; ++side) multiply_tile<T>(sums[side][tile], left, right[side]);
            }
        }
        from = (from + STAGE) % (STAGES * STAGE);
    }

    // Warps are added up in the places that copies do not need any more.
    await_copies<0>();
#pragma unroll
    for (int side = 0; side < SIDES; ++side) {
        __syncthreads();
        float *mine = reinterpret_cast<float *>(places[warp]);
        for (int tile = 0; tile < TILES; ++tile)
            for (int i = 0; i < 4; ++i)
                mine[(2 * four + i % 2) * COLUMNS + tile * TILE + 2 * eight + i / 2] = sums[side][tile][i];
        __syncthreads();
        for (int i = me; i < SIDE_ROWS * COLUMNS; i += 32 * WARPS) {
            const int64_t row = first + side * SIDE_ROWS + i / COLUMNS, column = corner + i % COLUMNS;
            if (row >= m) continue;
            float total = 0;
            for (int other = 0; other < WARPS; ++other) total += reinterpret_cast<const float *>(places[other])[i];
            if (gridDim.y == 1)
                out[row * n + column] = static_cast<T>(total);
            else
                partial[(blockIdx.y * m + row) * n + column] = total;
        }
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

template <typename T, int BITS, int SIDES, int WARPS>
const char *launch_few_rows(const Call &call) {
    const Tensor *tensors = call.tensors, &out = tensors[4];
    const int64_t m = out.size(0), n = out.size(1), groups = tensors[2].size(0), slices = call.integers[2];
    const int64_t steps = call.integers[1] * BITS / 8 / LINES;
    if (groups * steps > INT32_MAX) return "k is too large";
    float *partial = slices > 1 ? tensors[5].as<float>() : nullptr;
    const dim3 grid(blocks_for(n, COLUMNS), static_cast<unsigned>(slices), blocks_for(m, SIDES * SIDE_ROWS));
    const char *trouble =
        launch(few_rows<T, BITS, SIDES, WARPS>, grid, dim3(32 * WARPS), call.stream, tensors[0].as<const T>(),
               tensors[1].as<const uint8_t>(), tensors[2].as<const T>(), tensors[3].as<const uint8_t>(), out.as<T>(),
               partial, m, n, static_cast<int>(groups), static_cast<int>(steps), POWER<T> * 0x10001);
    if (trouble || !partial) return trouble;
    return launch(add_up<T>, dim3(blocks_for(m * n, 256)), dim3(256), call.stream, static_cast<const float *>(partial),
                  out.as<T>(), m * n, slices);
}

template <typename T, int BITS>
const char *launch_few_rows(const Call &call) {
    return call.tensors[4].size(0) > SIDE_ROWS ? launch_few_rows<T, BITS, 2, LESS_DEEP>(call)
                                               : launch_few_rows<T, BITS, 1, DEEP>(call);
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

// For tensors that are contiguous and aligned, with columns in multiples of COLUMNS, and packed lines of a group in
// those of LINES. The sixth is the workspace of more slices than one.
ENTRY(few_rows, call) {
    return dispatch(Types<Float16, BFloat16>{}, call.tensors[0], [&](auto type) {
        using T = decltype(type);
        return call.integers[0] == 8 ? launch_few_rows<T, 8>(call) : launch_few_rows<T, 4>(call);
    });
}
