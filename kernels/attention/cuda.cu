#include "device.hpp"

namespace {

constexpr int WARPS = 8;            // of a block; each has one query
constexpr int KEYS = 32;            // that a block shares at a time, one for each lane
constexpr int LONGEST = 128;        // vector
constexpr int EACH = LONGEST / 32;  // numbers of it that a lane keeps

// A window of 0 is none, and so is a cap of 0.
struct Options {
    bool causal;
    int64_t window;
    double scale, cap;

    // The first key that a query sees, and the end of those that it sees.
    __device__ int64_t from(int64_t query) const { return window && query >= window ? query - window + 1 : 0; }

    __device__ int64_t until(int64_t query, int64_t keys) const {
        if (causal && query + 1 < keys) keys = query + 1;
        return window && query + window < keys ? query + window : keys;
    }

    template <typename W>
    __device__ W score(W product) const {
        const W scaled = product * static_cast<W>(scale), most = static_cast<W>(cap);
        return cap != 0 ? tanh(scaled / most) * most : scaled;
    }
};

// The vectors of one head.
template <typename T>
struct Head {
    T *first;
    int64_t down, across, rows;
    int size;

    __device__ Head(const View<T> &view, int64_t batch, int64_t head)
        : first(view.data + batch * view.strides[0] + head * view.strides[1]),
          down(view.strides[2]),
          across(view.strides[3]),
          rows(view.sizes[2]),
          size(static_cast<int>(view.sizes[3])) {}

    __device__ T &operator()(int64_t row, int i) const { return first[row * down + i * across]; }

    __device__ bool has(int64_t row, int i) const { return row < rows && i < size; }
};

// How many blocks share a head's queries.
template <typename T>
__host__ __device__ unsigned sharing(const View<T> &q) {
    return static_cast<unsigned>((q.size(2) + WARPS - 1) / WARPS);
}

// The heads that a block works on: those of all batches follow each other, since no other axis of a grid has room for
// more than 65535.
template <typename T>
struct Heads {
    Head<const T> q, k, v;
    Head<T> out;

    __device__ Heads(const View<const T> &q, const View<const T> &k, const View<const T> &v, const View<T> &out)
        : Heads(q, k, v, out, blockIdx.x / sharing(q)) {}

    // The first query of the block.
    __device__ static int64_t first(const View<const T> &q) { return int64_t(blockIdx.x % sharing(q)) * WARPS; }

   private:
    __device__ Heads(const View<const T> &q, const View<const T> &k, const View<const T> &v, const View<T> &out,
                     int64_t number)
        : Heads(q, k, v, out, number / q.sizes[1], number % q.sizes[1], q.sizes[1] / k.sizes[1]) {}

    __device__ Heads(const View<const T> &q, const View<const T> &k, const View<const T> &v, const View<T> &out,
                     int64_t batch, int64_t head, int64_t groups)
        : q(q, batch, head), k(k, batch, head / groups), v(v, batch, head / groups), out(out, batch, head) {}
};

// A maximum, a sum of exponentials and a weighted sum of values as they are so far; a lane has every 32nd number.
template <typename W>
struct Running {
    W peak = -INFINITY, total = 0, result[EACH] = {};

    // Makes `higher` the maximum; returns what exponents are taken relative to. As long as all is -inf that is 0.
    __device__ W raise(W higher) {
        const W shift = higher == -INFINITY ? W(0) : higher, faded = exp(peak - shift);
        total *= faded;
        for (int i = 0; i < EACH; ++i) result[i] *= faded;
        peak = higher;
        return shift;
    }

    template <typename T>
    __device__ void write(const Head<T> &out, int64_t query) const {
        for (int i = 0; i < EACH; ++i) {
            const int place = threadIdx.x + 32 * i;
            if (place < out.size) out(query, place) = static_cast<T>(result[i] / total);
        }
    }
};

// The lanes of a warp share the numbers of a vector, and add up the product of each query and key by shuffles.
template <typename T>
__global__ void warp_per_query(View<const T> q, View<const T> k, View<const T> v, View<T> out, Options options) {
    using W = Wide<T>;
    const Heads<T> heads(q, k, v, out);
    const int64_t query = heads.first(q) + threadIdx.y, until = options.until(query, heads.k.rows);
    if (query >= heads.q.rows) return;
    const int size = heads.q.size;
    W own[EACH];
    for (int i = 0; i < EACH; ++i) {
        const int place = threadIdx.x + 32 * i;
        own[i] = place < size ? widened(heads.q(query, place)) : W(0);
    }
    Running<W> running;
    for (int64_t key = options.from(query); key < until; ++key) {
        W product = 0;
        for (int i = 0; i < EACH; ++i) {
            const int place = threadIdx.x + 32 * i;
            if (place < size) product += own[i] * widened(heads.k(key, place));
        }
        const W score = options.score(Shuffles::of_warp<32>(product, Plus{}));
        const W weight = exp(score - running.raise(Larger{}(running.peak, score)));
        running.total += weight;
        for (int i = 0; i < EACH; ++i) {
            const int place = threadIdx.x + 32 * i;
            if (place < size) running.result[i] += weight * widened(heads.v(key, place));
        }
    }
    running.write(heads.out, query);
}

// Copies vectors `start` and on to shared memory; all threads of the block take part. Rows are one longer than vectors,
// so that lanes which go down a column meet different banks.
template <typename T>
__device__ void fetch(T (&to)[KEYS][LONGEST + 1], const Head<const T> &from, int64_t start) {
    for (int row = threadIdx.y; row < KEYS; row += WARPS)
        for (int i = threadIdx.x; i < from.size; i += 32)
            if (from.has(start + row, i)) to[row][i] = from(start + row, i);
}

// Each lane has one key of a tile that the block's warps share.
template <typename T, bool SKIPS>
__global__ void tiled(View<const T> q, View<const T> k, View<const T> v, View<T> out, Options options) {
    using W = Wide<T>;
    __shared__ W own[WARPS][LONGEST];
    __shared__ T tile[KEYS][LONGEST + 1];
    const Heads<T> heads(q, k, v, out);
    const int64_t first = heads.first(q), query = first + threadIdx.y, keys = heads.k.rows;
    const int size = heads.q.size, lane = threadIdx.x;
    for (int i = lane; i < size; i += 32)
        if (heads.q.has(query, i)) own[threadIdx.y][i] = widened(heads.q(query, i));
    const int64_t end = SKIPS ? options.until(first + WARPS - 1, keys) : keys;
    Running<W> running;
    for (int64_t start = SKIPS ? options.from(first) / KEYS * KEYS : 0; start < end; start += KEYS) {
        const int64_t key = start + lane;
        __syncthreads();
        fetch(tile, heads.k, start);
        __syncthreads();
        W score = -INFINITY;
        if (query < heads.q.rows && options.from(query) <= key && key < options.until(query, keys)) {
            W product = 0;
            for (int i = 0; i < size; ++i) product += own[threadIdx.y][i] * widened(tile[lane][i]);
            score = options.score(product);
        }
        const W shift = running.raise(Larger{}(running.peak, Shuffles::of_warp<32>(score, Larger{})));
        const W mine = exp(score - shift);
        running.total += Shuffles::of_warp<32>(mine, Plus{});
        __syncthreads();
        fetch(tile, heads.v, start);
        __syncthreads();
        for (int j = 0; j < KEYS && start + j < keys; ++j) {
            const W weight = __shfl_sync(ALL, mine, j);
            for (int i = 0; i < EACH; ++i) {
                const int place = lane + 32 * i;
                if (place < size) running.result[i] += weight * widened(tile[j][place]);
            }
        }
    }
    if (query < heads.q.rows) running.write(heads.out, query);
}

template <typename T>
using Kernel = void (*)(View<const T>, View<const T>, View<const T>, View<T>, Options);

template <typename T>
const char *launch_queries(const Call &call, Kernel<T> kernel) {
    const Tensor *tensors = call.tensors, &q = tensors[0];
    if (q.size(3) > LONGEST) return "these kernels take vectors of at most 128 numbers";
    const Options options{call.integers[0] != 0, call.integers[1], call.reals[0], call.reals[1]};
    const View<const T> queries(q);
    return launch(kernel, static_cast<unsigned>(q.size(0) * q.size(1)) * sharing(queries), dim3(32, WARPS),
                  call.stream, queries, View<const T>(tensors[1]), View<const T>(tensors[2]), View<T>(tensors[3]),
                  options);
}

}  // namespace

ENTRY(warp_per_query, call) {
    return dispatch(Floats{}, call.tensors[0], [&](auto type) {
        using T = decltype(type);
        return launch_queries<T>(call, warp_per_query<T>);
    });
}

ENTRY(tiled, call) {
    return dispatch(Floats{}, call.tensors[0], [&](auto type) {
        using T = decltype(type);
        return launch_queries<T>(call, tiled<T, false>);
    });
}

ENTRY(skipping, call) {
    return dispatch(Floats{}, call.tensors[0], [&](auto type) {
        using T = decltype(type);
        return launch_queries<T>(call, tiled<T, true>);
    });
}
