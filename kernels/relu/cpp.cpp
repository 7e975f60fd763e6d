#include "kernel.hpp"

namespace {

// Not a maximum, which may drop a NaN: the comparison with one is false and keeps it.
template <typename T>
T rectified(T value) {
    return widened(value) <= 0 ? static_cast<T>(Wide<T>(0)) : value;
}

template <typename T>
void flat(const Tensor &x, T *out, int64_t count) {
    for (int64_t i = 0; i < count; ++i) out[i] = rectified(x.as<const T>()[x.offset(i)]);
}

template <typename T>
void contiguous(const T *x, T *__restrict out, int64_t count) {
    for (int64_t i = 0; i < count; ++i) out[i] = rectified(x[i]);
}

}  // namespace

ENTRY(flat, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return dispatch(Numbers{}, x, [&](auto type) { flat(x, out.as<decltype(type)>(), out.count()); });
}

ENTRY(contiguous, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return dispatch(Numbers{}, x, [&](auto type) {
        using T = decltype(type);
        contiguous(x.as<const T>(), out.as<T>(), out.count());
    });
}
