// SPDX-License-Identifier: BSD-3-Clause
// Starts the ranks of `trefoil perf`.
#include "bench/perf/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <fstream>
#include <mutex>
#include <thread>

#include "bench/common/command.hpp"
#include "bench/common/own_program.hpp"
#include "bench/run/launcher.hpp"
#include "comm/setup/environment.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

/// An allgather among the threads of this process, for the library's callback. Two rounds never
/// mix: a round is collected only after everybody has taken the one before.
class Meeting {
  public:
    explicit Meeting(Rank ranks) : ranks_(ranks) {}

    /// Returns 0, or 1 when the others do not come in time or have given up.
    int allgather(Rank rank, const void* mine, void* all, std::size_t bytes) {
        std::unique_lock lock(mutex_);
        if (!wait(lock, [this] { return taking_ == 0; })) {
            return 1;
        }
        board_.resize(bytes * static_cast<std::size_t>(ranks_));
        std::memcpy(board_.data() + bytes * static_cast<std::size_t>(rank), mine, bytes);
        const std::uint64_t round = round_;
        if (++given_ == ranks_) {
            given_ = 0;
            taking_ = ranks_;
            ++round_;
            changed_.notify_all();
        } else if (!wait(lock, [&] { return round_ != round; })) {
            return 1;
        }
        std::memcpy(all, board_.data(), board_.size());
        if (--taking_ == 0) {
            changed_.notify_all();
        }
        return 0;
    }

    /// A rank has failed: nobody shall wait for it.
    void give_up() {
        const std::lock_guard lock(mutex_);
        over_ = true;
        changed_.notify_all();
    }

  private:
    template <typename Condition>
    bool wait(std::unique_lock<std::mutex>& lock, Condition condition) {
        constexpr auto patience = std::chrono::seconds(120);
        return changed_.wait_for(lock, patience, [&] { return over_ || condition(); }) &&
               condition();
    }

    Rank ranks_;
    std::mutex mutex_;  ///< guards all below
    std::condition_variable changed_;
    std::vector<std::byte> board_;
    Rank given_ = 0, taking_ = 0;
    std::uint64_t round_ = 0;
    bool over_ = false;
};

struct Member {
    Meeting* meeting;
    Rank rank;
};

int meet(const void* mine, void* all, std::size_t bytes, void* context) {
    const auto* member = static_cast<Member*>(context);
    return member->meeting->allgather(member->rank, mine, all, bytes);
}

/// How a rank's thread ended; when several failed, the first one is the cause.
class Outcome {
  public:
    void failed(std::exception_ptr error) {
        const std::lock_guard lock(mutex_);
        error_ = error_ ? error_ : std::move(error);
    }
    void ended(int code) {
        const std::lock_guard lock(mutex_);
        code_ = std::max(code_, code);
    }
    /// After all threads have ended.
    int code() const {
        if (error_) {
            std::rethrow_exception(error_);
        }
        return code_;
    }

  private:
    std::mutex mutex_;
    std::exception_ptr error_;
    int code_ = exit_success;
};

}  // namespace

int launch_threads(Rank ranks, const std::function<int(const ThreadRank&)>& body) {
    Meeting meeting(ranks);
    Outcome outcome;
    std::vector<Member> members;
    for (Rank rank = 0; rank < ranks; ++rank) {
        members.push_back({&meeting, rank});
    }
    const auto work = [&](Member& member) {
        try {
            outcome.ended(body({member.rank, ranks, meet, &member}));
        } catch (...) {
            outcome.failed(std::current_exception());
            meeting.give_up();
        }
    };
    std::vector<std::jthread> threads;
    for (Member& member : members) {
        threads.emplace_back(work, std::ref(member));
    }
    threads.clear();  // joins
    return outcome.code();
}

int launch_processes(const std::string& name, Rank ranks, const std::string& torus,
                     const std::vector<std::string>& arguments) {
    Job job;
    job.name = name;
    job.ranks = ranks;
    job.torus = torus;
    job.command.push_back(own_program().string());
    job.command.insert(job.command.end(), arguments.begin(), arguments.end());
    job.output = Job::Output::first_rank;
    return launch(job);
}

std::string launcher_text() {
    const LauncherChoice choice = choose_launcher(launcher_request(settings_from_environment()));
    return choice.launcher == Launcher::single
               ? std::string()
               : fmt::format("{}: {}", to_string(choice.launcher), choice.reason);
}

void check_launch(const std::string& launch) {
    if (launch != "processes" && launch != "threads") {
        throw Error(Status::invalid_argument,
                    "--launch is \"" + launch + "\"; give processes or threads");
    }
}

void refuse_threads(const std::string& launcher) {
    throw Error(Status::invalid_argument,
                "--launch threads starts ranks itself; it cannot be used under a launcher (" +
                    launcher + "); TREFOIL_LAUNCHER=single ignores it");
}

void require_writable(const std::string& option, const std::string& file) {
    if (!file.empty() && !std::ofstream(file, std::ios::app)) {
        throw Error(Status::invalid_argument, "cannot write " + option + " " + file +
                                                  "; give a file in a directory that exists");
    }
}

}  // namespace trefoil::tool
