// SPDX-License-Identifier: BSD-3-Clause
// The threads of a run, and what they have seen of each other: of atomic objects their values, of
// plain memory who used it.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "tests/weak_order/machine.hpp"

namespace trefoil::weak {

constexpr std::size_t most_threads = 4;  // and the one that makes the scenario
constexpr std::size_t most_actors = most_threads + most_devices;

/// What an order does.
inline bool acquires(std::memory_order order) {
    return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
}
inline bool releases(std::memory_order order) {
    return order == std::memory_order_release || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
}

/// What a thread has seen: of each object up to which value, of each thread up to which moment.
struct Knowledge {
    std::vector<std::uint32_t> values;
    std::array<std::uint32_t, most_actors> moments{};

    std::uint32_t of(std::uint32_t object) const {
        return object < values.size() ? values[object] : 0;
    }
    void see(std::uint32_t object, std::uint32_t value) {
        values.resize(std::max<std::size_t>(values.size(), object + 1));
        values[object] = std::max(values[object], value);
    }
    void join(const Knowledge& other) {
        values.resize(std::max(values.size(), other.values.size()));
        for (std::size_t i = 0; i < other.values.size(); ++i) {
            values[i] = std::max(values[i], other.values[i]);
        }
        for (std::size_t i = 0; i < most_actors; ++i) {
            moments[i] = std::max(moments[i], other.moments[i]);
        }
    }
};

struct Stored {
    std::uint64_t value = 0;
    Knowledge handed_on;
};

struct History {
    Object object;
    std::vector<Stored> stored;
    std::uint32_t newest_consistent = 0;  ///< of the sequentially consistent ones
};

/// Plain memory, and who has used it when: each place is what begins there.
class PlainMemory {
  public:
    /// By an actor which has seen the others' moments. Null, or why that is a race.
    const char* use(const void* place, bool writes, std::size_t actor,
                    std::array<std::uint32_t, most_actors>& seen) {
        Use& use = uses_[place];
        if (use.written > seen[use.writer]) {
            return writes ? "plain memory is written twice, without order"
                          : "plain memory is read before its writer is known to be through";
        }
        for (std::size_t i = 0; writes && i < most_actors; ++i) {
            if (use.read[i] > seen[i]) {
                return "plain memory is written before its reader is known to be through";
            }
        }
        const std::uint32_t now = ++seen[actor];
        if (writes) {
            use.writer = actor;
            use.written = now;
        } else {
            use.read[actor] = now;
        }
        return nullptr;
    }
    void forget(const void* place, std::size_t bytes) {
        uses_.erase(uses_.lower_bound(place),
                    uses_.lower_bound(static_cast<const char*>(place) + bytes));
    }

  private:
    struct Use {
        std::array<std::uint32_t, most_actors> read{};
        std::size_t writer = 0;
        std::uint32_t written = 0;
    };
    std::map<const void*, Use> uses_;
};

/// A context, and what it knows.
struct Thread {
    std::function<void()> body;
    ucontext_t context{};
    std::unique_ptr<char[]> stack;
    Knowledge knowledge;
    Knowledge released;  ///< by the last fence: what relaxed stores hand on
    Knowledge loaded;    ///< by relaxed loads: what a fence that acquires takes over
    bool ended = false;
    const void* sleeps_on = nullptr;
    std::size_t joins = none;  ///< the thread whose end it waits for
    static constexpr std::size_t none = ~std::size_t{0};
};

}  // namespace trefoil::weak
