// SPDX-License-Identifier: BSD-3-Clause
// Starting one local rank as a process of its own.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace trefoil::tool {

/// A file descriptor that is closed with its owner.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int value) : value_(value) {}
    ~Descriptor() { close(); }
    Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        if (this != &other) {
            close();
            value_ = other.release();
        }
        return *this;
    }
    int get() const { return value_; }
    bool open() const { return value_ >= 0; }
    int release() {
        const int value = value_;
        value_ = -1;
        return value;
    }
    void close();

  private:
    int value_ = -1;
};

struct ProcessOptions {
    std::vector<std::string> command;
    std::vector<std::string> environment;  ///< "NAME=value", all of it
    sigset_t signal_mask;                  ///< the process's own
    rlimit descriptors;                    ///< likewise
    std::vector<int> cores = {};  ///< that it may run on; none: those of the calling thread
    bool inherit_input = false;   ///< otherwise it reads /dev/null
    bool pipe_output = true;      ///< otherwise it writes where we do
    bool pipe_error = true;
};

/// A started process, the leader of a process group of its own (so that what it starts can be ended
/// with it), killed by the system when the thread that started it ends.
struct Process {
    pid_t pid = -1;
    Descriptor output;  ///< reading end, non-blocking; closed unless piped
    Descriptor error;
};

/// Throws Error(not_found) when the program cannot be executed, Error(system_error) when the system
/// refuses a process.
Process start_process(const ProcessOptions& options);

/// "signal 9 (Killed)"
std::string signal_text(int signal);

}  // namespace trefoil::tool
