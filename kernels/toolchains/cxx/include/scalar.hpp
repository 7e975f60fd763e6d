// The element types that kernels are written over, and the wide type that each is computed in.
//
// float16 and bfloat16 are bits here, and convert by integer arithmetic, to nearest even: compilers of C++17 have no
// such types that all targets share. Devices have instructions for it.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#ifndef __host__
#define __host__
#define __device__
#endif

template <typename To, typename From>
__host__ __device__ inline To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From), "a cast of bits keeps their number");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

// Bits of `value` without the last `count`, rounded to nearest even.
__host__ __device__ inline uint32_t rounded_off(uint32_t value, int count) {
    return (value + (1u << (count - 1)) - 1 + (value >> count & 1)) >> count;
}

struct Float16 {
    uint16_t bits;

    Float16() = default;

    __host__ __device__ explicit Float16(float value) {
#ifdef __CUDA_ARCH__
        bits = __half_as_ushort(__float2half_rn(value));
#else
        const uint32_t all = bits_as<uint32_t>(value), magnitude = all & 0x7fffffff;
        bits = static_cast<uint16_t>((all >> 16 & 0x8000) | rounded(magnitude));
#endif
    }

    __host__ __device__ operator float() const {
#ifdef __CUDA_ARCH__
        return __half2float(__ushort_as_half(bits));
#else
        const uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, significand = bits & 1023;
        if (exponent == 0) {
            const float size = static_cast<float>(significand) * 0x1p-24f;
            return sign ? -size : size;
        }
        const uint32_t wide = exponent == 31 ? 255 : exponent + 112;
        return bits_as<float>(sign | wide << 23 | significand << 13);
#endif
    }

   private:
    __host__ __device__ static uint32_t rounded(uint32_t magnitude) {
        if (magnitude > 0x7f800000) return 0x7e00;   // a NaN
        if (magnitude >= 0x477ff000) return 0x7c00;  // 65520 and more: infinity
        if (magnitude <= 0x33000000) return 0;       // up to half of the smallest subnormal number
        if (magnitude >= 0x38800000) return rounded_off(magnitude - (112u << 23), 13);
        return rounded_off((magnitude & 0x7fffff) | 0x800000, 126 - static_cast<int>(magnitude >> 23));
    }
};

struct BFloat16 {
    uint16_t bits;

    BFloat16() = default;

    __host__ __device__ explicit BFloat16(float value) {
#ifdef __CUDA_ARCH__
        bits = __bfloat16_as_ushort(__float2bfloat16_rn(value));
#else
        const uint32_t all = bits_as<uint32_t>(value);
        const bool is_nan = (all & 0x7fffffff) > 0x7f800000;
        bits = static_cast<uint16_t>(is_nan ? (all >> 16) | 0x40 : rounded_off(all, 16));
#endif
    }

    __host__ __device__ operator float() const { return bits_as<float>(static_cast<uint32_t>(bits) << 16); }
};

template <typename T>
struct WideOf {
    using type = T;
};
template <>
struct WideOf<Float16> {
    using type = float;
};
template <>
struct WideOf<BFloat16> {
    using type = float;
};

// What contracts compute T in: float for narrower ones.
template <typename T>
using Wide = typename WideOf<T>::type;

template <typename T>
__host__ __device__ inline Wide<T> widened(T value) {
    return static_cast<Wide<T>>(value);
}

// Addition in which integers wrap around; that of signed ones is undefined in C++ where it overflows.
template <typename W>
__host__ __device__ inline W wrapping_sum(W left, W right) {
    if constexpr (std::is_integral_v<W>) {
        using Unsigned = std::make_unsigned_t<W>;
        return static_cast<W>(static_cast<Unsigned>(left) + static_cast<Unsigned>(right));
    } else {
        return left + right;
    }
}
