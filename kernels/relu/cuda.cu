#include "device.hpp"

namespace {

constexpr int THREADS = 256;

// Not a maximum, which may drop a NaN: the comparison with one is false and keeps it.
template <typename T>
__device__ T rectified(T value) {
    return widened(value) <= 0 ? static_cast<T>(Wide<T>(0)) : value;
}

template <typename T>
__global__ void flat(View<const T> x, T *out, int64_t count) {
    const int64_t i = thread_number();
    if (i < count) out[i] = rectified(x.data[x.offset(i, x.rank)]);
}

template <typename T>
__global__ void contiguous(const T *x, T *out, int64_t count) {
    const int64_t i = thread_number();
    if (i < count) out[i] = rectified(x[i]);
}

// As many elements as one memory transaction of a thread moves.
template <typename T>
struct alignas(16) Pack {
    static constexpr int SIZE = 16 / sizeof(T);

    T elements[SIZE];
};

template <typename T>
__global__ void vectorized(const Pack<T> *x, Pack<T> *out, int64_t count) {
    constexpr int SIZE = Pack<T>::SIZE;
    const int64_t i = thread_number();
    if (i < count / SIZE) {
        Pack<T> values = x[i];
        for (int j = 0; j < SIZE; ++j) values.elements[j] = rectified(values.elements[j]);
        out[i] = values;
    } else if (i == count / SIZE) {
        for (int j = 0; j < count % SIZE; ++j) out[i].elements[j] = rectified(x[i].elements[j]);
    }
}

}  // namespace

ENTRY(flat, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return dispatch(Numbers{}, x, [&](auto type) {
        using T = decltype(type);
        return launch(flat<T>, blocks_for(out.count(), THREADS), THREADS, call.stream, View<const T>(x), out.as<T>(),
                      out.count());
    });
}

ENTRY(contiguous, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return dispatch(Numbers{}, x, [&](auto type) {
        using T = decltype(type);
        return launch(contiguous<T>, blocks_for(out.count(), THREADS), THREADS, call.stream, x.as<const T>(),
                      out.as<T>(), out.count());
    });
}

ENTRY(vectorized, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return dispatch(Numbers{}, x, [&](auto type) {
        using P = Pack<decltype(type)>;
        return launch(vectorized<decltype(type)>, blocks_for(out.count() / P::SIZE + 1, THREADS), THREADS, call.stream,
                      x.as<const P>(), out.as<P>(), out.count());
    });
}
