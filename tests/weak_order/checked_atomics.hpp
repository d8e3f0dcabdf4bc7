// SPDX-License-Identifier: BSD-3-Clause
// What comes after this header has atomic objects of the weak machine in place of the standard
// library's, and its plain copies are watched: so the product's own files run there, unchanged.
#pragma once

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <ctime>
#include <deque>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tests/weak_order/machine.hpp"

namespace std {

template <typename T>
class checked_atomic {
    using Order = memory_order;
    static_assert(sizeof(T) <= sizeof(uint64_t));

  public:
    static constexpr bool is_always_lock_free = true;

    checked_atomic(T value = {}) : initial_(value) {}
    ~checked_atomic() {
        if (trefoil::weak::running()) {
            trefoil::weak::forget(object());
        }
    }
    checked_atomic(const checked_atomic&) = delete;
    checked_atomic& operator=(const checked_atomic&) = delete;

    T load(Order order = memory_order_seq_cst, const char* file = __builtin_FILE(),
           int line = __builtin_LINE()) const {
        return trefoil::weak::running() ? value(trefoil::weak::load(object(), order, {file, line}))
                                        : initial_;
    }
    void store(T next, Order order = memory_order_seq_cst, const char* file = __builtin_FILE(),
               int line = __builtin_LINE()) {
        if (trefoil::weak::running()) {
            trefoil::weak::store(object(), bits(next), order, {file, line});
        } else {
            initial_ = next;
        }
    }
    T exchange(T next, Order order = memory_order_seq_cst, const char* file = __builtin_FILE(),
               int line = __builtin_LINE()) {
        return change([next](T) { return next; }, order, file, line);
    }
    template <typename Number>
    T fetch_add(Number number, Order order = memory_order_seq_cst,
                const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return change([number](T old) { return static_cast<T>(old + number); }, order, file, line);
    }
    template <typename Number>
    T fetch_sub(Number number, Order order = memory_order_seq_cst,
                const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return change([number](T old) { return static_cast<T>(old - number); }, order, file, line);
    }
    bool compare_exchange_strong(T& expected, T next, Order order, Order failed,
                                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        bool equal = false;
        const uint64_t old = trefoil::weak::change(object(),
                                                   [&](uint64_t now, uint64_t& changed) {
                                                       equal = now == bits(expected);
                                                       changed = bits(next);
                                                       return equal;
                                                   },
                                                   order, failed, {file, line});
        if (!equal) {
            expected = value(old);
        }
        return equal;
    }
    bool compare_exchange_strong(T& expected, T next, Order order = memory_order_seq_cst,
                                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        const Order failed = order == memory_order_acq_rel   ? memory_order_acquire
                             : order == memory_order_release ? memory_order_relaxed
                                                             : order;
        return compare_exchange_strong(expected, next, order, failed, file, line);
    }
    template <typename... Rest>
    bool compare_exchange_weak(T& expected, T next, Order order, Order failed,
                               const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return compare_exchange_strong(expected, next, order, failed, file, line);
    }
    bool compare_exchange_weak(T& expected, T next, Order order = memory_order_seq_cst,
                               const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return compare_exchange_strong(expected, next, order, file, line);
    }
    void wait(T old, Order order = memory_order_seq_cst, const char* file = __builtin_FILE(),
              int line = __builtin_LINE()) const {
        while (load(order, file, line) == old) {
            trefoil::weak::sleep_while(object(), bits(old));
        }
    }
    void notify_all() { trefoil::weak::wake_sleepers(object()); }
    void notify_one() { trefoil::weak::wake_sleepers(object()); }
    __attribute__((no_sanitize_thread)) trefoil::weak::Object object() const {
        return {&initial_, bits(initial_), sizeof(T)};
    }
    operator T() const { return load(); }
    T operator=(T next) {
        store(next);
        return next;
    }

  private:
    static uint64_t bits(T value) {
        uint64_t all = 0;
        memcpy(&all, &value, sizeof value);
        return all;
    }
    static T value(uint64_t bits) {
        T one;
        memcpy(&one, &bits, sizeof one);
        return one;
    }
    template <typename Change>
    T change(Change&& next, Order order, const char* file, int line) {
        return value(trefoil::weak::change(object(),
                                           [&](uint64_t old, uint64_t& changed) {
                                               changed = bits(next(value(old)));
                                               return true;
                                           },
                                           order, order, {file, line}));
    }

    T initial_;
};

/// Of an object that lies in memory which others write, too.
template <typename T>
class checked_atomic_ref {
  public:
    explicit checked_atomic_ref(T& object) : object_(&object) {}
    T load(memory_order order = memory_order_seq_cst, const char* file = __builtin_FILE(),
           int line = __builtin_LINE()) const {
        return trefoil::weak::running()
                   ? trefoil::weak::load({object_, *object_}, order, {file, line})
                   : *object_;
    }
    void store(T value, memory_order order = memory_order_seq_cst,
               const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
        if (trefoil::weak::running()) {
            trefoil::weak::store({object_, *object_}, value, order, {file, line});
        } else {
            *object_ = value;
        }
    }

  private:
    T* object_;
};

inline void checked_fence(memory_order order, const char* file = __builtin_FILE(),
                          int line = __builtin_LINE()) {
    if (trefoil::weak::running()) {
        trefoil::weak::fence(order, {file, line});
    }
}

/// For compilers, which keep the order of what is asked of the machine.
inline void checked_signal_fence(memory_order) {}

class checked_mutex {
  public:
    void lock() {
        while (trefoil::weak::running() && is_locked_.exchange(true, memory_order_acquire)) {
            trefoil::weak::sleep_while(is_locked_.object(), 1);
        }
    }
    void unlock() {
        if (trefoil::weak::running()) {
            is_locked_.store(false, memory_order_release);
            trefoil::weak::wake_sleepers(is_locked_.object());
        }
    }

  private:
    checked_atomic<bool> is_locked_{false};
};

/// Nobody waits with a limit: the clock stands still.
class checked_condition_variable {
  public:
    template <typename Over>
    void wait(unique_lock<checked_mutex>& lock, Over over) {
        while (!over()) {
            const uint32_t seen = changes_.load(memory_order_relaxed);
            lock.unlock();
            trefoil::weak::sleep_while(changes_.object(), seen);
            lock.lock();
        }
    }
    template <typename Limit, typename Over>
    bool wait_until(unique_lock<checked_mutex>& lock, const Limit&, Over over) {
        wait(lock, over);
        return true;
    }
    void notify_all() {
        changes_.fetch_add(1, memory_order_relaxed);
        trefoil::weak::wake_sleepers(changes_.object());
    }
    void notify_one() { notify_all(); }

  private:
    checked_atomic<uint32_t> changes_{0};
};

/// Begins while a scenario is made.
class checked_thread {
  public:
    explicit checked_thread(function<void()> body)
        : number_(trefoil::weak::start_thread(std::move(body))) {}
    void join() const {
        if (trefoil::weak::running()) {
            trefoil::weak::join(number_);
        }
    }
    static pthread_t native_handle() { return {}; }

  private:
    size_t number_;
};

namespace this_thread {
inline void checked_yield() {
    if (trefoil::weak::running()) {
        trefoil::weak::let_others_go_on();
    }
}
template <typename Time>
void checked_sleep_for(const Time&) {
    checked_yield();
}
}  // namespace this_thread

namespace chrono {
/// Stands still: nothing is late.
struct checked_clock : steady_clock {
    static time_point now() { return time_point{} + hours{1}; }
};
}  // namespace chrono

inline void* checked_memcpy(void* target, const void* source, size_t bytes) {
    trefoil::weak::note_read(source);
    memcpy(target, source, bytes);
    trefoil::weak::note_write(target);
    return target;
}

}  // namespace std

namespace trefoil::weak {

/// What the product asks of the kernel.
inline long checked_syscall(long, std::uint32_t* word, int operation, std::uint32_t value,
                            const timespec*, void*, int) {
    const Object object = reinterpret_cast<std::checked_atomic<std::uint32_t>*>(word)->object();
    if (operation == FUTEX_WAIT) {
        sleep_while(object, value);
    } else {
        wake_sleepers(object);
    }
    return 0;
}

/// Threads of a run are contexts of one thread. Whoever makes them is the first.
inline pthread_t checked_pthread_self() {
    return running() ? this_thread() + 1 : 1;
}

}  // namespace trefoil::weak

#define atomic checked_atomic
#define atomic_ref checked_atomic_ref
#define atomic_thread_fence checked_fence
#define atomic_signal_fence checked_signal_fence
#define mutex checked_mutex
#define condition_variable checked_condition_variable
#define thread checked_thread
#define yield checked_yield
#define sleep_for checked_sleep_for
#define steady_clock checked_clock
#define memcpy checked_memcpy
#define syscall trefoil::weak::checked_syscall
#define pthread_self trefoil::weak::checked_pthread_self
