#include "device.hpp"

namespace {

template <typename T>
__global__ void doubled(const T *x, T *out, int64_t count) {
    const int64_t i = thread_number();
    if (i < count) out[i] = static_cast<T>(wrapping_sum(widened(x[i]), widened(x[i])));
}

}  // namespace

ENTRY(doubled, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return dispatch(Types<double, float, Float16, BFloat16, int64_t, int32_t, int8_t, uint8_t>{}, x, [&](auto type) {
        using T = decltype(type);
        return launch(doubled<T>, 1, 32, call.stream, x.as<const T>(), out.as<T>(), out.count());
    });
}
