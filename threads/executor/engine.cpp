// SPDX-License-Identifier: BSD-3-Clause
// Who drives, who sleeps, and how all stop for what needs all groups in one hand.
#include "threads/executor/engine.hpp"

#include <algorithm>
#include <exception>
#include <thread>

#include "threads/executor/executor.hpp"
#include "threads/executor/put_cookie.hpp"
#include "threads/executor/reports.hpp"
#include "threads/executor/worker.hpp"
#include "topo/own_thread.hpp"
#include "topo/patience.hpp"

namespace trefoil {

namespace {
constexpr std::chrono::microseconds try_again_after{200};
/// A driver gives way at once, but for functions of the user's.
constexpr std::chrono::milliseconds longest_question{2};
constexpr std::chrono::microseconds short_nap{100};
}  // namespace

Engine::Engine(Groups groups, Member member, PortThreads& port_threads, bool may_spin,
               Progress progress)
    : groups_(std::move(groups)),
      port_threads_(port_threads),
      may_spin_(may_spin),
      progress_(progress),
      serves_(port_threads.serves() && !groups_.empty()),
      spins_(port_threads.spins() ? spins_before_sleep : 0),
      wake_up_(groups_) {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
        const bool in_caller = i == 0 && port_threads.caller_works();
        workers_.push_back(
            std::make_unique<Worker>(i, in_caller, *this, member.rank, member.ranks));
    }
    teams_.resize(std::min(static_cast<std::size_t>(port_threads.workers()), groups_.size()));
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        teams_[i % teams_.size()].push_back(workers_[i].get());
    }
    if (serves_) {
        port_threads_.start(
            [](void* engine, int worker) { static_cast<Engine*>(engine)->serve(worker); }, this);
    }
}

Engine::~Engine() {
    end();
}

void Engine::end() noexcept {
    if (cards_ != nullptr && !workers_.empty() && !groups_are_gone()) {
        const Exclusive held(*this);
        try {
            for (const auto& worker : workers_) {
                worker->links().wiring().leave();
            }
        } catch (const std::exception&) {  // no memory: peers see it by the connection
        }
        drain(patience().longest_farewell);
        hear_farewells(patience().longest_drain);
        cards_.reset();
    }
    if (serves_ && !stopping_.exchange(true, std::memory_order_relaxed)) {
        rouse();
        port_threads_.finish();
    }
    teams_.clear();
    workers_.clear();
    groups_.clear();
}

Card Engine::card() const {
    Card card;
    for (const auto& worker : workers_) {
        card.groups.push_back(worker->links().post().card());
    }
    return card;
}

void Engine::meet(std::shared_ptr<const Cards> cards, const Prove& prove) {
    const Exclusive held(*this);
    cards_ = std::move(cards);
    for (const auto& worker : workers_) {
        worker->links().post().open(*cards_, prove);
    }
}

Links& Engine::links(std::size_t group) {
    return workers_[group]->links();
}

std::vector<LetterBox*> Engine::letter_boxes() {
    std::vector<LetterBox*> boxes;
    for (const auto& worker : workers_) {
        boxes.push_back(&worker->links());
    }
    return boxes;
}

void Engine::say(Rank to, Port own, std::uint64_t tag, std::string_view text) {
    std::string letter(1, static_cast<char>(LetterKind::agreement));
    letter += text;
    send_letter(to, own, tag, std::move(letter));
}

std::optional<std::size_t> Engine::group_of(Port own) const noexcept {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        const std::vector<Port>& ports = groups_[g]->ports();
        if (std::find(ports.begin(), ports.end(), own) != ports.end()) {
            return g;
        }
    }
    return std::nullopt;
}

void Engine::send_letter(Rank to, Port own, std::uint64_t tag, std::string letter) {
    const std::optional<std::size_t> group = group_of(own);
    if (!group) {
        throw Error(Status::internal, "port " + to_string(own) + " was not opened");
    }
    links(*group).send(to, own, tag, std::move(letter));
    rouse();  // it leaves although no call is in flight
}

bool Engine::was_heard(Rank to, Port own) noexcept {
    if (serves_ || groups_are_gone()) {
        return true;
    }
    // Who drives may wait for a call to which a peer comes only when this was heard.
    const Exclusive held(*this, std::chrono::steady_clock::now() + longest_question);
    if (!held.holds()) {
        return false;
    }
    const std::optional<std::size_t> group = group_of(own);
    return !group || links(*group).was_heard(to, own);
}

void Engine::hear(Rank from, Port own, std::uint64_t tag, std::string_view text) {
    if (hear_) {
        hear_(from, own, tag, text);
        announce();
    }
}

// Counts as a call in flight: those who serve work only then.
bool Engine::drive_until(const std::function<bool()>& over,
                         std::chrono::steady_clock::time_point deadline) {
    using Clock = std::chrono::steady_clock;
    issued();
    bool done = over();
    Waiting waiting(may_spin_);
    while (!done && Clock::now() < deadline) {
        bool moved = false;
        if (!serves_ && try_take_turn()) {
            bool trouble = false;
            for (const auto& worker : workers_) {
                moved |= worker->round(trouble);
            }
            if (trouble) {
                settle_failures();
            }
            leave_turn();
        }
        done = over();
        if (done || moved) {
            waiting.reset();
            continue;
        }
        if (progress_) {
            progress_();
        }
        const auto nap =
            std::min(waiting.idle(static_cast<bool>(progress_)), longest_sleep_with_progress);
        if (nap.count() > 0) {
            std::this_thread::sleep_for(nap);
        }
    }
    completed();
    return done;
}

std::uint32_t Engine::next_number(const Exclusive&) {
    const auto free = std::find(executors_.begin(), executors_.end(), nullptr);
    const auto number = static_cast<std::size_t>(free - executors_.begin());
    if (number >= PutCookie::executor_limit) {
        throw Error(Status::unsupported,
                    "more than " + std::to_string(number) + " communicators; destroy some");
    }
    return static_cast<std::uint32_t>(number);
}

void Engine::attach(Executor& executor, const Exclusive&) {
    executors_.resize(std::max<std::size_t>(executors_.size(), executor.number() + 1));
    executors_[executor.number()] = &executor;
    for (const auto& worker : workers_) {
        worker->add(executor);
    }
}

void Engine::detach(Executor& executor, const Exclusive&) noexcept {
    executors_[executor.number()] = nullptr;
    for (const auto& worker : workers_) {
        worker->remove(executor);
    }
}

void Engine::fail_all_but(const Executor& executor, const Cause& cause) noexcept {
    for (Executor* const other : executors_) {
        if (other != nullptr && other != &executor) {
            other->fall_with(cause);
        }
    }
    drain(patience().longest_farewell);
}

/// All at the same time, so that it takes `longest drain` and not that for each.
void Engine::abandon_groups() noexcept {
    if (groups_are_gone()) {
        return;
    }
    groups_are_gone_.store(true, std::memory_order_relaxed);
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < groups_.size(); ++i) {
        try {
            threads.push_back(
                start_thread([&, i] { groups_[i]->abandon(patience().longest_drain); }));
        } catch (const std::exception&) {  // no thread, or no memory for one
            groups_[i]->abandon(patience().longest_drain);
        }
    }
    if (!groups_.empty()) {
        groups_[0]->abandon(patience().longest_drain);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

void Engine::enlist(Executor& executor) noexcept {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        workers_[i]->enlist(executor.part(i));
    }
}

void Engine::drain(std::chrono::milliseconds longest) noexcept {
    const auto is_quiet = [](const auto& worker) { return worker->links().is_quiet(); };
    (void)listen_until([&] { return std::ranges::all_of(workers_, is_quiet); },
                       std::chrono::steady_clock::now() + longest, short_nap);
}

void Engine::hear_farewells(std::chrono::milliseconds longest) noexcept {
    const auto may_close = [](const auto& worker) {
        Links& links = worker->links();
        return links.has_peers_left() || !links.post().group().traits().closes_after_peers;
    };
    (void)listen_until([&] { return std::ranges::all_of(workers_, may_close); },
                       std::chrono::steady_clock::now() + longest, short_nap);
}

std::vector<BrokenConnection> Engine::broken_so_far() const {
    std::vector<BrokenConnection> all;
    for (const auto& worker : workers_) {
        all.insert(all.end(), worker->broken_so_far().begin(), worker->broken_so_far().end());
    }
    return all;
}

/// Those who serve and sleep, and a driver that sleeps.
void Engine::rouse() noexcept {
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
    wake_up_.announce_from_outside();
}

// Of who issues and who takes the turn at least one sees the other: either this one finds the turn
// taken, or that one finds the call, or the part that is to be looked after. All these accesses are
// sequentially consistent. Of those who serve, `generation_` shows all that they have to see.
void Engine::issued() noexcept {
    if (serves_) {
        work_.fetch_add(1, std::memory_order_relaxed);
        rouse();
    } else if (turn_.is_taken()) {
        wake_up_.announce_from_outside();
    }
}

bool Engine::listen(std::size_t group) noexcept {
    return workers_[group]->listen();
}

bool Engine::may_wait_for_one_call() const noexcept {
    return !is_claimed() && workers_.size() == 1 && workers_.front()->has_one_executor();
}

bool Engine::advance(Executor& executor) {
    if (serves_ || !try_take_turn()) {
        return true;  // others do the work
    }
    std::atomic<bool> progressed{false}, trouble{false};
    auto work = [&](int thread) {
        bool has_trouble = false;
        for (std::size_t i = static_cast<std::size_t>(thread); i < workers_.size();
             i += teams_.size()) {
            if (workers_[i]->round(has_trouble)) {
                progressed.store(true, std::memory_order_relaxed);
            }
        }
        if (has_trouble) {
            trouble.store(true, std::memory_order_relaxed);
        }
    };
    if (!port_threads_.run(work)) {
        executor.threads_refused(port_threads_.workers());
        trouble.store(true, std::memory_order_relaxed);
    }
    if (trouble.load(std::memory_order_relaxed)) {
        settle_failures();
    }
    leave_turn();
    return progressed.load(std::memory_order_relaxed);
}

/// False when `stop()`; true when an executor has failed and is to be settled.
template <typename Stop>
bool Engine::work(int thread, const Stop& stop) noexcept {
    const std::vector<Worker*>& team = teams_[static_cast<std::size_t>(thread)];
    return team.size() == 1 ? team.front()->work(stop) : Worker::work_in_turns(team, stop);
}

void Engine::drive_erased(Executor& executor, Until until) {
    bool trouble = false;
    if (teams_.size() == 1) {
        trouble = work(0, until);
    } else {
        std::atomic<bool> failed{false};
        auto work_of = [&](int thread) {
            const auto stop = [&] { return failed.load(std::memory_order_relaxed) || until(); };
            if (work(thread, stop)) {
                failed.store(true, std::memory_order_relaxed);
            }
        };
        if (!port_threads_.run(work_of)) {
            executor.threads_refused(port_threads_.workers());
            failed.store(true, std::memory_order_relaxed);
        }
        trouble = failed.load(std::memory_order_relaxed);
    }
    if (trouble) {
        settle_failures();
    }
}

/// By the one thread that has all groups. One may fail by another.
void Engine::settle_failures() noexcept {
    const auto fails = [](const Executor* executor) {
        return executor != nullptr && executor->needs_settling();
    };
    for (auto found = std::find_if(executors_.begin(), executors_.end(), fails);
         found != executors_.end();
         found = std::find_if(executors_.begin(), executors_.end(), fails)) {
        (*found)->settle();
    }
}

/// Those who wait for them may make no call that this rank takes part in.
bool Engine::has_words_to_say(int thread) const noexcept {
    const auto& team = teams_[static_cast<std::size_t>(thread)];
    return !groups_are_gone() &&
           std::ranges::any_of(team, [](Worker* worker) { return !worker->links().is_quiet(); });
}

void Engine::serve(int thread) noexcept {
    if (thread >= static_cast<int>(teams_.size())) {
        return;
    }
    const auto has_work = [&] {
        return work_.load(std::memory_order_relaxed) != 0 || has_words_to_say(thread);
    };
    const auto is_over = [&] {
        return pause_.load(std::memory_order_relaxed) ||
               stopping_.load(std::memory_order_relaxed) || !has_work();
    };
    while (true) {
        const std::uint32_t seen = generation_.load(std::memory_order_acquire);
        if (stopping_.load(std::memory_order_relaxed)) {
            return;
        }
        if (pause_.load(std::memory_order_relaxed)) {
            park();
        } else if (!has_work()) {
            wait_for_change(generation_, seen, spins_);
        } else if (work(thread, is_over)) {
            const std::lock_guard lock(mutex_);
            stop_workers();
        }
    }
}

/// All workers park soon. With the mutex.
void Engine::stop_workers() noexcept {
    pause_.store(true, std::memory_order_relaxed);
    rouse();
}

/// The last one settles what has failed; then the work goes on, unless somebody claims the engine.
void Engine::park() noexcept {
    std::unique_lock lock(mutex_);
    if (!pause_.load(std::memory_order_relaxed)) {
        return;
    }
    if (++parked_ == static_cast<int>(teams_.size())) {
        settle_failures();
        pause_.store(claims_ > 0, std::memory_order_relaxed);
        changed_.notify_all();
    }
    changed_.wait(lock, [this] { return !pause_.load(std::memory_order_relaxed); });
    --parked_;
}

Engine::Exclusive::Exclusive(Engine& engine) : engine_(engine) {
    if (!engine_.serves_) {
        if (engine_.try_take_turn()) {
            return;
        }
        engine_.claimants_.fetch_add(1, std::memory_order_relaxed);  // the next line shows it
        engine_.wake_up_.announce_from_outside();
        while (!engine_.try_take_turn()) {
            engine_.waiters_.wait([this] { return !engine_.turn_.is_taken(); }, engine_.spins_,
                                  engine_.progress_);
        }
        engine_.claimants_.fetch_sub(1, std::memory_order_seq_cst);
        return;
    }
    std::unique_lock lock(engine_.mutex_);
    ++engine_.claims_;
    engine_.stop_workers();
    engine_.changed_.wait(lock, [this] {
        return !engine_.held_ && engine_.parked_ == static_cast<int>(engine_.teams_.size());
    });
    engine_.held_ = true;
}

Engine::Exclusive::Exclusive(Engine& engine, std::chrono::steady_clock::time_point deadline)
    : engine_(engine) {
    if (!engine_.serves_) {
        engine_.claimants_.fetch_add(1, std::memory_order_relaxed);  // the next line shows it
        engine_.wake_up_.announce_from_outside();
        holds_ = engine_.try_take_turn();
        while (!holds_ && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::sleep_for(try_again_after);
            holds_ = engine_.try_take_turn();
        }
        engine_.claimants_.fetch_sub(1, std::memory_order_seq_cst);
        engine_.waiters_.announce();  // who has left the turn to this thread may take it again
        return;
    }
    std::unique_lock lock(engine_.mutex_);
    ++engine_.claims_;
    engine_.stop_workers();
    holds_ = engine_.changed_.wait_until(lock, deadline, [this] {
        return !engine_.held_ && engine_.parked_ == static_cast<int>(engine_.teams_.size());
    });
    engine_.held_ |= holds_;
    if (!holds_) {
        engine_.pause_.store(--engine_.claims_ > 0, std::memory_order_relaxed);
        engine_.changed_.notify_all();
    }
}

Engine::Exclusive::~Exclusive() {
    if (!holds_) {
        return;
    }
    if (!engine_.serves_) {
        engine_.leave_turn();
        return;
    }
    const std::lock_guard lock(engine_.mutex_);
    engine_.held_ = false;
    engine_.pause_.store(--engine_.claims_ > 0, std::memory_order_relaxed);
    engine_.changed_.notify_all();
}

}  // namespace trefoil
