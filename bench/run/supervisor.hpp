// SPDX-License-Identifier: BSD-3-Clause
// Watches the ranks of a job: passes on output and signals, notes who failed, ends the others.
#pragma once

#include <signal.h>
#include <sys/signalfd.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/run/launcher.hpp"
#include "bench/run/line_output.hpp"
#include "bench/run/process.hpp"

namespace trefoil::tool {

/// The signals that the supervisor handles; they must be blocked in all threads.
inline constexpr int supervised_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGUSR1, SIGUSR2};

class Supervisor {
  public:
    /// Hears of each rank that ends, and how: "exit 0".
    using OnEnd = std::function<void(Rank, const std::string& how)>;

    Supervisor(const Job& job, OnEnd on_end);
    ~Supervisor();  ///< kills what still runs
    Supervisor(const Supervisor&) = delete;
    Supervisor& operator=(const Supervisor&) = delete;

    /// The next rank, in order.
    void add(Process process);
    /// Takes what has happened meanwhile, without waiting. False: the job is being ended, and no
    /// further rank is to start.
    bool look();
    /// Until all ranks have ended; returns the job's exit code.
    int run();

  private:
    using Clock = std::chrono::steady_clock;

    void clean_up() const;

    struct Stream {
        Rank rank;
        Descriptor source;
        LineOutput lines;
        bool kept;         ///< not written, but kept in case that the rank is the one that fails
        std::string text;  ///< the last part of what was kept
    };
    struct Member {
        pid_t pid;  ///< also the number of its process group
        bool alive;
    };
    struct End {
        bool by_signal;
        int number;                                                     ///< signal or exit code
        int code() const { return by_signal ? 128 + number : number; }  ///< as a shell has it
        friend bool operator==(const End&, const End&) = default;
    };
    struct Failure {
        Rank rank;
        End end;
    };
    /// What has been done to end the ranks. Each stage but the first and the last has a deadline.
    enum class Stage { running, grace, terminated, killed };

    void add_stream(Rank rank, Descriptor source, int target, const std::string& label);
    void wait_for_events(int most_milliseconds);
    void read_signals();
    void reap();
    void ended(Rank rank, End end);
    void pump(Stream& stream);
    void pass_on(Stream& stream, std::string_view text);
    void check_deadlines();
    void enter(Stage stage, std::chrono::milliseconds limit);
    void signal_all(int signal);
    void say(const std::string& text) const;
    void drain();
    void explain_silent_failure() const;
    int exit_code() const;

    const Job& job_;
    const OnEnd on_end_;
    Descriptor signals_;
    std::vector<Member> members_;  ///< by rank
    std::vector<Stream> streams_;
    int alive_ = 0;
    Stage stage_ = Stage::running;
    Clock::time_point stage_deadline_ = Clock::time_point::max();
    Clock::time_point next_look_{};
    Clock::time_point job_deadline_ = Clock::time_point::max();
    int ended_by_ = 0;  ///< the signal that this process got
    bool timed_out_ = false;
    bool rank_0_failed_alike_ = false;
    std::optional<Failure> failure_;  ///< the first
};

}  // namespace trefoil::tool
