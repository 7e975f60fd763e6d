#include "kernel.hpp"

namespace {

float rectified(float value) { return value <= 0 ? 0 : value; }

// The bounds of the loop are right for one more than there are.
ENTRY(one_past_the_end, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    for (int64_t i = 0; i <= out.count(); ++i) {
        const float value = i < out.count() ? x.as<const float>()[x.offset(i)] : 1;
        out.as<float>()[i] = rectified(value);
    }
    return nullptr;
}

// Computes in place, and copies.
ENTRY(input_overwritten, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    for (int64_t i = 0; i < out.count(); ++i) {
        float &value = x.as<float>()[x.offset(i)];
        out.as<float>()[i] = value = rectified(value);
    }
    return nullptr;
}

// Leaves out the rest that does not fill a vector.
ENTRY(rest_unwritten, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    for (int64_t i = 0; i < out.count() / 4 * 4; ++i) out.as<float>()[i] = rectified(x.as<const float>()[x.offset(i)]);
    return nullptr;
}

// Looks for the sign in the last byte, where it is if the bytes are in the little-endian order.
ENTRY(sign_in_the_last_byte, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    for (int64_t i = 0; i < out.count(); ++i) {
        const float *value = x.as<const float>() + x.offset(i);
        const bool negative = reinterpret_cast<const unsigned char *>(value)[3] >> 7;
        out.as<float>()[i] = negative ? 0 : *value;
    }
    return nullptr;
}

// Takes a plain char for a signed one, which it is not everywhere.
ENTRY(char_taken_for_signed, call) {
    const Tensor &x = call.tensors[0], &out = call.tensors[1];
    for (int64_t i = 0; i < out.count(); ++i) {
        const char value = x.as<const char>()[x.offset(i)];
        out.as<char>()[i] = value > 0 ? value : 0;
    }
    return nullptr;
}

}  // namespace
