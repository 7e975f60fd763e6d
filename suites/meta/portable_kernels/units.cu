#include "units.hpp"

namespace {

__global__ void one_tile(const uint32_t *left, const uint32_t *right, float *out) {
    float sums[4] = {};
    const uint32_t lefts[4] = {left[threadIdx.x], left[threadIdx.x + 32], left[threadIdx.x + 64], left[threadIdx.x + 96]};
    const uint32_t rights[2] = {right[threadIdx.x], right[threadIdx.x + 32]};
    multiply_tile<Float16>(sums, lefts, rights);
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = sums[i];
}

}  // namespace

ENTRY(units, call) {
    return launch(one_tile, 1, 32, call.stream, call.tensors[0].as<const uint32_t>(),
                  call.tensors[1].as<const uint32_t>(), call.tensors[2].as<float>());
}
