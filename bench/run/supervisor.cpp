// SPDX-License-Identifier: BSD-3-Clause
// Watches the ranks of a job with one poll loop over their output and a signal descriptor.
#include "bench/run/supervisor.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "backend/registry/transports.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

constexpr std::size_t kept_bytes = 8192;
/// A look costs the more the more ranks there are.
constexpr std::chrono::milliseconds look_interval{20};

std::string ranks_text(Rank ranks) {
    return fmt::format("{} {}", ranks, ranks == 1 ? "rank" : "ranks");
}

int open_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int s : supervised_signals) {
        sigaddset(&set, s);
    }
    const int descriptor = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (descriptor < 0) {
        throw Error(Status::system_error, "cannot watch signals: signalfd failed");
    }
    return descriptor;
}

}  // namespace

Supervisor::Supervisor(const Job& job, OnEnd on_end)
    : job_(job), on_end_(std::move(on_end)), signals_(open_signals()) {
    if (job.timeout.count() > 0) {
        job_deadline_ = Clock::now() + job.timeout;
    }
}

Supervisor::~Supervisor() {
    signal_all(SIGKILL);
    for (const Member& member : members_) {
        waitpid(member.pid, nullptr, 0);
    }
}

void Supervisor::add(Process process) {
    const auto rank = static_cast<Rank>(members_.size());
    const std::string label =
        job_.output == Job::Output::labelled ? fmt::format("[{}] ", rank) : std::string();
    members_.push_back({process.pid, true});
    add_stream(rank, std::move(process.output), STDOUT_FILENO, label);
    add_stream(rank, std::move(process.error), STDERR_FILENO, label);
    ++alive_;
}

void Supervisor::add_stream(Rank rank, Descriptor source, int target, const std::string& label) {
    if (source.open()) {
        const bool kept = job_.output == Job::Output::first_rank;
        streams_.push_back({rank, std::move(source), LineOutput(target, label), kept, {}});
    }
}

bool Supervisor::look() {
    if (const auto now = Clock::now(); now >= next_look_) {
        next_look_ = now + look_interval;
        wait_for_events(0);
        check_deadlines();
    }
    return stage_ < Stage::terminated;
}

int Supervisor::run() {
    while (alive_ > 0) {
        wait_for_events(-1);
        check_deadlines();
    }
    signal_all(SIGKILL);  // what a rank has left behind in its group
    drain();
    clean_up();
    explain_silent_failure();
    return exit_code();
}

/// After ranks that could not do it themselves. All of them: one may have been killed before it
/// knew any other.
void Supervisor::clean_up() const {
    for (const Transport& transport : transports()) {
        for (const Member& member : members_) {
            if (transport.clean_up_after != nullptr) {
                transport.clean_up_after(static_cast<int>(member.pid));
            }
        }
    }
}

/// -1: until something happens, or a deadline.
void Supervisor::wait_for_events(int most_milliseconds) {
    std::vector<pollfd> polled{{signals_.get(), POLLIN, 0}};
    for (const Stream& stream : streams_) {
        polled.push_back({stream.source.get(), POLLIN, 0});  // a negative one is skipped
    }
    const auto until = std::min(stage_deadline_, job_deadline_);
    int milliseconds = most_milliseconds;
    if (milliseconds < 0 && until != Clock::time_point::max()) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
        milliseconds = static_cast<int>(std::clamp<long long>(left + 1, 0, 60'000));
    }
    if (poll(polled.data(), polled.size(), milliseconds) <= 0) {
        return;
    }
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        if (polled[i + 1].revents != 0) {
            pump(streams_[i]);
        }
    }
    if (polled[0].revents != 0) {
        read_signals();
    }
}

void Supervisor::read_signals() {
    signalfd_siginfo info;
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
        const int signal = static_cast<int>(info.ssi_signo);
        if (signal == SIGCHLD) {
            reap();
            continue;
        }
        if (signal == SIGUSR1 || signal == SIGUSR2) {  // TREFOIL_DUMP, or the program's own
            for (const Member& member : members_) {
                kill(member.pid, signal);  // what a rank has started may not know the signal
            }
            continue;
        }
        signal_all(signal);
        ended_by_ = signal;
        if (stage_ < Stage::terminated) {
            say(fmt::format("got {}: ending {}", signal_text(signal), ranks_text(alive_)));
            enter(Stage::terminated, job_.grace);
        }
    }
}

void Supervisor::reap() {
    for (std::size_t rank = 0; rank < members_.size(); ++rank) {
        Member& member = members_[rank];
        siginfo_t info{};
        // WNOWAIT: the process stays a zombie until the destructor, so that its number, which is
        // its group's too, cannot mean anything else when the group gets a signal.
        if (member.alive &&
            waitid(P_PID, static_cast<id_t>(member.pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid == member.pid) {
            member.alive = false;
            --alive_;
            ended(static_cast<Rank>(rank), End{info.si_code != CLD_EXITED, info.si_status});
        }
    }
}

void Supervisor::ended(Rank rank, End end) {
    on_end_(rank, end.by_signal ? "killed by " + signal_text(end.number)
                                : fmt::format("exit {}", end.number));
    if (end.code() == 0) {
        return;
    }
    if (failure_) {
        rank_0_failed_alike_ |= rank == 0 && end == failure_->end;
        return;
    }
    failure_ = Failure{rank, end};
    const bool was_asked =
        end.by_signal && stage_ >= Stage::terminated &&
        (end.number == SIGTERM || end.number == SIGKILL || end.number == ended_by_);
    if (!was_asked && (job_.output != Job::Output::first_rank || end.by_signal)) {
        say(end.by_signal ? fmt::format("rank {} was killed by {}", rank, signal_text(end.number))
                          : fmt::format("rank {} ended with exit code {}", rank, end.number));
    }
    if (stage_ == Stage::running) {
        enter(Stage::grace, job_.grace);
    }
}

void Supervisor::pump(Stream& stream) {
    std::array<char, 65536> chunk;
    // Bounded, so that one rank that never stops writing keeps nobody waiting.
    for (int i = 0; i < 16; ++i) {
        const ssize_t got = ::read(stream.source.get(), chunk.data(), chunk.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got > 0) {
            pass_on(stream, {chunk.data(), static_cast<std::size_t>(got)});
            continue;
        }
        if (got == 0 || errno != EAGAIN) {
            stream.source.close();
        }
        return;
    }
}

void Supervisor::pass_on(Stream& stream, std::string_view text) {
    if (!stream.kept) {
        stream.lines.feed(text);
        return;
    }
    stream.text += text;
    if (stream.text.size() > kept_bytes) {
        stream.text.erase(0, stream.text.size() - kept_bytes);
    }
}

void Supervisor::check_deadlines() {
    const auto now = Clock::now();
    if (now >= job_deadline_ && alive_ > 0) {
        job_deadline_ = Clock::time_point::max();
        timed_out_ = true;
        say(fmt::format("{} of {} ranks still ran after {:.1f} s (--time-limit); ending them",
                        alive_, job_.ranks, std::chrono::duration<double>(job_.timeout).count()));
        signal_all(SIGTERM);
        enter(Stage::terminated, job_.grace);
    }
    if (now < stage_deadline_ || alive_ == 0) {
        return;
    }
    if (stage_ == Stage::grace) {
        say(fmt::format("ending what still runs: {}", ranks_text(alive_)));
        signal_all(SIGTERM);
        enter(Stage::terminated, job_.grace);
    } else if (stage_ == Stage::terminated) {
        say(fmt::format("killing what did not end: {}", ranks_text(alive_)));
        signal_all(SIGKILL);
        enter(Stage::killed, std::chrono::milliseconds(0));
    }
}

void Supervisor::enter(Stage stage, std::chrono::milliseconds limit) {
    stage_ = stage;
    stage_deadline_ = stage == Stage::killed ? Clock::time_point::max() : Clock::now() + limit;
}

void Supervisor::signal_all(int signal) {
    for (const Member& member : members_) {
        kill(-member.pid, signal);
    }
}

void Supervisor::say(const std::string& text) const {
    write_all(STDERR_FILENO, job_.name + ": " + text + "\n");
}

/// Takes what is left in the pipes, without waiting for processes that inherited them.
void Supervisor::drain() {
    for (Stream& stream : streams_) {
        while (stream.source.open()) {
            pollfd readable{stream.source.get(), POLLIN, 0};
            if (poll(&readable, 1, 0) <= 0) {
                break;
            }
            pump(stream);
        }
        stream.lines.finish();
    }
}

/// With Output::first_rank: what the first rank that failed had to say, unless rank 0 failed alike
/// and has said it.
void Supervisor::explain_silent_failure() const {
    if (job_.output != Job::Output::first_rank || !failure_ || failure_->rank == 0 ||
        rank_0_failed_alike_) {
        return;
    }
    for (const Stream& stream : streams_) {
        if (stream.rank == failure_->rank && !stream.text.empty()) {
            write_all(STDERR_FILENO, fmt::format("rank {} said:\n{}", stream.rank, stream.text));
        }
    }
}

int Supervisor::exit_code() const {
    if (timed_out_) {
        return exit_timed_out;
    }
    if (failure_) {
        return failure_->end.code();
    }
    if (ended_by_ != 0 && members_.size() < static_cast<std::size_t>(job_.ranks)) {
        return 128 + ended_by_;  // before all had started
    }
    for (const Stream& stream : streams_) {
        if (const int error = stream.lines.failure(); error != 0) {
            say(std::string("the ranks' output could not be written: ") + std::strerror(error));
            return exit_lost_output;
        }
    }
    return 0;
}

}  // namespace trefoil::tool
