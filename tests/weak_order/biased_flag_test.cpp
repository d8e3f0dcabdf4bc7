// SPDX-License-Identifier: BSD-3-Clause
// The biased flag: an owner that takes it without a fence, and those who end that.
#include "tests/weak_order/checked_atomics.hpp"
// The product's file, over them.
#include "tests/weak_order/proof.hpp"
#include "threads/workers/biased_flag.hpp"

namespace trefoil {

namespace {
/// Scenarios of other parts take flags by exchanges.
bool machine_has_the_barrier = false;
}  // namespace

bool has_process_barrier() noexcept {
    return machine_has_the_barrier;
}
void process_barrier() noexcept {
    if (weak::running()) {
        weak::fence_in_all_threads();
    }
}

namespace weak {
namespace {

using Taken = BiasedFlag::Taken;

/// The first thread owns the flag.
struct Guarded {
    Guarded() {
        machine_has_the_barrier = true;
        flag.emplace();
        machine_has_the_barrier = false;
        (void)flag->take();
        (void)flag->leave();
    }
    void change() {
        note_read(&inside);
        note_write(&inside);
    }
    /// Once, if it can be had.
    Taken take_and_leave() {
        const Taken taken = flag->take();
        if (taken == Taken::yes) {
            change();
            (void)flag->leave();
        }
        return taken;
    }

    std::optional<BiasedFlag> flag;
    int inside = 0;
};

/// By the owner or another, who both try it twice.
Threads held_by_one_at_a_time() {
    const auto guarded = std::make_shared<Guarded>();
    const auto work = [guarded] {
        (void)guarded->take_and_leave();
        (void)guarded->take_and_leave();
    };
    return {work, work};
}

/// One brings work and asks whether somebody works; the other begins to work, and looks for some.
Threads work_is_seen() {
    struct Working : Guarded {
        std::atomic<int> work{0}, ended{0};
        std::atomic<bool> saw_work{false}, saw_holder{false};
        void end() {
            if (ended.fetch_add(1, std::memory_order_acq_rel) == 1) {
                require(saw_work.load() || saw_holder.load(), "neither has seen the other");
            }
        }
    };
    const auto both = std::make_shared<Working>();
    return {[both] {
                const bool works = both->flag->take() == Taken::yes;
                both->saw_work.store(!works || both->work.load(std::memory_order_relaxed) != 0);
                both->end();
            },
            [both] {
                both->work.store(1, std::memory_order_relaxed);
                both->saw_holder.store(both->flag->is_taken());
                both->end();
            }};
}

/// Who finds it taken waits, as at an engine: it counts itself, and sleeps while it is taken.
Threads a_waiter_is_woken() {
    struct Awaited : Guarded {
        std::atomic<int> waiting{0};
        std::atomic<std::uint32_t> changes{0};
        void announce() {
            if (waiting.load(std::memory_order_seq_cst) != 0) {
                changes.fetch_add(1, std::memory_order_seq_cst);
                changes.notify_all();
            }
        }
        void use() {
            const Taken taken = flag->take();
            if (taken == Taken::gave_back) {
                announce();
            }
            if (taken == Taken::yes) {
                change();
                if (flag->leave()) {
                    announce();
                }
                return;
            }
            waiting.fetch_add(1, std::memory_order_seq_cst);
            for (std::uint32_t seen = changes.load(std::memory_order_seq_cst); flag->is_taken();
                 seen = changes.load(std::memory_order_seq_cst)) {
                changes.wait(seen, std::memory_order_seq_cst);
            }
            waiting.fetch_sub(1, std::memory_order_relaxed);
        }
    };
    const auto all = std::make_shared<Awaited>();
    return {[all] {
                all->use();
                all->use();
            },
            [all] { all->use(); }};
}

TEST(BiasedFlag, EveryOrderingIsNeeded) {
    constexpr Bounds few{.preemptions = 2, .stale = 1};
    constexpr const char* before_a_look = "as in leave(): a look at who waits follows";
    constexpr const char* between_stores = "between the owner's two stores in leave()";
    constexpr const char* of_a_third = "of a third thread, that asks while another ends it";
    prove({"threads/workers/biased_flag.hpp"},
          {{"one at a time", held_by_one_at_a_time, few},
           {"work is seen", work_is_seen, few},
           {"a waiter is woken", a_waiter_is_woken, few}},
          {{"biased_flag.hpp", "atomic_signal_fence", "for the compiler"},
           {"biased_flag.hpp", "taken_.exchange", "whoever takes a turn looks for work then"},
           {"biased_flag.hpp", "owner_.compare_exchange_strong", "these begin with an owner"},
           {"biased_flag.hpp", "owner_.load(std::memory_order_seq_cst)", "the same"},
           {"biased_flag.hpp", "inside_.store(false, std::memory_order_release)", between_stores},
           {"biased_flag.hpp", "inside_.load(std::memory_order_acquire)", between_stores},
           {"biased_flag.hpp", "state_.load(std::memory_order_acquire)", of_a_third},
           {"biased_flag.hpp", "state_.store(State::shared", of_a_third},
           {"biased_flag.hpp", "inside_.store(false, std::memory_order_seq_cst)", before_a_look},
           {"biased_flag.hpp", "taken_.store(false, std::memory_order_seq_cst)", before_a_look}});
}

}  // namespace
}  // namespace weak
}  // namespace trefoil
