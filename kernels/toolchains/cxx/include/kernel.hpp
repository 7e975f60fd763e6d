// How a kernel in C++ is called: by one C function for each, which gets tensors as pointers, sizes and strides.
//
//     ENTRY(flat, call) {
//         return dispatch(Floats{}, call.tensors[0], [&](auto type) { flat<decltype(type)>(call.tensors[0], ...); });
//     }
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scalar.hpp"

enum class DType : int64_t { float64, float32, float16, bfloat16, int64, int32, int8, uint8 };

// Strides are in elements, may be 0, and belong to memory that the kernel neither owns nor keeps.
struct Tensor {
    void *data;
    DType dtype;
    int64_t rank;
    const int64_t *sizes;
    const int64_t *strides;

    template <typename T>
    T *as() const {
        return static_cast<T *>(data);
    }

    int64_t size(int64_t axis) const { return sizes[axis < 0 ? rank + axis : axis]; }

    int64_t stride(int64_t axis) const { return strides[axis < 0 ? rank + axis : axis]; }

    // The number of elements in the first `axes` axes.
    int64_t count(int64_t axes) const {
        int64_t product = 1;
        for (int64_t axis = 0; axis < axes; ++axis) product *= sizes[axis];
        return product;
    }

    int64_t count() const { return count(rank); }

    // Where the element numbered `index` lies, in row-major order over the first `axes` axes, in elements.
    int64_t offset(int64_t index, int64_t axes) const {
        int64_t place = 0;
        for (int64_t axis = axes - 1; axis >= 0; --axis) {
            place += index % sizes[axis] * strides[axis];
            index /= sizes[axis];
        }
        return place;
    }

    int64_t offset(int64_t index) const { return offset(index, rank); }
};

// Parameters stand in the order in which the Python file lists them; the stream is a device's, and null elsewhere.
struct Call {
    const Tensor *tensors;
    const int64_t *integers;
    const double *reals;
    void *stream;
};

// Returns what went wrong, or null.
using Function = const char *(const Call &);

// Calls `function` as words of 64 bits say, which follow one another: the stream; how many tensors there are, and of each
// its address, dtype, rank, sizes and strides; how many integers there are, and these; reals.
inline const char *called(Function *function, const int64_t *words) {
    void *stream = reinterpret_cast<void *>(*words++);
    std::vector<Tensor> tensors(static_cast<size_t>(*words++));
    for (Tensor &tensor : tensors) {
        const int64_t rank = words[2];
        tensor = {reinterpret_cast<void *>(words[0]), static_cast<DType>(words[1]), rank, words + 3, words + 3 + rank};
        words += 3 + 2 * rank;
    }
    const int64_t *integers = words + 1;
    return function({tensors.data(), integers, reinterpret_cast<const double *>(integers + *words), stream});
}

// A program for an emulator has no dynamic symbols, and finds its kernels in this list.
struct Entry {
    const char *name;
    Function *function;
    const Entry *next;

    static inline const Entry *first = nullptr;

    Entry(const char *name, Function *function) : name(name), function(function), next(first) { first = this; }
};

#define ENTRY(name, call)                                                                                   \
    static const char *run_##name(const Call &);                                                            \
    static const Entry entry_##name(#name, run_##name);                                                     \
    extern "C" const char *kernel_##name(const int64_t *words) { return called(run_##name, words); }        \
    static const char *run_##name([[maybe_unused]] const Call &call)

template <typename T>
constexpr DType dtype_of = DType::float64;
template <>
constexpr DType dtype_of<float> = DType::float32;
template <>
constexpr DType dtype_of<Float16> = DType::float16;
template <>
constexpr DType dtype_of<BFloat16> = DType::bfloat16;
template <>
constexpr DType dtype_of<int64_t> = DType::int64;
template <>
constexpr DType dtype_of<int32_t> = DType::int32;
template <>
constexpr DType dtype_of<int8_t> = DType::int8;
template <>
constexpr DType dtype_of<uint8_t> = DType::uint8;

template <typename... T>
struct Types {};

using Floats = Types<double, float, Float16, BFloat16>;
using Numbers = Types<double, float, Float16, BFloat16, int64_t, int32_t, int8_t>;

template <typename Run, typename T>
const char *trouble_of(Run &run, T type) {
    if constexpr (std::is_void_v<decltype(run(type))>) {
        run(type);
        return nullptr;
    } else {
        return run(type);
    }
}

// Calls `run` with a value of the type that `like` holds. Returns what `run` does, if anything, or what is wrong if
// that type is none of `Types`.
template <typename... T, typename Run>
const char *dispatch(Types<T...>, const Tensor &like, Run run) {
    const char *trouble = "the kernel is not compiled for tensors of this dtype";
    static_cast<void>(((like.dtype == dtype_of<T> && (trouble = trouble_of(run, T{}), true)) || ...));
    return trouble;
}
