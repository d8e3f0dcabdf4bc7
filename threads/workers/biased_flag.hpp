// SPDX-License-Identifier: BSD-3-Clause
// A flag that one thread holds at a time, which costs the thread that always takes it next to
// nothing.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace trefoil {

/// What each thread of this process has stored before is seen by all others when it returns, and
/// what they load after it is no older: as if each had executed a fence. It takes some microseconds
/// (membarrier(2), private and expedited), the first one in a process up to 20 ms.
void process_barrier() noexcept;
/// Whether the kernel has it.
bool has_process_barrier() noexcept;

/// A locked instruction waits until all stores before it have left the processor's buffer: that is
/// a cache line's way between two cores, and more than a small call takes otherwise. So the first
/// thread that takes the flag *owns* it: it says that it is inside by a store, and then looks
/// whether it owns the flag still. Any other thread that asks for the flag ends this for ever: it
/// says so, makes all threads' stores and loads be over by process_barrier(), and then looks
/// whether the owner is inside. From then on the flag is taken by an exchange. Of an owner that
/// takes it and another thread at least one sees the other, as with a fence between store and load.
///
/// Where the kernel has no such barrier nobody owns it. Thread-safe.
class BiasedFlag {
  public:
    BiasedFlag() noexcept : state_(has_process_barrier() ? State::owned : State::shared) {}
    BiasedFlag(const BiasedFlag&) = delete;
    BiasedFlag& operator=(const BiasedFlag&) = delete;

    enum class Taken : std::uint8_t {
        yes,       ///< this thread has it until it leaves; it sees what the last one did
        no,        ///< another thread has it
        gave_back  ///< no; others may have found it taken by this thread for a moment
    };
    Taken take() noexcept {
        if (is_owner()) {
            const Taken taken = take_as_owner();
            if (taken == Taken::yes) {
                return taken;
            }
            if (taken == Taken::gave_back) {
                return take_by_exchange() == Taken::yes ? Taken::yes : Taken::gave_back;
            }
        }
        return take_by_exchange();
    }
    /// By who has it. False: no other thread has asked is_taken(), as whoever waits does before it
    /// sleeps. True: one may have, and this was sequentially consistent.
    bool leave() noexcept {
        if (!is_owner() || !inside_.load(std::memory_order_relaxed)) {
            taken_.store(false, std::memory_order_seq_cst);
            return true;
        }
        inside_.store(false, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (state_.load(std::memory_order_relaxed) == State::owned) {
            return false;
        }
        inside_.store(false, std::memory_order_seq_cst);  // now with a fence
        return true;
    }
    /// Some thread has it. Of a thread that stores something, with sequential consistency, and
    /// asks, and of one that takes the flag and then looks for what was stored, at least one sees
    /// the other.
    bool is_taken() noexcept {
        end_ownership_of_others();
        return taken_.load(std::memory_order_seq_cst) || inside_.load(std::memory_order_seq_cst);
    }
    /// For messages.
    bool looks_taken() const noexcept {
        return taken_.load(std::memory_order_relaxed) || inside_.load(std::memory_order_relaxed);
    }

  private:
    enum class State : std::uint8_t {
        owned,   ///< by the first that takes it
        ending,  ///< some thread makes it shared
        shared
    };

    static std::uintptr_t this_thread() noexcept { return std::uintptr_t(pthread_self()); }
    bool is_owner() const noexcept {
        return owner_.load(std::memory_order_relaxed) == this_thread();
    }
    Taken take_as_owner() noexcept {
        // It may have it already: what it does meanwhile may come back to here.
        if (state_.load(std::memory_order_relaxed) != State::owned || looks_taken()) {
            return Taken::no;
        }
        inside_.store(true, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (state_.load(std::memory_order_relaxed) == State::owned) {
            return Taken::yes;
        }
        inside_.store(false, std::memory_order_seq_cst);
        return Taken::gave_back;
    }
    Taken take_by_exchange() noexcept {
        if (looks_taken() || taken_.exchange(true, std::memory_order_seq_cst)) {
            return Taken::no;
        }
        std::uintptr_t nobody = 0;
        owner_.compare_exchange_strong(nobody, this_thread(), std::memory_order_seq_cst);
        end_ownership_of_others();
        if (!inside_.load(std::memory_order_acquire)) {
            return Taken::yes;
        }
        taken_.store(false, std::memory_order_seq_cst);
        return Taken::gave_back;
    }
    void end_ownership_of_others() noexcept {
        if (state_.load(std::memory_order_acquire) == State::shared || is_owner() ||
            owner_.load(std::memory_order_seq_cst) == 0) {
            return;
        }
        state_.store(State::ending, std::memory_order_relaxed);
        process_barrier();
        state_.store(State::shared, std::memory_order_release);
    }

    std::atomic<State> state_;
    std::atomic<std::uintptr_t> owner_{0};  ///< 0: nobody has taken it yet
    std::atomic<bool> inside_{false};       ///< the owner, as such
    std::atomic<bool> taken_{false};        ///< by an exchange
};

}  // namespace trefoil
