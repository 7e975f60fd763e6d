// What a device has beside its threads: units that multiply tiles, pairs of narrow numbers, copies that go on alone.
//
// On a processor the lanes of a warp compute a tile together, and fibers make the copies. Kernels that use matrix units
// declare it; devices older than compute capability 8.0 have none for both narrow types, and stop.
#pragma once

#include "device.hpp"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define PORTOLAN_UNITS 1
#endif

// 16 bytes, which are copied at once.
struct alignas(16) Words {
    uint32_t word[4];
};

// Two numbers in a word, the first in its low half.
template <typename T>
__device__ inline uint32_t pair_of(T first, T second) {
    return first.bits | uint32_t(second.bits) << 16;
}

template <typename T>
__device__ inline T half_of(uint32_t pair, int which) {
    T half;
    half.bits = static_cast<uint16_t>(pair >> 16 * which);
    return half;
}

// The pair of what `combine` makes, in float, of both first and of both second numbers.
template <typename T, typename Combine>
__device__ inline uint32_t combined(uint32_t left, uint32_t right, Combine combine) {
    const auto at = [&](int which) {
        return T(combine(widened(half_of<T>(left, which)), widened(half_of<T>(right, which))));
    };
    return pair_of(at(0), at(1));
}

// One of the numbers of a pair, twice: operations on pairs take it from there without an instruction more.
__device__ inline uint32_t twice(uint32_t pair, int which) {
#ifdef PORTOLAN_UNITS
    uint32_t result;
    if (which)
        asm("{.reg .b16 low, high; mov.b32 {low, high}, %1; mov.b32 %0, {high, high};}" : "=r"(result) : "r"(pair));
    else
        asm("{.reg .b16 low, high; mov.b32 {low, high}, %1; mov.b32 %0, {low, low};}" : "=r"(result) : "r"(pair));
    return result;
#else
    return (pair >> 16 * which & 0xffff) * 0x10001;
#endif
}

template <typename T>
__device__ inline uint32_t difference(uint32_t left, uint32_t right) {
#ifdef PORTOLAN_UNITS
    if constexpr (std::is_same_v<T, Float16>)
        return bits_as<uint32_t>(__hsub2(bits_as<__half2>(left), bits_as<__half2>(right)));
    else
        return bits_as<uint32_t>(__hsub2(bits_as<__nv_bfloat162>(left), bits_as<__nv_bfloat162>(right)));
#else
    return combined<T>(left, right, [](float x, float y) { return x - y; });
#endif
}

template <typename T>
__device__ inline uint32_t product(uint32_t left, uint32_t right) {
#ifdef PORTOLAN_UNITS
    if constexpr (std::is_same_v<T, Float16>)
        return bits_as<uint32_t>(__hmul2(bits_as<__half2>(left), bits_as<__half2>(right)));
    else
        return bits_as<uint32_t>(__hmul2(bits_as<__nv_bfloat162>(left), bits_as<__nv_bfloat162>(right)));
#else
    return combined<T>(left, right, [](float x, float y) { return x * y; });
#endif
}

// Adds the product of a tile of 16 by 16 with one of 16 by 8 to `sums`, all of them spread over the lanes of a warp as
// PTX says of mma.m16n8k16: lane 4 * g + t has of the sums rows g and g + 8, columns 2 * t and 2 * t + 1; of the left
// tile the same rows, columns 2 * t, 2 * t + 1 and those eight further; of the right one these as rows, and column g.
template <typename T>
__device__ inline void multiply_tile(float (&sums)[4], const uint32_t (&left)[4], const uint32_t (&right)[2]) {
#ifdef PORTOLAN_UNITS
    if constexpr (std::is_same_v<T, Float16>)
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
            : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
    else
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
            : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
#elif defined(__CUDACC__) || defined(__HIP__)
    __trap();
#else
    struct Held {
        uint32_t left[4], right[2];
    };
    __shared__ Held held[32][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = 0; i < 4; ++i) held[warp][lane].left[i] = left[i];
    for (int i = 0; i < 2; ++i) held[warp][lane].right[i] = right[i];
    __syncwarp();
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 16; ++k) {
            const int row = i / 2, column = lane % 4 * 2 + i % 2, at = k % 8 / 2;
            const uint32_t x = held[warp][lane / 4 * 4 + at].left[k / 8 * 2 + row];
            const uint32_t y = held[warp][column * 4 + at].right[k / 8];
            sums[i] += widened(half_of<T>(x, k % 2)) * widened(half_of<T>(y, k % 2));
        }
    __syncwarp();
#endif
}

// Reads four tiles of 8 lines of 16 bytes, line `lane % 8` of tile `lane / 8` from the address that the lane gives, in
// shared memory. Lane 4 * g + t gets of each tile the two bytes numbered g, of line 2 * t in the low half of a word and of
// the next line in the high half.
__device__ inline void turned_tiles(uint32_t (&words)[4], const void *line) {
#ifdef PORTOLAN_UNITS
    const auto place = static_cast<uint32_t>(__cvta_generic_to_shared(line));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(place)
                 : "memory");
#elif defined(__CUDACC__) || defined(__HIP__)
    __trap();
#else
    __shared__ const uint16_t *lines[32][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    lines[warp][lane] = static_cast<const uint16_t *>(line);
    __syncwarp();
    for (int tile = 0; tile < 4; ++tile) {
        const uint16_t *const *pair = lines[warp] + 8 * tile + lane % 4 * 2;
        words[tile] = pair[0][lane / 4] | uint32_t(pair[1][lane / 4]) << 16;
    }
    __syncwarp();
#endif
}

// Copies 16 bytes, aligned, into shared memory. They are there when `await_copies` says so of the batch of copies that
// `end_of_batch` ends. The device may read more of what follows, which it keeps for the next ones.
__device__ inline void copy_later(void *shared, const void *global) {
#ifdef PORTOLAN_UNITS
    const auto place = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(place), "l"(global));
#elif defined(__CUDACC__) || defined(__HIP__)
    __trap();
#else
    fibers::block.copy(shared, global, 16);
#endif
}

__device__ inline void end_of_batch() {
#ifdef PORTOLAN_UNITS
    asm volatile("cp.async.commit_group;" ::: "memory");
#elif !defined(__CUDACC__) && !defined(__HIP__)
    fibers::block.end_batch();
#endif
}

// Waits until at most `LATER` of this thread's batches are on their way.
template <int LATER>
__device__ inline void await_copies() {
#ifdef PORTOLAN_UNITS
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
#elif !defined(__CUDACC__) && !defined(__HIP__)
    fibers::block.await(LATER);
#endif
}
