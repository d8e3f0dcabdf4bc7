// SPDX-License-Identifier: BSD-3-Clause
// Ranks as processes that are forked by a test and meet in its store.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "backend/bootstrap/bootstrap.hpp"
#include "trefoil/trefoil.h"

namespace trefoil::test {

using Clock = std::chrono::steady_clock;

/// Processes that wait to hear the store's port. They are forked before the store's thread exists:
/// a lock that another thread holds at a fork stays locked in the child for ever (the allocator of
/// AddressSanitizer has such locks).
struct Job {
    std::vector<pid_t> pids;
    int port_pipe = -1;

    void meet_at(int port) const {
        for (std::size_t i = 0; i < pids.size(); ++i) {
            ASSERT_EQ(write(port_pipe, &port, sizeof(port)), static_cast<ssize_t>(sizeof(port)));
        }
        close(port_pipe);
    }
};

/// Forks `ranks` processes that each run body(comm) and exit with its result.
/// `environment`: variables beside those that make a rank, or instead of them. `before`: called
/// before the ranks meet.
inline Job start(int ranks, const char* torus, const char* backend,
                 const std::function<int(int, trefoil_comm_t)>& body,
                 const std::map<std::string, std::string>& environment = {},
                 const std::function<bool(int rank)>& before = {}) {
    int ends[2] = {-1, -1};
    if (pipe(ends) != 0) {
        throw std::runtime_error("no pipe for the store's port");
    }
    Job job{{}, ends[1]};
    for (int r = 0; r < ranks; ++r) {
        const pid_t pid = fork();
        if (pid == 0) {
            int store_port = 0;
            close(ends[1]);
            if (read(ends[0], &store_port, sizeof(store_port)) != sizeof(store_port)) {
                _exit(91);
            }
            setenv("TREFOIL_RANK", std::to_string(r).c_str(), 1);
            setenv("TREFOIL_SIZE", std::to_string(ranks).c_str(), 1);
            setenv("TREFOIL_STORE", ("127.0.0.1:" + std::to_string(store_port)).c_str(), 1);
            setenv("TREFOIL_TORUS", torus, 1);
            setenv("TREFOIL_BACKEND", backend, 1);
            setenv("UCX_TLS", "tcp", 1);  // shared memory is what backend memory has
            setenv("TREFOIL_TIMEOUT", "15", 1);
            for (const auto& [name, value] : environment) {
                setenv(name.c_str(), value.c_str(), 1);
            }
            if (before && !before(r)) {
                _exit(5);
            }
            trefoil_comm_t comm = nullptr;
            if (trefoil_comm_create(nullptr, &comm) != TREFOIL_SUCCESS) {
                fprintf(stderr, "%s\n", trefoil_last_error(nullptr));
                _exit(90);
            }
            const int result = body(r, comm);
            trefoil_comm_destroy(comm);
            _exit(result);
        }
        job.pids.push_back(pid);
    }
    close(ends[0]);
    return job;
}

/// The exit code of a child, or -signal; a child that outlives the deadline is killed and gives 99.
inline int finish(pid_t pid, Clock::time_point deadline) {
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (Clock::now() > deadline) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return 99;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace trefoil::test
