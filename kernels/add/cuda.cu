#include "device.hpp"

namespace {

constexpr int THREADS = 256;

template <typename T>
__device__ T sum(T left, T right) {
    return static_cast<T>(wrapping_sum(widened(left), widened(right)));
}

template <typename T>
__global__ void flat(View<const T> x, View<const T> y, T *out, int64_t count) {
    const int64_t i = thread_number();
    if (i < count) out[i] = sum(x.data[x.offset(i, x.rank)], y.data[y.offset(i, y.rank)]);
}

template <typename T>
__global__ void contiguous(const T *x, const T *y, T *out, int64_t count) {
    const int64_t i = thread_number();
    if (i < count) out[i] = sum(x[i], y[i]);
}

// As many elements as one memory transaction of a thread moves.
template <typename T>
struct alignas(16) Pack {
    static constexpr int SIZE = 16 / sizeof(T);

    T elements[SIZE];
};

template <typename T>
__global__ void vectorized(const Pack<T> *x, const Pack<T> *y, Pack<T> *out, int64_t count) {
    constexpr int SIZE = Pack<T>::SIZE;
    const int64_t i = thread_number();
    if (i < count / SIZE) {
        const Pack<T> left = x[i], right = y[i];
        Pack<T> result;
        for (int j = 0; j < SIZE; ++j) result.elements[j] = sum(left.elements[j], right.elements[j]);
        out[i] = result;
    } else if (i == count / SIZE) {
        for (int j = 0; j < count % SIZE; ++j) out[i].elements[j] = sum(x[i].elements[j], y[i].elements[j]);
    }
}

}  // namespace

ENTRY(flat, call) {
    const Tensor &x = call.tensors[0], &y = call.tensors[1], &out = call.tensors[2];
    return dispatch(Numbers{}, out, [&](auto type) {
        using T = decltype(type);
        return launch(flat<T>, blocks_for(out.count(), THREADS), THREADS, call.stream, View<const T>(x),
                      View<const T>(y), out.as<T>(), out.count());
    });
}

ENTRY(contiguous, call) {
    const Tensor &x = call.tensors[0], &y = call.tensors[1], &out = call.tensors[2];
    return dispatch(Numbers{}, out, [&](auto type) {
        using T = decltype(type);
        return launch(contiguous<T>, blocks_for(out.count(), THREADS), THREADS, call.stream, x.as<const T>(),
                      y.as<const T>(), out.as<T>(), out.count());
    });
}

ENTRY(vectorized, call) {
    const Tensor &x = call.tensors[0], &y = call.tensors[1], &out = call.tensors[2];
    return dispatch(Numbers{}, out, [&](auto type) {
        using P = Pack<decltype(type)>;
        return launch(vectorized<decltype(type)>, blocks_for(out.count() / P::SIZE + 1, THREADS), THREADS, call.stream,
                      x.as<const P>(), y.as<const P>(), out.as<P>(), out.count());
    });
}
