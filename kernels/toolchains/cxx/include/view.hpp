// A tensor as kernels of a device get it.
#pragma once

#include "kernel.hpp"

constexpr int AXES = 4;  // that a view can tell apart

// A tensor as a kernel gets it: by value, since sizes and strides lie on the host.
template <typename T>
struct View {
    T *data;
    int rank;
    int64_t sizes[AXES], strides[AXES];

    __host__ explicit View(const Tensor &tensor) : data(tensor.as<T>()), rank(static_cast<int>(tensor.rank)) {
        for (int axis = 0; axis < rank; ++axis) {
            sizes[axis] = tensor.sizes[axis];
            strides[axis] = tensor.strides[axis];
        }
    }

    // Where the element numbered `index` lies, in row-major order over the first `axes` axes, in elements.
    __host__ __device__ int64_t offset(int64_t index, int axes) const {
        int64_t place = 0;
        for (int axis = axes - 1; axis >= 0; --axis) {
            place += index % sizes[axis] * strides[axis];
            index /= sizes[axis];
        }
        return place;
    }

    __host__ __device__ int64_t size(int from_last) const { return sizes[rank - from_last]; }

    __host__ __device__ int64_t stride(int from_last) const { return strides[rank - from_last]; }
};
