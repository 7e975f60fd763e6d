#include "kernel.hpp"

ENTRY(doubled, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    return dispatch(Types<double, float, Float16, BFloat16, int64_t, int32_t, int8_t, uint8_t>{}, x, [&](auto type) {
        using T = decltype(type);
        for (int64_t i = 0; i < out.count(); ++i) {
            const auto value = widened(x.as<const T>()[i]);
            out.as<T>()[i] = static_cast<T>(wrapping_sum(value, value));
        }
    });
}
