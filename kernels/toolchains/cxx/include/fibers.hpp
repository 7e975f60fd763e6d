// CUDA C++ on a processor: each thread of a block is a fiber, which runs until it waits for others.
//
// No threads run at the same time, and the order in which they take turns is fixed: PORTOLAN_FIBERS=reversed turns that
// of threads and of blocks round. A kernel that needs a barrier which it has not got computes something else then. Copies
// that go on beside threads are made when they are waited for, and if reversed at once.
#pragma once

// Its check of long jumps knows one stack only.
#undef _FORTIFY_SOURCE

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#define __global__
#define __host__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)

using std::exp;
using std::sqrt;
using std::tanh;

struct dim3 {
    unsigned x, y, z;

    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}

    uint64_t count() const { return uint64_t(x) * y * z; }
};

static dim3 threadIdx, blockIdx, blockDim, gridDim;
constexpr int warpSize = 32;

namespace fibers {

// Of this source alone: compilers would let all libraries of a process share what is inline, whatever each was built of.
namespace {

constexpr size_t STACK = 64 * 1024;

enum class State { ready, at_barrier, at_exchange, done };

// Bytes that go into shared memory, or zeros if they are from nowhere.
struct Copy {
    void *to;
    const void *from;
    size_t bytes;
    int batch;  // of its thread's

    void make() const { from ? memcpy(to, from, bytes) : memset(to, 0, bytes); }
};

struct Fiber {
    jmp_buf place;       // where it goes on
    bool started;        // it has a place, since it is used for one block after another
    State state;
    dim3 index;
    int line;            // of the barrier that it waits at
    uint32_t mask;       // of the lanes that it exchanges with
    unsigned exchanges;  // how often it has, which says the buffer that it uses
    std::vector<Copy> copies;  // that it has begun
    int batches;               // that it has ended
};

// Two buffers, since a lane may be one exchange ahead of another that has yet to read.
struct Warp {
    uint64_t slots[2][warpSize];
};

// The block that is being run: there is one at a time.
class Block {
   public:
    // Runs the block at blockIdx; returns what went wrong, or null.
    template <typename Body>
    const char *run(const Body &body, bool reversed) {
        const int count = static_cast<int>(blockDim.count());
        prepare(count);
        copies_wait_ = !reversed;
        body_ = [](const void *self) { (*static_cast<const Body *>(self))(); };
        argument_ = &body;
        for (left_ = count; left_;) {
            bool moved = false;
            for (int i = 0; i < count; ++i) moved |= resume(reversed ? count - 1 - i : i);
            if (trouble_.empty() && !release() && !moved)
                trouble_ = "threads wait for others of their block that never come";
            if (!trouble_.empty()) {
                for (Fiber &one : fibers_) one.started = false;  // those that wait are given up
                return trouble_.c_str();
            }
        }
        return nullptr;
    }

    void barrier(int line) {
        fiber().line = line;
        wait(State::at_barrier);
    }

    // Returns the value that lane `source` gives, once all lanes of `mask` have given theirs.
    uint64_t exchange(uint32_t mask, uint64_t value, int source) {
        Warp &warp = warps_[current_ / warpSize];
        uint64_t *slots = warp.slots[fiber().exchanges++ % 2];
        slots[current_ % warpSize] = value;
        fiber().mask = mask;
        if (!(mask >> current_ % warpSize & 1)) trouble_ = "a lane takes part in a shuffle that its mask leaves out";
        if (!(mask >> source & 1)) trouble_ = "a lane takes a value from a lane outside the shuffle's mask";
        wait(State::at_exchange);
        return slots[source];
    }

    void copy(void *to, const void *from, size_t bytes) {
        const Copy copy{to, from, bytes, fiber().batches};
        copies_wait_ ? fiber().copies.push_back(copy) : copy.make();
    }

    void end_batch() { ++fiber().batches; }

    // Makes the copies of this thread's batches but for the last `later`.
    void await(int later) {
        std::vector<Copy> &copies = fiber().copies;
        const int ended = fiber().batches - later;
        const auto rest = std::find_if(copies.begin(), copies.end(), [&](auto &one) { return one.batch >= ended; });
        std::for_each(copies.begin(), rest, [](const Copy &one) { one.make(); });
        copies.erase(copies.begin(), rest);
    }

    int lane() const { return current_ % warpSize; }

   private:
    Fiber &fiber() { return fibers_[current_]; }

    void prepare(int count) {
        if (fibers_.size() < static_cast<size_t>(count)) {
            fibers_.assign(count, Fiber{});
            stacks_.reset(new char[count * STACK]);
        }
        count_ = count;
        warps_.resize((count + warpSize - 1) / warpSize);
        trouble_.clear();
        for (int i = 0; i < count; ++i) {
            Fiber &one = fibers_[i];
            const unsigned x = i % blockDim.x, y = i / blockDim.x % blockDim.y, z = i / blockDim.x / blockDim.y;
            one.state = State::ready;
            one.index = {x, y, z};
            one.exchanges = 0;
            one.copies.clear();
            one.batches = 0;
        }
    }

    // What a fiber does: its part of one block after another.
    static void live();

    __attribute__((noinline)) bool resume(int number) {
        if (fibers_[number].state != State::ready) return false;
        current_ = number;
        threadIdx = fiber().index;
        if (!_setjmp(scheduler_)) go_on();
        return true;
    }

    // Jumps, since a change of context asks the system for the mask of signals each time.
    [[noreturn]] void go_on() {
        if (fiber().started) _longjmp(fiber().place, 1);
        fiber().started = true;
        static ucontext_t context;
        getcontext(&context);
        context.uc_stack.ss_sp = stacks_.get() + current_ * STACK;
        context.uc_stack.ss_size = STACK;
        makecontext(&context, live, 0);
        setcontext(&context);
        abort();
    }

    // Not part of a kernel, in which a jump would hinder the compiler.
    __attribute__((noinline)) void wait(State state) {
        fiber().state = state;
        if (!_setjmp(fiber().place)) _longjmp(scheduler_, 1);
    }

    // Lets those go on who have all come together; returns whether there were any.
    bool release() {
        bool any = false;
        for (int first = 0; first < count_; first += warpSize) any |= release_warp(first);
        int waiting = 0, line = 0;
        for (int i = 0; i < count_; ++i) {
            if (fibers_[i].state != State::at_barrier) continue;
            if (waiting++ && fibers_[i].line != line)
                trouble_ = "threads of a block wait at different barriers: line " + std::to_string(line) + " and " +
                           std::to_string(fibers_[i].line);
            line = fibers_[i].line;
        }
        if (!waiting || waiting < left_) return any;
        for (int i = 0; i < count_; ++i)
            if (fibers_[i].state == State::at_barrier) fibers_[i].state = State::ready;
        return true;
    }

    bool release_warp(int first) {
        const int lanes = count_ - first < warpSize ? count_ - first : warpSize;
        uint32_t here = 0, gone = lanes < warpSize ? ~0u << lanes : 0;
        for (int i = 0; i < lanes; ++i) {
            here |= uint32_t(fibers_[first + i].state == State::at_exchange) << i;
            gone |= uint32_t(fibers_[first + i].state == State::done) << i;
        }
        bool any = false;
        for (int i = 0; i < lanes; ++i) {
            Fiber &one = fibers_[first + i];
            if (one.state == State::at_exchange && !(one.mask & ~here & ~gone)) {
                one.state = State::ready;
                any = true;
            }
        }
        return any;
    }

    std::vector<Fiber> fibers_;
    std::vector<Warp> warps_;
    std::unique_ptr<char[]> stacks_;
    jmp_buf scheduler_;
    void (*body_)(const void *) = nullptr;
    const void *argument_ = nullptr;
    int count_ = 0, current_ = 0, left_ = 0;
    bool copies_wait_ = true;
    std::string trouble_;
};

Block block;

void Block::live() {
    for (;;) {
        block.body_(block.argument_);
        --block.left_;
        block.wait(State::done);
    }
}

template <typename T>
T exchanged(uint32_t mask, T value, int source) {
    static_assert(sizeof(T) <= sizeof(uint64_t), "a lane gives at most 64 bits");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = block.exchange(mask, bits, source);
    memcpy(&value, &bits, sizeof value);
    return value;
}

}  // namespace

}  // namespace fibers

inline void __syncthreads(int line = __builtin_LINE()) { fibers::block.barrier(line); }

inline void __syncwarp(uint32_t mask = ~0u) { fibers::exchanged(mask, 0, fibers::block.lane()); }

template <typename T>
T __shfl_sync(uint32_t mask, T value, int source) {
    return fibers::exchanged(mask, value, source % warpSize);
}

template <typename T>
T __shfl_xor_sync(uint32_t mask, T value, int bits) {
    return fibers::exchanged(mask, value, fibers::block.lane() ^ bits);
}

template <typename T>
T __shfl_down_sync(uint32_t mask, T value, unsigned distance) {
    const int lane = fibers::block.lane(), source = lane + static_cast<int>(distance);
    return fibers::exchanged(mask, value, source < warpSize ? source : lane);
}

// Bytes of `low` and `high`, numbered 0 to 7, which the hexadecimal digits of `chosen` pick, the last digit the lowest.
inline uint32_t __byte_perm(uint32_t low, uint32_t high, uint32_t chosen) {
    const uint64_t both = uint64_t(high) << 32 | low;
    uint32_t bytes = 0;
    for (int i = 0; i < 4; ++i) bytes |= uint32_t(both >> 8 * (chosen >> 4 * i & 7) & 255) << 8 * i;
    return bytes;
}

template <typename T>
T atomicAdd(T *address, T value) {
    const T before = *address;
    *address = before + value;
    return before;
}

// Runs `kernel` over a grid, with the limits that devices have; returns what went wrong, or null.
template <typename... Parameters, typename... Arguments>
const char *launch(void (*kernel)(Parameters...), dim3 grid, dim3 threads, void *, Arguments... arguments) {
    if (!grid.count() || grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535) return "invalid size of the grid";
    if (!threads.count() || threads.count() > 1024 || threads.z > 64) return "invalid size of a block";
    const char *order = getenv("PORTOLAN_FIBERS");
    const bool reversed = order && !strcmp(order, "reversed");
    gridDim = grid;
    blockDim = threads;
    const auto body = [&] { kernel(arguments...); };
    for (uint64_t i = 0; i < grid.count(); ++i) {
        const uint64_t number = reversed ? grid.count() - 1 - i : i;
        blockIdx = {static_cast<unsigned>(number % grid.x), static_cast<unsigned>(number / grid.x % grid.y),
                    static_cast<unsigned>(number / grid.x / grid.y)};
        if (const char *trouble = fibers::block.run(body, reversed)) return trouble;
    }
    return nullptr;
}
