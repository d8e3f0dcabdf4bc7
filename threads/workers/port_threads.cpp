// SPDX-License-Identifier: BSD-3-Clause
// Dedicated port threads: started once, asleep between runs, woken by a counter.

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <system_error>
#include <thread>

#include "threads/workers/port_threads_implementation.hpp"
#include "threads/workers/waiting.hpp"
#include "topo/cpu_quota.hpp"
#include "topo/error.hpp"
#include "topo/host.hpp"
#include "topo/own_thread.hpp"

namespace trefoil {

namespace {

void require_allowed(const std::vector<int>& cores) {
    const std::vector<int> allowed = cores.empty() ? std::vector<int>{} : allowed_cores();
    for (const int core : cores) {
        if (!std::binary_search(allowed.begin(), allowed.end(), core)) {
            throw Error(Status::invalid_argument,
                        "port threads: core " + std::to_string(core) +
                            " is not in this process's affinity mask; choose among the cores that "
                            "`taskset -p` shows, or do not pin");
        }
    }
}

void pin(std::thread& thread, int core) {
    cpu_set_t* const set = CPU_ALLOC(core + 1);
    const std::size_t bytes = CPU_ALLOC_SIZE(core + 1);
    if (set == nullptr) {
        throw Error(Status::out_of_memory, "port threads: no memory for an affinity mask");
    }
    CPU_ZERO_S(bytes, set);
    CPU_SET_S(core, bytes, set);
    const int error = pthread_setaffinity_np(thread.native_handle(), bytes, set);
    CPU_FREE(set);
    if (error != 0) {
        throw Error(Status::system_error,
                    "port threads: cannot pin a thread to core " + std::to_string(core) + ": " +
                        std::system_category().message(error) + "; run without pinning");
    }
}

}  // namespace

void wait_for_change(const std::atomic<std::uint32_t>& value, std::uint32_t old, int spins) {
    for (int i = 0; value.load(std::memory_order_acquire) == old; ++i) {
        if (i < spins) {
            pause_processor();
        } else {
            value.wait(old, std::memory_order_relaxed);  // the next look orders
        }
    }
}

class PortThreads::DedicatedThreads final : public PortThreads::Implementation {
  public:
    DedicatedThreads(int threads, const std::vector<int>& cores) {
        require_allowed(cores);
        const double in_time = cores_for_each({cpu_quotas()}, 0);
        const bool core_for_each =
            std::min(static_cast<double>(allowed_cores().size()), in_time) > threads;
        spins_ = core_for_each ? spins_before_sleep : 0;
        threads_.reserve(static_cast<std::size_t>(threads));
        try {
            for (int i = 0; i < threads; ++i) {
                threads_.push_back(start_thread([this, i] { serve(i); }));
                if (!cores.empty()) {
                    pin(threads_.back(), cores[static_cast<std::size_t>(i) % cores.size()]);
                }
            }
        } catch (...) {
            stop();
            throw;
        }
    }

    ~DedicatedThreads() override { stop(); }
    DedicatedThreads(const DedicatedThreads&) = delete;
    DedicatedThreads& operator=(const DedicatedThreads&) = delete;

    int threads() const override { return static_cast<int>(threads_.size()); }

    bool caller_works() const override { return false; }

    bool serves() const override { return true; }
    bool spins() const override { return spins_ > 0; }

    void start(void (*call)(void*, int), void* work) override {
        call_ = call;
        work_ = work;
        remaining_.store(static_cast<std::uint32_t>(threads_.size()), std::memory_order_relaxed);
        advance();
    }

    void finish() override {
        // Ended by the last worker in serve().
        for (std::uint32_t left = remaining_.load(std::memory_order_acquire); left != 0;
             left = remaining_.load(std::memory_order_acquire)) {
            wait_for_change(remaining_, left, spins_);
        }
    }

    bool run(void (*call)(void*, int), void* work) override {
        start(call, work);
        finish();
        return true;
    }

  private:
    // Publishes call_, work_, remaining_ and stopping_: pairs with the acquire in serve().
    void advance() {
        generation_.fetch_add(1, std::memory_order_release);
        generation_.notify_all();
    }

    void stop() {
        stopping_ = true;
        advance();
        for (std::thread& thread : threads_) {
            thread.join();
        }
        threads_.clear();
    }

    void serve(int worker) {
        // Ended by run() or stop(), which advance the generation. A worker cannot miss one: run()
        // returns only after all workers have seen it.
        for (std::uint32_t seen = 0;; ++seen) {
            wait_for_change(generation_, seen, spins_);
            if (stopping_) {
                return;
            }
            call_(work_, worker);
            // Release: run() sees what the work of all wrote. Only the last one wakes the caller.
            if (remaining_.fetch_sub(1, std::memory_order_release) == 1) {
                remaining_.notify_one();
            }
        }
    }

    std::vector<std::thread> threads_;
    int spins_ = 0;
    void (*call_)(void*, int) = nullptr;
    void* work_ = nullptr;
    bool stopping_ = false;
    std::atomic<std::uint32_t> generation_{0};  // run() and stop() count up, workers wait
    std::atomic<std::uint32_t> remaining_{0};   // workers count down, run() waits
};

PortThreads::PortThreads(int threads, const std::vector<int>& cores) {
    if (threads < 0) {
        throw Error(Status::invalid_argument,
                    "port threads: " + std::to_string(threads) +
                        " threads were asked for; 0 or more are possible");
    }
    if (threads > 0) {
        implementation_ = std::make_unique<DedicatedThreads>(threads, cores);
    }
}

PortThreads::PortThreads(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}

PortThreads::~PortThreads() = default;

int PortThreads::workers() const {
    return implementation_ ? implementation_->threads() : 1;
}

void PortThreads::require_usable() const {
    if (implementation_) {
        implementation_->require_usable();
    }
}

bool PortThreads::caller_works() const {
    return implementation_ == nullptr || implementation_->caller_works();
}

bool PortThreads::serves() const {
    return implementation_ && implementation_->serves();
}

bool PortThreads::spins() const {
    return implementation_ && implementation_->spins();
}

void PortThreads::start(void (*call)(void*, int), void* work) {
    implementation_->start(call, work);
}

void PortThreads::finish() {
    implementation_->finish();
}

bool PortThreads::run_erased(void (*call)(void*, int), void* work) {
    if (implementation_) {
        return implementation_->run(call, work);
    }
    call(work, 0);
    return true;
}

}  // namespace trefoil
