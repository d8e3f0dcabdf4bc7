// SPDX-License-Identifier: BSD-3-Clause
// Rounds: what each process hands in, and when an allgather is complete.
#include "backend/bootstrap/launcher_rounds.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "backend/bootstrap/store_wire.hpp"

namespace trefoil {

namespace {

void append(std::string& text, std::string_view field) {
    std::uint64_t length = field.size();
    for (int i = 0; i < 8; ++i, length >>= 8) {
        text.push_back(static_cast<char>(length & 0xff));
    }
    text.append(field);
}

/// Stands in the place of an allgather's number.
constexpr std::string_view abandoned_mark = "/abandoned";

/// The pause before another round that this process alone may need: others shall not be driven
/// through rounds while a thread of theirs computes.
constexpr std::chrono::milliseconds first_pause{1};
constexpr std::chrono::milliseconds longest_pause{50};

class RoundsBootstrap final : public Bootstrap {
  public:
    RoundsBootstrap(std::shared_ptr<LauncherRounds> rounds, std::string job,
                    std::chrono::milliseconds deadline)
        : rounds_(std::move(rounds)), job_(std::move(job)), deadline_(deadline) {}

    Rank rank() const override { return rounds_->rank(); }
    Rank ranks() const override { return rounds_->ranks(); }
    std::vector<std::string> allgather(std::string_view mine) override {
        return rounds_->allgather(job_, ++allgathers_, mine, deadline_);
    }
    void abandon(const Error& cause) noexcept override {
        try {
            rounds_->abandon(job_, cause);
        } catch (const std::exception&) {
            return;  // then the others wait for as long as they are told to
        }
    }

  private:
    std::shared_ptr<LauncherRounds> rounds_;
    std::string job_;
    std::chrono::milliseconds deadline_;
    std::uint64_t allgathers_ = 0;
};

}  // namespace

std::vector<std::string> LauncherRounds::allgather(const std::string& job, std::uint64_t number,
                                                   std::string_view mine,
                                                   std::chrono::milliseconds deadline) {
    const std::string name = job + "/" + std::to_string(number);
    const Clock::time_point until = Clock::now() + deadline;
    std::chrono::milliseconds pause = first_pause;
    std::unique_lock lock(mutex_);
    append(handed_in_, name);
    append(handed_in_, mine);
    const auto complete = [&] {
        const auto found = allgathers_.find(name);
        return found != allgathers_.end() &&
               found->second.size() == static_cast<std::size_t>(ranks());
    };
    while (!complete()) {
        const auto abandoned = abandoned_.find(job);
        if (abandoned != abandoned_.end()) {
            throw Error(abandoned->second);
        }
        if (failure_) {
            throw Error(*failure_);
        }
        if (Clock::now() >= until) {
            report_late(name, deadline);
        }
        if (running_) {
            // The other thread may begin its next round, which lasts until all processes take part,
            // before this one has seen that the last one brought all it needs.
            changed_.wait_until(
                lock, until, [&] { return !running_ || complete() || abandoned_.count(job) != 0; });
            continue;
        }
        run_round(lock, until);
        if (!failure_ && !complete()) {
            changed_.wait_until(lock, std::min(until, Clock::now() + pause));
            pause = std::min(2 * pause, longest_pause);
        }
    }
    return take(name);
}

/// Never throws what the link throws: that is for all threads, so it becomes failure_.
void LauncherRounds::run_round(std::unique_lock<std::mutex>& lock, Clock::time_point until) {
    const std::string mine = std::exchange(handed_in_, {});
    running_ = true;
    lock.unlock();
    std::vector<std::string> all;
    std::optional<Error> failure;
    try {
        all = link_->gather(mine, until);
    } catch (const Error& error) {
        failure = error;
    } catch (const std::exception& error) {
        failure = Error(Status::system_error, error.what());
    }
    lock.lock();
    running_ = false;
    failure_ = failure;
    for (std::size_t r = 0; r < all.size(); ++r) {
        deliver(static_cast<Rank>(r), all[r]);
    }
    changed_.notify_all();
}

void LauncherRounds::deliver(Rank from, std::string_view handed_in) {
    store::Fields fields(handed_in);
    while (!fields.at_end() && fields.good()) {
        const std::string name(fields.bytes(fields.number64()));
        const std::string_view blob = fields.bytes(fields.number64());
        if (fields.good() && name.ends_with(abandoned_mark)) {
            abandoned_.emplace(name.substr(0, name.size() - abandoned_mark.size()),
                               store::read_cause(blob));
        } else if (fields.good()) {
            allgathers_[name].emplace(from, blob);
        }
    }
    if (!fields.good()) {
        failure_ = Error(Status::mismatch,
                         "launcher: rank " + std::to_string(from) +
                             " has sent what this Trefoil does not understand; "
                             "use the same Trefoil everywhere",
                         {from, Evidence::disagrees});
    }
}

std::vector<std::string> LauncherRounds::take(const std::string& name) {
    std::vector<std::string> blobs;
    blobs.reserve(static_cast<std::size_t>(ranks()));
    for (auto& [from, blob] : allgathers_.at(name)) {
        blobs.push_back(std::move(blob));
    }
    allgathers_.erase(name);
    return blobs;
}

void LauncherRounds::report_late(const std::string& name, std::chrono::milliseconds deadline) {
    constexpr int shown_limit = 16;
    const Contributions& here = allgathers_[name];
    std::string missing;
    int absent = 0;
    Rank first_absent = Blame::nobody;
    for (Rank r = 0; r < ranks(); ++r) {
        if (here.count(r) == 0 && ++absent <= shown_limit) {
            missing += (absent == 1 ? "" : ", ") + std::to_string(r);
            first_absent = absent == 1 ? r : first_absent;
        }
    }
    if (absent > shown_limit) {
        missing += " and " + std::to_string(absent - shown_limit) + " more";
    }
    throw Error(Status::timeout,
                "launcher: rank" + std::string(absent == 1 ? " " : "s ") + missing + " of " +
                    std::to_string(ranks()) + " did not come to allgather \"" + name +
                    "\" within " + std::to_string(deadline.count()) +
                    " ms; look at their output, or raise TREFOIL_TIMEOUT",
                {first_absent, Evidence::silent});
}

void LauncherRounds::abandon(const std::string& job, const Error& cause) {
    const std::lock_guard lock(mutex_);
    append(handed_in_, job + std::string(abandoned_mark));
    append(handed_in_, store::cause_message(store::Kind::cause, cause).substr(store::header_bytes));
}

void LauncherRounds::close() {
    const std::lock_guard lock(mutex_);
    // A thread that is in a round at the end of the process keeps the link until the end.
    if (!running_) {
        link_.reset();
        failure_ = Error(Status::peer_lost, "launcher: this process has left the job at its end");
    }
}

std::unique_ptr<Bootstrap> make_rounds_bootstrap(std::shared_ptr<LauncherRounds> rounds,
                                                 std::string job,
                                                 std::chrono::milliseconds deadline) {
    return std::make_unique<RoundsBootstrap>(std::move(rounds), std::move(job), deadline);
}

}  // namespace trefoil
