#include "kernel.hpp"

namespace {

template <typename T>
void flat(const Tensor &x, const Tensor &y, const Tensor &out) {
    const int64_t count = out.count();
    for (int64_t i = 0; i < count; ++i) {
        const auto left = widened(x.as<const T>()[x.offset(i)]), right = widened(y.as<const T>()[y.offset(i)]);
        out.as<T>()[i] = static_cast<T>(wrapping_sum(left, right));
    }
}

template <typename T>
void contiguous(const T *x, const T *y, T *__restrict out, int64_t count) {
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(wrapping_sum(widened(x[i]), widened(y[i])));
}

}  // namespace

ENTRY(flat, call) {
    const Tensor &x = call.tensors[0], &y = call.tensors[1], &out = call.tensors[2];
    return dispatch(Numbers{}, out, [&](auto type) { flat<decltype(type)>(x, y, out); });
}

ENTRY(contiguous, call) {
    const Tensor &x = call.tensors[0], &y = call.tensors[1], &out = call.tensors[2];
    return dispatch(Numbers{}, out, [&](auto type) {
        using T = decltype(type);
        contiguous(x.as<const T>(), y.as<const T>(), out.as<T>(), out.count());
    });
}
