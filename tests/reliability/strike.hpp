// SPDX-License-Identifier: BSD-3-Clause
// A fault that a rank brings upon itself, at a moment that the driver of the tests has drawn.
#pragma once

#include <chrono>
#include <string>
#include <thread>

namespace trefoil::test {

struct Fault {
    /// KILL, TERM, STOP, exit; shm: /dev/shm is full; files, memlock, space: this process may open
    /// no more descriptors, lock no memory, have no more address space; link: the driver does it.
    std::string kind;
    double seconds = 0;  ///< from arming to the strike
    long amount = 0;     ///< descriptors, or KiB of address space, that are left
};

/// A line of the output: a word, the monotonic time in seconds, and more.
void report(const char* word, const std::string& rest = "");

/// Says "fault TIME" on the standard output and brings it about. Returns where it can.
void strike(const Fault& fault);

/// Strikes from another thread, whatever this one does then.
class Striker {
  public:
    void arm(const Fault& fault) {
        thread_ = std::thread([fault] {
            std::this_thread::sleep_for(std::chrono::duration<double>(fault.seconds));
            strike(fault);
        });
    }
    ~Striker() {
        if (thread_.joinable()) {
            thread_.join();
        }
    }

  private:
    std::thread thread_;
};

double monotonic_seconds();

}  // namespace trefoil::test
