// BANG C on a processor: the part of it that the kernels here use, to find faults without a card. No result of it is one
// of an MLU.
//
// What is checked, with an error that names the function and the rule:
// - Vectors lie in NRAM at multiples of 64 bytes and are of whole lots of 128 bytes, as sources for the 2xx architectures
//   pad them. Later ones are said to take more; what keeps to this runs on all.
// - What is copied lies in the memories that the direction says; the second operand of a product lies in WRAM, in the
//   layout that __bang_reshape_filter makes, and has rows of whole 64 bytes and a multiple of 64 of these.
// - All NRAM that a source declares fits 512 KiB (MLU220, MLU270; MLU370 has 768), without 128 KiB that Cambricon's own
//   operators leave to cncc; WRAM, 512 KiB (MLU220). What runs out of an array into the next is not seen; what runs out
//   of all of them is.
// - NRAM and WRAM hold nothing when a task begins: all bits are ones, NaN in every type, and what was not written may be
//   computed with, but not stored, reduced or multiplied. The scalar unit's own reads see the ones and no error; what it
//   writes is known by its being something else.
// - No task reads or writes GDRAM that another task of the launch writes, by __memcpy. Tasks run one after another, in
//   the order that PORTOLAN_TASKS says: forward, reversed or shuffled.
//
// What is not known, and not checked: in which layout a card holds a filter; how precise its exp and products are; what
// a maximum makes of a NaN (here it is dropped) and relu (here it stays); whether it flushes subnormal numbers; limits of
// sizes, segments and strides; operands that overlap. There is no SRAM, no barrier and no asynchronous copy.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "scalar.hpp"

#define __mlu_global__
#define __nram__ static __attribute__((section("nram"), aligned(64)))
#define __wram__ static __attribute__((section("wram"), aligned(64)))

using half = Float16;
using bfloat16_t = BFloat16;

enum mluMemcpyDirection_t { GDRAM2NRAM, NRAM2GDRAM, NRAM2NRAM, NRAM2WRAM };

static int taskId, taskDim, clusterId, clusterDim, coreId, coreDim;

// Where the linker puts what is declared __nram__ or __wram__; none where nothing is.
extern "C" {
extern char __start_nram[] __attribute__((weak, visibility("hidden")));
extern char __stop_nram[] __attribute__((weak, visibility("hidden")));
extern char __start_wram[] __attribute__((weak, visibility("hidden")));
extern char __stop_wram[] __attribute__((weak, visibility("hidden")));
}

namespace shim {

// Of this source alone: compilers would let all libraries of a process share what is inline, whatever each was built of.
namespace {

constexpr int CLUSTERS = 2, CORES = 4;
constexpr size_t KIB = 1024, ALIGNMENT = 64, WHOLE = 128;
constexpr uint8_t ONES = 0xff;

[[noreturn]] void broken(const std::string &function, const std::string &rule) {
    throw std::runtime_error(function + ": " + rule);
}

enum State : uint8_t { unwritten, written, filter };

// One of a core's memories, with what each byte of it holds.
struct Memory {
    const char *name;
    char *begin, *end;
    size_t limit;
    std::vector<uint8_t> states;

    bool holds(const void *place) const { return begin <= place && place < end; }

    uint8_t *states_of(const void *place) { return states.data() + (static_cast<const char *>(place) - begin); }

    void clear() {
        if (begin != end) memset(begin, ONES, end - begin);
        states.assign(end - begin, unwritten);
    }

    void check() const {
        const size_t declared = end - begin;
        if (declared > limit)
            broken(name, std::to_string(declared) + " bytes are declared, and there are " + std::to_string(limit));
    }

    // Returns the states of `bytes` from `place`.
    uint8_t *inside(const std::string &function, const char *operand, const void *place, size_t bytes) {
        const std::string what = operand;
        if (!holds(place)) broken(function, what + " must lie in " + name);
        if (const size_t left = end - static_cast<const char *>(place); bytes > left)
            broken(function, what + " ends " + std::to_string(bytes - left) + " bytes beyond " + name);
        return states_of(place);
    }
};

Memory nram{"NRAM", __start_nram, __stop_nram, 384 * KIB, {}}, wram{"WRAM", __start_wram, __stop_wram, 512 * KIB, {}};

// Who has used a byte of GDRAM in this launch: a task, or none, or several.
struct Users {
    static constexpr int NONE = -1, SEVERAL = -2;
    int writer = NONE, reader = NONE;
};

std::unordered_map<const char *, Users> gdram;

void used(const char *place, size_t bytes, bool writes) {
    for (const char *end = place + bytes; place < end; ++place) {
        Users &users = gdram[place];
        const bool written_by_another = users.writer != Users::NONE && users.writer != taskId;
        const bool read_by_another = writes && users.reader != Users::NONE && users.reader != taskId;
        if (written_by_another || read_by_another)
            broken("__memcpy", std::string("task ") + std::to_string(taskId) + (writes ? " writes" : " reads") +
                                   " GDRAM that another task of the launch " + (written_by_another ? "writes" : "reads") +
                                   "; tasks run in any order");
        if (writes) {
            users.writer = taskId;
        } else {
            users.reader = users.reader == Users::NONE || users.reader == taskId ? taskId : Users::SEVERAL;
        }
    }
}

// Whether an element, or a part of one, was written: by a function or by the scalar unit, which leaves no other trace than
// bits that are not all ones.
bool known(const void *place, const uint8_t *states, size_t bytes) {
    const auto *values = static_cast<const uint8_t *>(place);
    bool some_unwritten = false;
    for (size_t i = 0; i < bytes; ++i) {
        if (states[i] == filter) return false;
        if (states[i] == unwritten && values[i] != ONES) return true;
        some_unwritten |= states[i] == unwritten;
    }
    return !some_unwritten;
}

void all_written(const std::string &function, const char *operand, const void *place, size_t bytes) {
    constexpr size_t WORD = 4;
    const char *const begin = static_cast<const char *>(place), *const end = begin + bytes;
    for (const char *at = begin, *next; at < end; at = next) {
        next = std::min(at + WORD - reinterpret_cast<uintptr_t>(at) % WORD, end);
        if (!known(at, nram.states_of(at), next - at))
            broken(function, std::string(operand) + " has NRAM that this task has not written, from byte " +
                                 std::to_string(at - begin));
    }
}

// Returns the states of a vector.
template <typename T>
uint8_t *vector(const std::string &function, const char *operand, const T *place, int64_t count) {
    const size_t bytes = count * sizeof(T);
    uint8_t *states = nram.inside(function, operand, place, bytes);
    if (const size_t over = reinterpret_cast<uintptr_t>(place) % ALIGNMENT)
        broken(function, std::string(operand) + " must lie at a multiple of 64 bytes, not " + std::to_string(over) +
                             " beyond one");
    if (bytes % WHOLE)
        broken(function, std::to_string(count) + " elements of " + operand + " are " + std::to_string(bytes) +
                             " bytes, which must be a multiple of 128");
    return states;
}

// Writes `compute` of the sources' elements to those of `to`. What comes of unwritten elements is unwritten.
template <typename To, typename Compute, typename... From>
void elementwise(const char *function, To *to, int64_t count, Compute compute, const From *...from) {
    uint8_t *result = vector(function, "dst", to, count);
    const auto run = [&](auto *...states) {
        for (int64_t i = 0; i < count; ++i) {
            const bool whole = (known(from + i, states + i * sizeof *from, sizeof *from) && ...);
            to[i] = compute(from[i]...);
            if (!whole) memset(static_cast<void *>(to + i), ONES, sizeof(To));
            memset(result + i * sizeof(To), whole ? written : unwritten, sizeof(To));
        }
    };
    run(vector(function, "src", from, count)...);
}

// Reduces windows of `width` rows of `channels` elements to one row.
template <typename T, typename Combine>
void pool(const char *function, T *to, const T *from, int channels, int height, int width, int window_height,
          int window_width, Combine combine) {
    if (height != 1 || window_height != 1 || window_width != width)
        broken(function, "the shim knows windows as large as one row of the image");
    vector(function, "src", from, int64_t(channels) * width);
    all_written(function, "src", from, sizeof(T) * channels * width);
    uint8_t *result = vector(function, "dst", to, channels);
    for (int channel = 0; channel < channels; ++channel) {
        T value = from[channel];
        for (int i = 1; i < width; ++i) value = combine(value, from[i * channels + channel]);
        to[channel] = value;
    }
    memset(result, written, sizeof(T) * channels);
}

std::vector<int> order_of_tasks(int count) {
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    const char *asked = getenv("PORTOLAN_TASKS");
    const std::string named = asked ? asked : "forward";
    if (named == "reversed") std::reverse(order.begin(), order.end());
    if (named == "shuffled") std::shuffle(order.begin(), order.end(), std::mt19937(0));
    return order;
}

}  // namespace
}  // namespace shim

static inline void __memcpy(void *dst, const void *src, size_t size, mluMemcpyDirection_t direction, size_t dst_stride,
                            size_t src_stride, int segments_but_one) {
    using namespace shim;
    static const char *const names[] = {"GDRAM2NRAM", "NRAM2GDRAM", "NRAM2NRAM", "NRAM2WRAM"};
    const std::string function = std::string("__memcpy ") + names[direction];
    const auto outside = [&](const char *operand, const void *place) {
        if (nram.holds(place) || wram.holds(place)) broken(function, std::string(operand) + " must lie in GDRAM");
        return static_cast<const char *>(place);
    };
    for (int64_t segment = 0; segment <= segments_but_one; ++segment) {
        char *to = static_cast<char *>(dst) + segment * dst_stride;
        const char *from = static_cast<const char *>(src) + segment * src_stride;
        if (direction == GDRAM2NRAM) {
            uint8_t *states = nram.inside(function, "dst", to, size);
            used(outside("src", from), size, false);
            memset(states, written, size);
        } else if (direction == NRAM2GDRAM) {
            nram.inside(function, "src", from, size);
            all_written(function, "src", from, size);
            used(outside("dst", to), size, true);
        } else {
            const uint8_t *states = nram.inside(function, "src", from, size);
            memmove((direction == NRAM2NRAM ? nram : wram).inside(function, "dst", to, size), states, size);
        }
        memmove(to, from, size);
    }
}

static inline void __memcpy(void *dst, const void *src, size_t size, mluMemcpyDirection_t direction) {
    __memcpy(dst, src, size, direction, size, size, 0);
}

template <typename T>
void __bang_write_value(T *dst, int count, T value) {
    shim::elementwise("__bang_write_value", dst, count, [=] { return value; });
}

template <typename T>
void __bang_add(T *dst, const T *left, const T *right, int count) {
    shim::elementwise("__bang_add", dst, count, [](T x, T y) { return T(widened(x) + widened(y)); }, left, right);
}

template <typename T>
void __bang_sub_scalar(T *dst, const T *src, T value, int count) {
    shim::elementwise("__bang_sub_scalar", dst, count, [=](T x) { return T(widened(x) - widened(value)); }, src);
}

template <typename T>
void __bang_mul_scalar(T *dst, const T *src, T value, int count) {
    shim::elementwise("__bang_mul_scalar", dst, count, [=](T x) { return T(widened(x) * widened(value)); }, src);
}

template <typename T>
void __bang_active_relu(T *dst, const T *src, int count) {
    shim::elementwise("__bang_active_relu", dst, count, [](T x) { return widened(x) <= 0 ? T(0.0f) : x; }, src);
}

static inline void __bang_active_exp(float *dst, const float *src, int count) {
    shim::elementwise("__bang_active_exp", dst, count, [](float x) { return std::exp(x); }, src);
}

static inline void __bang_half2float(float *dst, const half *src, int count) {
    shim::elementwise("__bang_half2float", dst, count, [](half x) { return float(x); }, src);
}

static inline void __bang_bfloat162float(float *dst, const bfloat16_t *src, int count) {
    shim::elementwise("__bang_bfloat162float", dst, count, [](bfloat16_t x) { return float(x); }, src);
}

static inline void __bang_float2half_rn(half *dst, const float *src, int count) {
    shim::elementwise("__bang_float2half_rn", dst, count, [](float x) { return half(x); }, src);
}

static inline void __bang_float2bfloat16_rn(bfloat16_t *dst, const float *src, int count) {
    shim::elementwise("__bang_float2bfloat16_rn", dst, count, [](float x) { return bfloat16_t(x); }, src);
}

static inline void __bang_maxpool(float *dst, const float *src, int channels, int height, int width, int window_height,
                                  int window_width, int, int) {
    shim::pool("__bang_maxpool", dst, src, channels, height, width, window_height, window_width,
               [](float x, float y) { return std::fmax(x, y); });
}

static inline void __bang_sumpool(float *dst, const float *src, int channels, int height, int width, int window_height,
                                  int window_width, int, int) {
    shim::pool("__bang_sumpool", dst, src, channels, height, width, window_height, window_width,
               [](float x, float y) { return x + y; });
}

// The largest element, and behind it its place.
static inline void __bang_argmax(float *dst, const float *src, int count) {
    const char *function = "__bang_argmax";
    shim::vector(function, "src", src, count);
    shim::all_written(function, "src", src, count * sizeof(float));
    uint8_t *states = shim::nram.inside(function, "dst", dst, 2 * sizeof(float));
    uint32_t place = 0;
    for (int i = 1; i < count; ++i)
        if (src[i] > src[place] || std::isnan(src[place])) place = i;
    dst[0] = src[place];
    memcpy(dst + 1, &place, sizeof place);
    memset(states, shim::written, 2 * sizeof(float));
}

// The sum of each 128 bytes, in the first element of these; the shim leaves the others unwritten.
static inline void __bang_reduce_sum(float *dst, const float *src, int count) {
    constexpr int EACH = shim::WHOLE / sizeof(float);
    const char *function = "__bang_reduce_sum";
    shim::vector(function, "src", src, count);
    shim::all_written(function, "src", src, count * sizeof(float));
    uint8_t *states = shim::vector(function, "dst", dst, count);
    for (int i = 0; i < count; i += EACH) {
        const float sum = std::accumulate(src + i, src + i + EACH, 0.0f);
        memset(dst + i, shim::ONES, shim::WHOLE);
        dst[i] = sum;
        memset(states + i * sizeof(float), shim::unwritten, shim::WHOLE);
        memset(states + i * sizeof(float), shim::written, sizeof(float));
    }
}

static inline void __bang_transpose(float *dst, const float *src, int height, int width) {
    const char *function = "__bang_transpose";
    const uint8_t *source = shim::vector(function, "src", src, int64_t(height) * width);
    uint8_t *result = shim::vector(function, "dst", dst, int64_t(height) * width);
    for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j) {
            dst[j * height + i] = src[i * width + j];
            memcpy(result + (j * height + i) * sizeof(float), source + (i * width + j) * sizeof(float), sizeof(float));
        }
}

// From n filters one behind another to the layout that products take from WRAM.
static inline void __bang_reshape_filter(float *dst, const float *src, int n, int h, int w, int channels) {
    const char *function = "__bang_reshape_filter";
    const size_t bytes = sizeof(float) * n * h * w * channels;
    shim::vector(function, "src", src, bytes / sizeof(float));
    shim::all_written(function, "src", src, bytes);
    memset(shim::vector(function, "dst", dst, bytes / sizeof(float)), shim::filter, bytes);
    memmove(dst, src, bytes);
}

// dst (m, n) of src (m, k) and a filter of n rows of k.
static inline void __bang_matmul(float *dst, const float *src, const float *kernel, int m, int k, int n) {
    using namespace shim;
    const std::string function = "__bang_matmul";
    if (k * sizeof(float) % ALIGNMENT) broken(function, "rows of " + std::to_string(k) + " elements are no whole 64 bytes");
    if (n % 64) broken(function, std::to_string(n) + " columns are no multiple of 64");
    const size_t bytes = sizeof(float) * n * k;
    const uint8_t *states = wram.inside(function, "the second operand", kernel, bytes);
    if (!std::all_of(states, states + bytes, [](uint8_t state) { return state == filter; }))
        broken(function, "the second operand is not in the layout that __bang_reshape_filter makes");
    vector(function, "the first operand", src, int64_t(m) * k);
    all_written(function, "the first operand", src, sizeof(float) * m * k);
    memset(vector(function, "dst", dst, int64_t(m) * n), written, sizeof(float) * m * n);
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) dst[i * n + j] = std::inner_product(src + i * k, src + i * k + k, kernel + j * k, 0.0f);
}

// Runs the tasks of a launch one after another; returns what went wrong, or null.
template <typename... Parameters, typename... Arguments>
const char *launch(void (*kernel)(Parameters...), void *, Arguments... arguments) {
    using namespace shim;
    static std::string trouble;
    clusterDim = CLUSTERS, coreDim = CORES, taskDim = CLUSTERS * CORES;
    gdram.clear();
    try {
        nram.check();
        wram.check();
        for (const int task : order_of_tasks(taskDim)) {
            taskId = task, clusterId = task / CORES, coreId = task % CORES;
            nram.clear();
            wram.clear();
            kernel(arguments...);
        }
    } catch (const std::exception &error) {
        return (trouble = error.what()).c_str();
    }
    return nullptr;
}
