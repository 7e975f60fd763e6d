// The kernel that every stand-in for a compiler makes, whatever it was given: it says what it got.
#include "kernel.hpp"

ENTRY(doubled, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    for (int64_t i = 0; i < out.count(); ++i) out.as<float>()[i] = 2 * x.as<const float>()[i];
    *call.tensors[2].as<int64_t>() = reinterpret_cast<int64_t>(call.stream);
}
