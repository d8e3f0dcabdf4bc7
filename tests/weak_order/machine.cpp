// SPDX-License-Identifier: BSD-3-Clause
// Threads are contexts that are switched at each access; a run is repeated with other choices.
#include "tests/weak_order/machine.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>

#include "tests/weak_order/seen.hpp"

namespace trefoil::weak {

namespace {

constexpr std::size_t stack_bytes = 128 << 10;
constexpr int most_steps = 4000;

struct Choice {
    std::size_t taken, of;
};

class Machine {
  public:
    Machine(const Bounds& bounds, const Access* weakened, std::memory_order order)
        : bounds_(bounds), weakened_(weakened), order_(order) {}

    Outcome explore(const Scenario& scenario) {
        Outcome outcome;
        do {
            ++outcome.runs;
            run(scenario);
            if (!failure_.empty()) {
                break;
            }
            outcome.complete = outcome.runs < bounds_.runs;
        } while (next_path() && outcome.complete);
        outcome.failure = failure_;
        outcome.accesses = accesses_;
        return outcome;
    }

    std::uint64_t load(Object object, std::memory_order order, Site site) {
        order = effective({site, Access::Kind::load, order});
        switch_threads();
        History& history = history_of(object);
        const auto newest = static_cast<std::uint32_t>(history.stored.size() - 1);
        std::uint32_t oldest = me().knowledge.of(number_of(object));
        if (order == std::memory_order_seq_cst) {
            oldest = std::max(oldest, history.newest_consistent);
        }
        const std::uint32_t old = stale_left_ > 0 ? choose(newest - oldest + 1) : 0;
        stale_left_ -= old > 0 ? 1 : 0;
        take(object, newest - old, order);
        return history.stored[newest - old].value;
    }

    void store(Object object, std::uint64_t value, std::memory_order order, Site site) {
        order = effective({site, Access::Kind::store, order});
        switch_threads();
        append(object, value, order, {});
    }

    std::uint64_t change(Object object,
                         const std::function<bool(std::uint64_t, std::uint64_t&)>& change,
                         std::memory_order order, std::memory_order failed, Site site) {
        order = effective({site, Access::Kind::change, order});
        switch_threads();
        History& history = history_of(object);
        const auto newest = static_cast<std::uint32_t>(history.stored.size() - 1);
        const std::uint64_t old = history.stored[newest].value;
        std::uint64_t next = 0;
        const bool changes = change(old, next);
        take(object, newest, changes ? order : failed);
        if (changes) {
            append(object, next, order, history.stored[newest].handed_on);
        }
        return old;
    }

    void fence(std::memory_order order, Site site) {
        order = effective({site, Access::Kind::fence, order});
        if (acquires(order)) {
            me().knowledge.join(me().loaded);
        }
        if (releases(order)) {
            me().released = me().knowledge;
        }
    }

    void fence_in_all_threads() {
        switch_threads();
        Knowledge all;
        for (Thread& thread : threads_) {
            all.join(thread.knowledge);
            all.join(thread.loaded);
        }
        for (Thread& thread : threads_) {
            thread.knowledge.join(all);
        }
    }

    void act_as_device(std::size_t device, const std::function<void()>& what) {
        works = true;
        switch_threads();
        devices_[device].knowledge.join(me().released);
        acting_ = device;
        works = false;
        what();
        acting_ = most_devices;
    }

    void sleep_while(Object object, std::uint64_t value) {
        switch_threads();
        if (history_of(object).stored.back().value == value) {
            me().sleeps_on = object.place;
            give_up_processor();
        }
        // The kernel's own look. It orders nothing that the program could rely on.
        take(object, static_cast<std::uint32_t>(history_of(object).stored.size() - 1),
             std::memory_order_relaxed);
    }

    void wake_sleepers(Object object) {
        switch_threads();
        for (Thread& thread : threads_) {
            thread.sleeps_on = thread.sleeps_on == object.place ? nullptr : thread.sleeps_on;
        }
    }

    void forget(Object object) { numbers_.erase(object.place); }

    std::size_t start_thread(std::function<void()> body) {
        started_.push_back(std::move(body));
        return started_.size() - 1;
    }

    void join(std::size_t started) {
        switch_threads();
        const std::size_t other = first_started_ + started;
        if (!threads_[other].ended) {
            me().joins = other;
            give_up_processor();
        }
        me().knowledge.join(threads_[other].knowledge);
    }

    void let_others_go_on() {
        if (++steps_ > most_steps) {
            fail("the run does not end");
        }
        if (!others().empty()) {
            give_up_processor();
        }
    }

    void forget_plain(const void* place, std::size_t bytes) { plain_.forget(place, bytes); }

    void note(const void* place, bool writes) {
        if (is_on_own_stack(place)) {
            return;
        }
        if (const char* const race = plain_.use(place, writes, actor(), me().knowledge.moments)) {
            fail(race);
        }
    }

    [[noreturn]] void fail(std::string what) {
        failure_ = std::move(what);
        setcontext(&scheduler_);
        std::abort();
    }
    bool running() const { return current_ < threads_.size(); }
    std::size_t thread() const { return current_; }

    static inline Machine* current = nullptr;
    /// While it works itself: it may share functions of the standard library with the product.
    static inline bool works = false;

  private:
    bool device_acts() const { return acting_ < most_devices; }
    Thread& me() { return device_acts() ? devices_[acting_] : threads_[current_]; }
    std::size_t actor() const { return device_acts() ? most_threads + acting_ : current_; }

    std::memory_order effective(const Access& access) {
        if (access.order != std::memory_order_relaxed &&
            std::none_of(accesses_.begin(), accesses_.end(), [&](const Access& known) {
                return known.site == access.site && known.kind == access.kind;
            })) {
            accesses_.push_back(access);
        }
        const bool is_it = weakened_ != nullptr && weakened_->site == access.site &&
                           weakened_->kind == access.kind && weakened_->order == access.order;
        return is_it ? order_ : access.order;
    }

    std::uint32_t number_of(Object object) {
        const auto next = static_cast<std::uint32_t>(histories_.size());
        const auto [found, is_new] = numbers_.emplace(object.place, next);
        if (is_new) {
            histories_.push_back({object, {{object.initial, {}}}, 0});
        }
        return found->second;
    }
    History& history_of(Object object) { return histories_[number_of(object)]; }

    void take(Object object, std::uint32_t index, std::memory_order order) {
        const Stored& seen = history_of(object).stored[index];
        me().knowledge.see(number_of(object), index);
        me().loaded.join(seen.handed_on);
        if (acquires(order)) {
            me().knowledge.join(seen.handed_on);
        }
    }

    /// `inherited`: of the store that a change goes on from.
    void append(Object object, std::uint64_t value, std::memory_order order, Knowledge inherited) {
        History& history = history_of(object);
        const auto index = static_cast<std::uint32_t>(history.stored.size());
        me().knowledge.see(number_of(object), index);
        ++me().knowledge.moments[actor()];
        inherited.join(releases(order) ? me().knowledge : me().released);
        history.stored.push_back({value, std::move(inherited)});
        if (order == std::memory_order_seq_cst) {
            history.newest_consistent = index;
        }
    }

    std::uint32_t choose(std::size_t of) {
        if (of < 2) {
            return 0;
        }
        if (at_ == path_.size()) {
            path_.push_back({0, of});
        }
        return static_cast<std::uint32_t>(path_[at_++].taken);
    }

    bool next_path() {
        while (!path_.empty() && path_.back().taken + 1 == path_.back().of) {
            path_.pop_back();
        }
        if (path_.empty()) {
            return false;
        }
        ++path_.back().taken;
        return true;
    }

    bool can_go_on(const Thread& thread) const {
        return !thread.ended && thread.sleeps_on == nullptr &&
               (thread.joins == Thread::none || threads_[thread.joins].ended);
    }

    /// Only what is somewhere else may be another thread's.
    bool is_on_own_stack(const void* place) const {
        const auto* const stack = threads_[current_].stack.get();
        return std::less_equal<>()(stack, place) && std::less<>()(place, stack + stack_bytes);
    }

    std::vector<std::size_t> others() const {
        std::vector<std::size_t> ready;
        for (std::size_t i = 0; i < threads_.size(); ++i) {
            if (i != current_ && can_go_on(threads_[i])) {
                ready.push_back(i);
            }
        }
        return ready;
    }

    /// Before each access: another thread may go on here.
    void switch_threads() {
        if (++steps_ > most_steps) {
            fail("the run does not end");
        }
        if (preemptions_left_ == 0 || device_acts()) {
            return;
        }
        const std::vector<std::size_t> ready = others();
        const std::uint32_t next = choose(ready.size() + 1);
        if (next > 0) {
            --preemptions_left_;
            go_to(ready[next - 1]);
        }
    }

    void give_up_processor() {
        const std::vector<std::size_t> ready = others();
        if (!ready.empty()) {
            go_to(ready[choose(ready.size())]);
        } else if (std::any_of(threads_.begin(), threads_.end(),
                               [](const Thread& thread) { return !thread.ended; })) {
            fail("a thread sleeps and nobody is left to wake it");
        } else {
            setcontext(&scheduler_);
        }
    }

    void go_to(std::size_t next) {
        Thread& before = me();
        current_ = next;
        swapcontext(&before.context, &threads_[next].context);
        works = true;
    }

    static void enter() {
        works = false;
        current->me().body();
        works = true;
        current->me().ended = true;
        current->give_up_processor();
    }

    /// For whoever looks at them, or ends them, after the run.
    void keep_last_values() const {
        for (const auto& [place, number] : numbers_) {
            const History& history = histories_[number];
            std::memcpy(const_cast<void*>(place), &history.stored.back().value,
                        history.object.bytes);
        }
    }

    void run(const Scenario& scenario) {
        histories_.clear();
        numbers_.clear();
        plain_ = {};
        threads_.clear();
        devices_ = {};
        current_ = most_threads;
        acting_ = most_devices;
        at_ = 0;
        steps_ = 0;
        preemptions_left_ = bounds_.preemptions;
        stale_left_ = bounds_.stale;
        started_.clear();
        Threads bodies = scenario();
        first_started_ = bodies.size();
        std::move(started_.begin(), started_.end(), std::back_inserter(bodies));
        for (std::function<void()>& body : bodies) {
            Thread thread;
            thread.body = std::move(body);
            thread.stack =
                spare_.empty() ? std::make_unique<char[]>(stack_bytes) : std::move(spare_.back());
            if (!spare_.empty()) {
                spare_.pop_back();
            }
            threads_.push_back(std::move(thread));
        }
        for (Thread& thread : threads_) {
            getcontext(&thread.context);
            thread.context.uc_stack.ss_sp = thread.stack.get();
            thread.context.uc_stack.ss_size = stack_bytes;
            makecontext(&thread.context, &Machine::enter, 0);
        }
        returned_ = false;
        getcontext(&scheduler_);  // where fail() and the last thread come back
        if (!returned_) {
            returned_ = true;
            current_ = choose(threads_.size());
            setcontext(&threads_[current_].context);
        }
        current_ = most_threads;
        if (failure_.empty()) {
            keep_last_values();
        }
        for (Thread& thread : threads_) {
            if (failure_.empty()) {
                spare_.push_back(std::move(thread.stack));
            } else {  // stopped halfway: what they hold cannot be ended
                (void)new std::function<void()>(std::move(thread.body));
            }
        }
        threads_.clear();
    }

    const Bounds bounds_;
    const Access* const weakened_;
    const std::memory_order order_;
    std::vector<Access> accesses_;
    std::vector<Choice> path_;
    std::string failure_;
    std::vector<std::unique_ptr<char[]>> spare_;
    // Of the run.
    std::vector<History> histories_;
    std::map<const void*, std::uint32_t> numbers_;
    PlainMemory plain_;
    std::vector<Thread> threads_;
    Threads started_;
    std::size_t first_started_ = 0;
    std::array<Thread, most_devices> devices_;
    std::size_t acting_ = most_devices;
    ucontext_t scheduler_{};
    volatile bool returned_ = false;
    std::size_t current_ = most_threads, at_ = 0;
    int steps_ = 0, preemptions_left_ = 0, stale_left_ = 0;
};

}  // namespace

Outcome explore(const Scenario& scenario, const Bounds& bounds, const Access* weakened,
                std::memory_order order) {
    Machine machine(bounds, weakened, order);
    Machine::current = &machine;
    return machine.explore(scenario);
}

bool running() {
    return Machine::current != nullptr && Machine::current->running();
}
std::size_t this_thread() {
    return Machine::current->thread();
}

namespace {

/// What a thread of the run asks for.
class Asked {
  public:
    Asked() { Machine::works = true; }
    ~Asked() { Machine::works = false; }
    Asked(const Asked&) = delete;
    Asked& operator=(const Asked&) = delete;
    Machine* operator->() const { return Machine::current; }
};

bool is_watched() {
    return running() && !Machine::works;
}

}  // namespace

std::uint64_t load(Object object, std::memory_order order, Site site) {
    return Asked()->load(object, order, site);
}
void store(Object object, std::uint64_t value, std::memory_order order, Site site) {
    Asked()->store(object, value, order, site);
}
std::uint64_t change(Object object,
                     const std::function<bool(std::uint64_t, std::uint64_t&)>& change,
                     std::memory_order order, std::memory_order failed, Site site) {
    if (!running()) {
        if (std::uint64_t next = 0; change(object.initial, next)) {
            std::memcpy(const_cast<void*>(object.place), &next, object.bytes);
        }
        return object.initial;
    }
    return Asked()->change(object, change, order, failed, site);
}
void fence(std::memory_order order, Site site) {
    Asked()->fence(order, site);
}
void fence_in_all_threads() {
    Asked()->fence_in_all_threads();
}
void act_as_device(std::size_t device, const std::function<void()>& what) {
    Machine::current->act_as_device(device, what);
}
void sleep_while(Object object, std::uint64_t value) {
    Asked()->sleep_while(object, value);
}
void wake_sleepers(Object object) {
    Asked()->wake_sleepers(object);
}
void forget(Object object) {
    Asked()->forget(object);
}
std::size_t start_thread(std::function<void()> body) {
    return Machine::current->start_thread(std::move(body));
}
void join(std::size_t started) {
    Asked()->join(started);
}
void let_others_go_on() {
    Asked()->let_others_go_on();
}
void forget_plain(const void* place, std::size_t bytes) {
    if (is_watched()) {
        Asked()->forget_plain(place, bytes);
    }
}
void note_read(const void* place) {
    if (is_watched()) {
        Asked()->note(place, false);
    }
}
void note_write(const void* place) {
    if (is_watched()) {
        Asked()->note(place, true);
    }
}
void require(bool condition, const char* what) {
    if (!condition) {
        Machine::current->fail(what);
    }
}

}  // namespace trefoil::weak
