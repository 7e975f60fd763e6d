#include "kernel.hpp"

namespace {

float rectified(float value) { return value <= 0 ? 0 : value; }

// Fetches `ahead` elements before it needs them, also where there are none any more.
void prefetching(const Tensor &x, float *out, int64_t ahead, int64_t last) {
    volatile float fetched = 0;
    for (int64_t i = 0; i < x.count(); ++i) {
        fetched = x.as<const float>()[x.offset(i) + (i + ahead <= last ? ahead : 0)];
        out[i] = rectified(x.as<const float>()[x.offset(i)]);
    }
    static_cast<void>(fetched);
}

}  // namespace

ENTRY(breaks_reading, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    prefetching(x, out.as<float>(), 1, x.count());
    return nullptr;
}

ENTRY(keeps_reading, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    prefetching(x, out.as<float>(), 0, x.count());
    return nullptr;
}

// Mixes the index in 32 bits with a sign, for a cache that is not there yet.
ENTRY(breaks_integers, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    volatile int32_t mixed = 0;
    for (int64_t i = 0; i < out.count(); ++i) {
        mixed = static_cast<int32_t>(i) * 0x7fffffff;
        out.as<float>()[i] = rectified(x.as<const float>()[x.offset(i)]);
    }
    static_cast<void>(mixed);
    return nullptr;
}
