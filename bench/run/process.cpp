// SPDX-License-Identifier: BSD-3-Clause
// Starting one local rank: fork, pipes, process group, and a report when exec fails.
#include "bench/run/process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

struct Pipe {
    Descriptor read_end, write_end;
};

[[noreturn]] void cannot_start(const std::string& what) {
    throw Error(Status::system_error,
                "cannot start a rank: " + what + ": " + std::strerror(errno) +
                    "; fewer ranks, or a higher limit (ulimit -n, ulimit -u), may help");
}

Pipe make_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        cannot_start("no pipe");
    }
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
    std::vector<char*> result;
    for (const std::string& s : strings) {
        result.push_back(const_cast<char*>(s.c_str()));
    }
    result.push_back(nullptr);
    return result;
}

/// Room for more cores than CPU_SETSIZE; empty: none.
std::vector<cpu_set_t> core_set(const std::vector<int>& cores) {
    if (cores.empty()) {
        return {};
    }
    const int most = *std::max_element(cores.begin(), cores.end());
    std::vector<cpu_set_t> set(static_cast<std::size_t>(most / CPU_SETSIZE) + 1);
    for (const int core : cores) {
        CPU_SET_S(static_cast<std::size_t>(core), set.size() * sizeof(cpu_set_t), set.data());
    }
    return set;
}

/// Everything between fork and exec; other threads may hold locks, so only system calls here.
[[noreturn]] void become(const ProcessOptions& options, char* const* command,
                         char* const* environment, const std::vector<cpu_set_t>& cores,
                         pid_t parent, int input, int output, int error, int report) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const bool orphaned = getppid() != parent;  // it died before prctl could know
    const bool wired = (input < 0 || dup2(input, STDIN_FILENO) >= 0) &&
                       (output < 0 || dup2(output, STDOUT_FILENO) >= 0) &&
                       (error < 0 || dup2(error, STDERR_FILENO) >= 0);
    if (orphaned || !wired) {
        _exit(127);
    }
    // Refused when a core was taken away since the cores were chosen; then they stay as they were.
    if (!cores.empty()) {
        sched_setaffinity(0, cores.size() * sizeof(cpu_set_t), cores.data());
    }
    sigprocmask(SIG_SETMASK, &options.signal_mask, nullptr);
    setrlimit(RLIMIT_NOFILE, &options.descriptors);
    execvpe(command[0], command, environment);
    const int cause = errno;
    const ssize_t ignored = write(report, &cause, sizeof cause);
    _exit(ignored == sizeof cause ? 127 : 126);
}

/// Blocks until exec has closed the report pipe (0) or has failed (its errno).
int exec_result(int report) {
    int cause = 0;
    ssize_t got = 0;
    do {
        got = ::read(report, &cause, sizeof cause);
    } while (got < 0 && errno == EINTR);
    return got == sizeof cause ? cause : 0;
}

void make_non_blocking(const Descriptor& d) {
    if (d.open()) {
        fcntl(d.get(), F_SETFL, O_NONBLOCK);
    }
}

}  // namespace

void Descriptor::close() {
    if (value_ >= 0) {
        ::close(value_);
        value_ = -1;
    }
}

std::string signal_text(int signal) {
    return "signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

Process start_process(const ProcessOptions& options) {
    const std::vector<char*> command = pointers(options.command);
    const std::vector<char*> environment = pointers(options.environment);
    const std::vector<cpu_set_t> cores = core_set(options.cores);
    Pipe output = options.pipe_output ? make_pipe() : Pipe{};
    Pipe error = options.pipe_error ? make_pipe() : Pipe{};
    Pipe report = make_pipe();
    const Descriptor input(options.inherit_input ? -1 : ::open("/dev/null", O_RDONLY | O_CLOEXEC));

    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) {
        cannot_start("no process");
    }
    if (pid == 0) {
        become(options, command.data(), environment.data(), cores, parent, input.get(),
               output.write_end.get(), error.write_end.get(), report.write_end.get());
    }
    setpgid(pid, pid);  // here and in the child: whichever comes first
    report.write_end.close();
    const int cause = exec_result(report.read_end.get());
    if (cause != 0) {
        waitpid(pid, nullptr, 0);
        const std::string& program = options.command.front();
        const bool is_there = cause == ENOENT && program.find('/') != program.npos &&
                              access(program.c_str(), F_OK) == 0;
        throw Error(Status::not_found,
                    "cannot run \"" + program + "\": " +
                        (is_there ? "what it runs by is not there: the interpreter of its first "
                                    "line (#!), or its loader"
                                  : std::string(std::strerror(cause)) +
                                        "; give a program in PATH or a path with a /"));
    }
    make_non_blocking(output.read_end);
    make_non_blocking(error.read_end);
    return {pid, std::move(output.read_end), std::move(error.read_end)};
}

}  // namespace trefoil::tool
