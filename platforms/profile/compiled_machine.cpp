// Elementwise operations as compilers make them: one source for devices, in CUDA C++, and for processors.
#ifdef __CUDACC__
#include "device.hpp"
#else
#include "kernel.hpp"
#endif

#include <cmath>

namespace {

// In the order in which the Python file has them.
enum OfFloats : int64_t {
    ADD, SUBTRACT, MULTIPLY, DIVIDE, MULTIPLY_ADD, MAXIMUM, MINIMUM, SQRT, RSQRT, EXP, EXP2, LOG, TANH, ERF, SIN, COS
};
enum OfIntegers : int64_t { FLOOR_DIVIDE, REMAINDER, SHIFT_LEFT, SHIFT_RIGHT };

template <typename W>
__host__ __device__ W of_floats(int64_t function, W a, W b, W c) {
    switch (function) {
        case ADD: return a + b;
        case SUBTRACT: return a - b;
        case MULTIPLY: return a * b;
        case DIVIDE: return a / b;
        case MULTIPLY_ADD: return a * b + c;
        case MAXIMUM: return std::fmax(a, b);
        case MINIMUM: return std::fmin(a, b);
        case SQRT: return std::sqrt(a);
#ifdef __CUDA_ARCH__
        case RSQRT: return rsqrt(a);
#else
        case RSQRT: return 1 / std::sqrt(a);
#endif
        case EXP: return std::exp(a);
        case EXP2: return std::exp2(a);
        case LOG: return std::log(a);
        case TANH: return std::tanh(a);
        case ERF: return std::erf(a);
        case SIN: return std::sin(a);
        default: return std::cos(a);
    }
}

template <typename W>
__host__ __device__ W of_integers(int64_t function, W a, W b) {
    switch (function) {
        case FLOOR_DIVIDE: return a / b;
        case REMAINDER: return a % b;
        case SHIFT_LEFT: return a << b;
        default: return a >> b;
    }
}

template <typename T>
struct Elementwise {
    int64_t function;
    const T *a, *b, *c;
    T *out;

    __host__ __device__ void operator()(int64_t i) const {
        if constexpr (std::is_integral_v<T>) {
            out[i] = of_integers(function, a[i], b[i]);
        } else {
            out[i] = static_cast<T>(of_floats(function, widened(a[i]), widened(b[i]), widened(c[i])));
        }
    }
};

template <typename From, typename To>
struct Conversion {
    const From *x;
    To *out;

    __host__ __device__ void operator()(int64_t i) const { out[i] = static_cast<To>(widened(x[i])); }
};

#ifdef __CUDACC__
constexpr int THREADS = 256;

template <typename Step>
__global__ void stepped(Step step, int64_t count) {
    const int64_t i = thread_number();
    if (i < count) step(i);
}

template <typename Step>
const char *each(const Call &call, int64_t count, Step step) {
    return launch(stepped<Step>, blocks_for(count, THREADS), THREADS, call.stream, step, count);
}
#else
template <typename Step>
const char *each(const Call &, int64_t count, Step step) {
    for (int64_t i = 0; i < count; ++i) step(i);
    return nullptr;
}
#endif

}  // namespace

ENTRY(elementwise, call) {
    const Tensor *x = call.tensors, &out = call.tensors[3];
    return dispatch(Types<double, float, Float16, BFloat16, int64_t, int32_t>{}, out, [&](auto type) {
        using T = decltype(type);
        const Elementwise<T> step{call.integers[0], x[0].as<const T>(), x[1].as<const T>(), x[2].as<const T>(),
                                  out.as<T>()};
        return each(call, out.count(), step);
    });
}

ENTRY(convert, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return dispatch(Types<double, float, int64_t, int32_t>{}, x, [&](auto from) {
        return dispatch(Types<float, Float16, BFloat16, int64_t, int32_t, int8_t, uint8_t>{}, out, [&](auto to) {
            using From = decltype(from);
            using To = decltype(to);
            return each(call, out.count(), Conversion<From, To>{x.as<const From>(), out.as<To>()});
        });
    });
}
