// SPDX-License-Identifier: BSD-3-Clause
// The engine: a rank's port groups and the workers that drive them, for all its executors.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/ports/port_group.hpp"
#include "threads/connections/cards.hpp"
#include "threads/connections/links.hpp"
#include "threads/executor/cause.hpp"
#include "threads/executor/waiters.hpp"
#include "threads/executor/wake_up.hpp"
#include "threads/workers/biased_flag.hpp"
#include "threads/workers/port_threads.hpp"
#include "threads/workers/waiting.hpp"
#include "topo/error.hpp"

namespace trefoil {

class Executor;
class Worker;

/// Each group has a worker, which alone touches it. A thread does the work of one, or, where there
/// are more groups than threads, of several in turns. Who the threads are depends on the port
/// threads:
///
///  - Threads of their own *serve*: they drive while any call is in flight, and sleep otherwise.
///    Who waits for a call only waits.
///  - Else the engine is *driven*: a thread that waits takes the turn, if nobody has it, and does
///    the workers' work, for all calls of all executors, until its own is done. Those of an OpenMP
///    runtime help it meanwhile. Whoever finds the turn taken sleeps until its call is done or the
///    turn is free.
///
/// Set-up, failures and the end need all groups in one hand: see Exclusive.
///
/// Thread-safe.
class Engine {
  public:
    using Groups = std::vector<std::shared_ptr<PortGroup>>;

    /// Which rank of how many this is in the job; the cards number them so.
    struct Member {
        Rank rank = 0, ranks = 1;
    };

    /// `port_threads` outlives the engine. `progress`: called in threads that wait. Throws what the
    /// groups throw when memory is taken from them.
    Engine(Groups groups, Member member, PortThreads& port_threads, bool may_spin,
           Progress progress = {});
    ~Engine();  ///< no call is in flight
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    const Groups& groups() const { return groups_; }
    WakeUp& wake_up() { return wake_up_; }

    // How the ranks come to know each other: all give each other their cards, once, before anything
    // is said.
    Card card() const;
    void meet(std::shared_ptr<const Cards> cards, const Prove& prove);
    const std::shared_ptr<const Cards>& cards() const { return cards_; }
    /// By group; its owner's.
    Links& links(std::size_t group);
    std::vector<LetterBox*> letter_boxes();

    // Words that belong to no communicator.
    /// From any thread: a letter to a rank of the job, through an own port. It leaves when the
    /// engine is driven. The peer's on_letter() hears it.
    void say(Rank to, Port own, std::uint64_t tag, std::string_view text);
    /// The peer has answered all that was said to it through `own`, or never will. Of an engine
    /// that is driven; false as well where who drives does not give way. Who serves sees to it.
    /// Not by a thread that drives.
    bool was_heard(Rank to, Port own) noexcept;
    /// A letter of whatever kind, with that; `tag` says whose.
    void send_letter(Rank to, Port own, std::uint64_t tag, std::string letter);
    /// Who hears letters; called by workers, perhaps by several at a time. Before the first comes.
    using Hear = std::function<void(Rank from, Port own, std::uint64_t tag, std::string_view text)>;
    void on_letter(Hear hear) { hear_ = std::move(hear); }
    void hear(Rank from, Port own, std::uint64_t tag, std::string_view text);
    /// Something has changed that drive_until() may wait for.
    void announce() noexcept { waiters_.announce(); }
    /// Drives, if need be, until `over()`, whose loads are sequentially consistent. False: the
    /// deadline has passed.
    bool drive_until(const std::function<bool()>& over,
                     std::chrono::steady_clock::time_point deadline);
    bool may_spin() const { return may_spin_; }
    Progress progress() const { return progress_; }
    /// Threads of their own do the work.
    bool serves() const { return serves_; }
    /// Some thread waits for a call: only then does it count how long nothing happens. Of an engine
    /// that is driven the driver does.
    bool is_waited_for() const { return !serves_ || waiting_.load(std::memory_order_relaxed) != 0; }

    /// Some thread is inside: it waits for a call, or drives. For messages.
    bool has_somebody_inside() const {
        return serves_ ? waiting_.load(std::memory_order_relaxed) != 0 : turn_.looks_taken();
    }

    class Exclusive;
    /// What cookies call an executor. While the engine is held. Throws Error(unsupported) when
    /// there are too many.
    std::uint32_t next_number(const Exclusive& during);
    /// The workers drive the executor from now on, and until detach(). `during` holds the engine.
    void attach(Executor& executor, const Exclusive& during);
    void detach(Executor& executor, const Exclusive& during) noexcept;

    /// The executor has a call in flight: its workers look after it.
    void enlist(Executor& executor) noexcept;
    /// A call is in an executor's queue; and one is complete, or has failed.
    void issued() noexcept;
    void completed(std::uint32_t calls = 1) noexcept {
        if (serves_) {
            work_.fetch_sub(calls, std::memory_order_relaxed);
        }
        waiters_.announce();
    }
    /// Ends the workers and lets go of the groups. Executors still there are not driven any more.
    void end() noexcept;
    /// Takes what has come at a group, and says what is to be said. False: nothing has moved. While
    /// the engine is held.
    bool listen(std::size_t group) noexcept;
    /// By a thread that has all groups: listens to them until `over()`, which is asked after each
    /// round, or the deadline; naps after a round in which nothing has come, which only what comes
    /// to the first group ends early. False: the time has passed, or the groups have gone.
    template <typename Over>
    bool listen_until(const Over& over, std::chrono::steady_clock::time_point deadline,
                      std::chrono::microseconds nap) {
        while (true) {
            const bool is_deaf = groups_are_gone() || groups_.empty();
            bool moved = false;
            for (std::size_t group = 0; group < groups_.size() && !is_deaf; ++group) {
                moved |= listen(group);
            }
            if (over()) {
                return true;
            }
            if (is_deaf || std::chrono::steady_clock::now() >= deadline) {
                return false;
            }
            if (!moved) {
                groups_[0]->wait(nap);
            }
        }
    }
    /// Listens until all that this rank has said has left, or the time has passed. The same.
    void drain(std::chrono::milliseconds longest) noexcept;
    /// Listens until all peers of groups that close after them have left, or the time has passed.
    /// The same.
    void hear_farewells(std::chrono::milliseconds longest) noexcept;
    /// What is broken, as far as was found. The same.
    std::vector<BrokenConnection> broken_so_far() const;
    /// Settles what has failed, and what fails by that. The same.
    void settle_failures(const Exclusive&) noexcept { settle_failures(); }
    /// Ends all groups at once, within Patience::longest_drain: they read no source any more, and
    /// are used no more. The same.
    void abandon_groups() noexcept;
    bool groups_are_gone() const noexcept {
        return groups_are_gone_.load(std::memory_order_relaxed);
    }
    /// The groups are about to end because of one executor's failure: all others fail, too. The
    /// same.
    void fail_all_but(const Executor& executor, const Cause& cause) noexcept;

    /// Returns when `over()`, whose loads must be sequentially consistent: a call is done or its
    /// executor has failed. Drives meanwhile if that is needed. `issue(true)` is called once: by
    /// the thread that has the turn; `issue(false)`: without it. `share()` follows the former if
    /// the turn is left before it is over: others may work for the call from then on. `executor` is
    /// told if an OpenMP runtime refuses its threads.
    template <typename Issue, typename Share, typename Over>
    void issue_and_drive(Executor& executor, Issue&& issue, Share&& share, Over&& over) {
        const WaitsForCall waits(*this);
        if (serves_ || !try_take_turn()) {
            issue(false);
        } else {
            issue(true);
            bool is_over = over();
            if (!is_over) {
                drive(executor, over);
                is_over = over();
            }
            if (!is_over) {
                share();
            }
            leave_turn();
            if (is_over) {
                return;
            }
        }
        drive_until_over(executor, over);
    }
    template <typename Over>
    void drive_until(Executor& executor, Over&& over) {
        const WaitsForCall waits(*this);
        drive_until_over(executor, over);
    }
    /// If the engine is to be driven and nobody does: work() has the turn.
    template <typename Work>
    void in_turn(Work&& work) {
        if (!serves_ && try_take_turn()) {
            work();
            leave_turn();
        }
    }
    /// By who has the turn: no other executor's call and no other thread needs it.
    bool may_wait_for_one_call() const noexcept;
    /// One round of all workers, if the engine is to be driven and nobody does. False: nothing has
    /// moved by it.
    bool advance(Executor& executor);

  private:
    friend class Exclusive;

    /// Whose port it is; nothing: it was not opened.
    std::optional<std::size_t> group_of(Port own) const noexcept;

    /// Says when a worker is to stop.
    struct Until {
        bool (*call)(const void*) = nullptr;
        const void* context = nullptr;
        bool operator()() const { return call(context); }
    };
    class WaitsForCall {
      public:
        explicit WaitsForCall(Engine& engine) : engine_(engine) { count(1); }
        ~WaitsForCall() { count(-1); }
        WaitsForCall(const WaitsForCall&) = delete;
        WaitsForCall& operator=(const WaitsForCall&) = delete;

      private:
        void count(int change) {
            if (engine_.serves_) {
                engine_.waiting_.fetch_add(static_cast<std::uint32_t>(change),
                                           std::memory_order_relaxed);
            }
        }
        Engine& engine_;
    };

    template <typename Over>
    void drive_until_over(Executor& executor, Over&& over) {
        while (!over()) {
            if (!serves_ && !is_claimed() && try_take_turn()) {
                drive(executor, over);
                leave_turn();
            } else {
                waiters_.wait(
                    [&] { return over() || (!serves_ && !is_claimed() && !turn_.is_taken()); },
                    spins_, progress_);
            }
        }
    }
    bool is_claimed() const noexcept { return claimants_.load(std::memory_order_seq_cst) != 0; }
    bool try_take_turn() noexcept {
        const BiasedFlag::Taken taken = turn_.take();
        if (taken == BiasedFlag::Taken::gave_back) {
            waiters_.announce();
        }
        return taken == BiasedFlag::Taken::yes;
    }
    void leave_turn() noexcept {
        if (turn_.leave()) {
            waiters_.announce();
        }
    }
    /// Returns early when somebody claims the engine: it may be what another rank's call, and so
    /// this one, waits for.
    template <typename Over>
    void drive(Executor& executor, const Over& over) {
        const auto stop = [&] { return over() || is_claimed(); };
        using Stop = decltype(stop);
        drive_erased(executor, {[](const void* s) { return (*static_cast<Stop*>(s))(); }, &stop});
    }
    void drive_erased(Executor& executor, Until until);

    void rouse() noexcept;
    bool has_words_to_say(int thread) const noexcept;
    void serve(int thread) noexcept;
    template <typename Stop>
    bool work(int thread, const Stop& stop) noexcept;
    void park() noexcept;
    void settle_failures() noexcept;
    void stop_workers() noexcept;

    Groups groups_;
    PortThreads& port_threads_;
    const bool may_spin_;
    const Progress progress_;
    const bool serves_;
    const int spins_;
    WakeUp wake_up_;
    Waiters waiters_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<std::vector<Worker*>> teams_;  ///< by thread: whose work it does, at least one
    std::vector<Executor*> executors_;  ///< by number, null: none; changes while nobody works
    std::atomic<bool> groups_are_gone_{false};  ///< changes while nobody works
    std::shared_ptr<const Cards> cards_;
    Hear hear_;

    // Of an engine that is driven.
    BiasedFlag turn_;
    std::atomic<int> claimants_{0};  ///< threads that wait for the turn to hold the engine

    // Of one that serves.
    std::atomic<std::uint32_t> work_{0};        ///< calls in flight
    std::atomic<std::uint32_t> waiting_{0};     ///< threads that wait for calls
    std::atomic<std::uint32_t> generation_{0};  ///< changes when idle workers have to look again
    std::atomic<bool> stopping_{false};
    std::atomic<bool> pause_{false};  ///< workers are to park
    std::mutex mutex_;                ///< guards what follows, and setting pause_
    std::condition_variable changed_;
    int parked_ = 0;
    int claims_ = 0;     ///< threads that hold the engine, or wait for it
    bool held_ = false;  ///< by one of them
};

/// Holds the engine: while it lives no worker works, and its thread owns all groups. Waits for
/// others who hold it, or drive. Not by a thread that drives.
class Engine::Exclusive {
  public:
    explicit Exclusive(Engine& engine);
    /// Waits until then at most: who drives may be held up in a function of the user's. holds()
    /// says whether it has come to that.
    Exclusive(Engine& engine, std::chrono::steady_clock::time_point deadline);
    ~Exclusive();
    Exclusive(const Exclusive&) = delete;
    Exclusive& operator=(const Exclusive&) = delete;

    bool holds() const noexcept { return holds_; }

  private:
    Engine& engine_;
    bool holds_ = true;
};

}  // namespace trefoil
