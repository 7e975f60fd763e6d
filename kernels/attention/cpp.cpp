#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernel.hpp"

namespace {

constexpr int64_t BLOCK = 32;  // keys between two looks at the maximum

// What one query sees of one head: keys `from` to `until`, as masks say.
struct Span {
    int64_t from, until;
};

// The parameters as the Python file lists them; a window of 0 is none, and so is a cap of 0.
struct Options {
    bool causal;
    int64_t window;
    double scale, cap;

    explicit Options(const Call &call)
        : causal(call.integers[0]), window(call.integers[1]), scale(call.reals[0]), cap(call.reals[1]) {}

    Span seen(int64_t query, int64_t keys) const {
        const int64_t until = causal ? std::min(keys, query + 1) : keys;
        if (!window) return {0, until};
        return {std::max<int64_t>(0, query - window + 1), std::min(until, query + window)};
    }

    bool sees(int64_t query, int64_t key, int64_t keys) const {
        const Span span = seen(query, keys);
        return span.from <= key && key < span.until;
    }
};

// The vectors of one head: `size` numbers each.
template <typename T>
struct Head {
    const T *first;
    int64_t down, across, size;

    Head(const Tensor &tensor, int64_t batch, int64_t head)
        : first(tensor.as<const T>() + batch * tensor.stride(0) + head * tensor.stride(1)),
          down(tensor.stride(2)),
          across(tensor.stride(3)),
          size(tensor.size(3)) {}

    Wide<T> operator()(int64_t row, int64_t i) const { return widened(first[row * down + i * across]); }
};

template <typename T>
Wide<T> score(const Head<T> &q, const Head<T> &k, int64_t query, int64_t key, const Options &options) {
    using W = Wide<T>;
    W product = 0;
    for (int64_t i = 0; i < q.size; ++i) product += q(query, i) * k(key, i);
    const W scaled = product * static_cast<W>(options.scale), cap = static_cast<W>(options.cap);
    return options.cap != 0 ? std::tanh(scaled / cap) * cap : scaled;
}

template <typename W>
constexpr W LOWEST = -std::numeric_limits<W>::infinity();

// A whole row of scores, masked ones included.
template <typename T>
void unfused(const Head<T> &q, const Head<T> &k, const Head<T> &v, T *out, int64_t query, int64_t keys,
             const Options &options) {
    using W = Wide<T>;
    std::vector<W> weights(static_cast<size_t>(keys)), result(static_cast<size_t>(q.size));
    W peak = LOWEST<W>, total = 0;
    for (int64_t key = 0; key < keys; ++key) {
        weights[key] = options.sees(query, key, keys) ? score(q, k, query, key, options) : LOWEST<W>;
        peak = weights[key] > peak ? weights[key] : peak;
    }
    for (W &weight : weights) total += weight = std::exp(weight - peak);
    for (int64_t key = 0; key < keys; ++key)
        for (int64_t i = 0; i < q.size; ++i) result[i] += weights[key] * v(key, i);
    for (int64_t i = 0; i < q.size; ++i) out[i] = static_cast<T>(result[i] / total);
}

// Blocks of keys with a running maximum and sum, rescaled where the maximum grows; `span` is what is looked at.
template <typename T>
void running(const Head<T> &q, const Head<T> &k, const Head<T> &v, T *out, int64_t query, int64_t keys, Span span,
             const Options &options) {
    using W = Wide<T>;
    std::vector<W> result(static_cast<size_t>(q.size));
    W peak = LOWEST<W>, total = 0, scores[BLOCK];
    for (int64_t start = span.from; start < span.until; start += BLOCK) {
        const int64_t length = std::min(BLOCK, span.until - start);
        W higher = peak;
        for (int64_t j = 0; j < length; ++j) {
            const bool seen = options.sees(query, start + j, keys);
            scores[j] = seen ? score(q, k, query, start + j, options) : LOWEST<W>;
            higher = scores[j] > higher ? scores[j] : higher;
        }
        // As long as nothing but -inf has been seen, exponentials are 0, and not those of -inf minus -inf.
        const W shift = higher == LOWEST<W> ? 0 : higher, faded = std::exp(peak - shift);
        total *= faded;
        for (W &number : result) number *= faded;
        for (int64_t j = 0; j < length; ++j) {
            const W weight = std::exp(scores[j] - shift);
            total += weight;
            for (int64_t i = 0; i < q.size; ++i) result[i] += weight * v(start + j, i);
        }
        peak = higher;
    }
    for (int64_t i = 0; i < q.size; ++i) out[i] = static_cast<T>(result[i] / total);
}

template <typename T, typename Attend>
void each_query(const Call &call, Attend attend) {
    const Tensor &q = call.tensors[0], &k = call.tensors[1], &v = call.tensors[2], &out = call.tensors[3];
    const int64_t heads = q.size(1), queries = q.size(2), groups = heads / k.size(1);
    for (int64_t head = 0; head < q.size(0) * heads; ++head) {
        const int64_t batch = head / heads, shared = head % heads / groups;
        const Head<T> of_q(q, batch, head % heads), of_k(k, batch, shared), of_v(v, batch, shared);
        for (int64_t query = 0; query < queries; ++query)
            attend(of_q, of_k, of_v, out.as<T>() + (head * queries + query) * q.size(3), query, k.size(2));
    }
}

}  // namespace

ENTRY(unfused, call) {
    const Options options(call);
    return dispatch(Floats{}, call.tensors[0], [&](auto type) {
        each_query<decltype(type)>(call, [&](auto &q, auto &k, auto &v, auto *out, int64_t query, int64_t keys) {
            unfused(q, k, v, out, query, keys, options);
        });
    });
}

ENTRY(flash, call) {
    const Options options(call);
    return dispatch(Floats{}, call.tensors[0], [&](auto type) {
        each_query<decltype(type)>(call, [&](auto &q, auto &k, auto &v, auto *out, int64_t query, int64_t keys) {
            running(q, k, v, out, query, keys, {0, keys}, options);
        });
    });
}

ENTRY(skipping, call) {
    const Options options(call);
    return dispatch(Floats{}, call.tensors[0], [&](auto type) {
        each_query<decltype(type)>(call, [&](auto &q, auto &k, auto &v, auto *out, int64_t query, int64_t keys) {
            running(q, k, v, out, query, keys, options.seen(query, keys), options);
        });
    });
}
