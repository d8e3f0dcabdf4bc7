// SPDX-License-Identifier: BSD-3-Clause
// Many named allgathers over a launcher that knows only one: all processes together, in order.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/bootstrap/bootstrap.hpp"
#include "topo/error.hpp"

namespace trefoil {

/// What PMIx and PMI offer: the n-th call here meets the n-th call of every other process.
class LauncherLink {
  public:
    using Clock = std::chrono::steady_clock;

    virtual ~LauncherLink() = default;
    virtual Rank rank() const = 0;
    virtual Rank ranks() const = 0;
    /// All processes' blobs, by rank. Called by one thread at a time. Throws Error; a link that has
    /// thrown is not used again.
    virtual std::vector<std::string> gather(std::string_view mine, Clock::time_point until) = 0;
};

/// Two communicators may be in an allgather at the same time, from two threads, and their order may
/// differ between processes, but a fence has no name by which to tell whom it serves. So a process
/// hands in, round by round, everything that its threads have begun since its last round, and
/// repeats until its own allgathers are complete. All see the same contributions after the same
/// round; hence an allgather completes everywhere in the same round, and nobody waits in a further
/// one for it. Thread-safe.
class LauncherRounds {
  public:
    using Clock = LauncherLink::Clock;

    explicit LauncherRounds(std::unique_ptr<LauncherLink> link)
        : link_(std::move(link)), rank_(link_->rank()), ranks_(link_->ranks()) {}

    Rank rank() const { return rank_; }
    Rank ranks() const { return ranks_; }
    /// Every rank's blob for allgather `number` of `job`, which each rank enters once. Throws
    /// Error(timeout) with the ranks that did not come, where they are known, and what a rank that
    /// has abandoned the job gave as its cause.
    std::vector<std::string> allgather(const std::string& job, std::uint64_t number,
                                       std::string_view mine, std::chrono::milliseconds deadline);

    /// This process comes to no further allgather of `job`. The others hear it with the next round
    /// that this process takes part in, for whatever communicator: none can be begun for this
    /// alone, as all must take part and nobody else may have a reason to.
    void abandon(const std::string& job, const Error& cause);

    /// Ends the link, so that it can say good-bye while communicators still exist; later allgathers
    /// fail.
    void close();

  private:
    using Contributions = std::map<Rank, std::string>;

    void run_round(std::unique_lock<std::mutex>& lock, Clock::time_point until);
    void deliver(Rank from, std::string_view handed_in);
    std::vector<std::string> take(const std::string& name);
    [[noreturn]] void report_late(const std::string& name, std::chrono::milliseconds deadline);

    std::unique_ptr<LauncherLink> link_;  // used by the thread that has set running_
    const Rank rank_;
    const Rank ranks_;
    std::mutex mutex_;                 // guards all below
    std::condition_variable changed_;  // signalled at the end of every round
    std::string handed_in_;            // for the next round
    std::map<std::string, Contributions> allgathers_;
    std::map<std::string, Error> abandoned_;  // by job; the first cause of each
    bool running_ = false;
    std::optional<Error> failure_;  // final: the processes are no longer in step
};

/// A communicator's view of the rounds; `job` names it among others.
std::unique_ptr<Bootstrap> make_rounds_bootstrap(std::shared_ptr<LauncherRounds> rounds,
                                                 std::string job,
                                                 std::chrono::milliseconds deadline);

}  // namespace trefoil
