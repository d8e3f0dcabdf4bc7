// SPDX-License-Identifier: BSD-3-Clause
// A PMI-1 process manager for tests: a thread at the other ends of the ranks' sockets.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "backend/bootstrap/pmi_wire.hpp"

namespace trefoil::test {

class FakeProcessManager {
  public:
    struct Habits {
        std::string version = "1";
        int value_limit = 1024;
        int key_limit = 64;
        std::string instead_of_maxes;  ///< answered to get_maxes, if not empty
        bool ends_at_barrier = false;  ///< closes all connections
        bool spoils_values = false;    ///< answers get with something else than was put
        bool in_small_pieces = false;  ///< answers byte by byte
    };

    FakeProcessManager(int ranks, Habits habits) : habits_(std::move(habits)) {
        for (int r = 0; r < ranks; ++r) {
            int pair[2];
            if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
                throw std::runtime_error("socketpair failed");
            }
            ranks_.push_back({pair[0], {}});
            theirs_.push_back(pair[1]);
        }
        thread_ = std::thread([this] { serve(); });
    }
    ~FakeProcessManager() {
        stop_ = true;
        thread_.join();
        close_all();
    }
    FakeProcessManager(const FakeProcessManager&) = delete;
    FakeProcessManager& operator=(const FakeProcessManager&) = delete;

    /// The rank's PMI_FD; the caller's to close.
    int descriptor(int rank) const { return theirs_.at(static_cast<std::size_t>(rank)); }
    int farewells() const { return farewells_; }
    std::size_t longest_line() const { return longest_line_; }
    std::size_t puts() const { return puts_; }

  private:
    struct Rank {
        int file;
        std::string received;
    };

    void serve() {
        while (!stop_) {
            std::vector<pollfd> waiting;
            for (const Rank& rank : ranks_) {
                waiting.push_back({rank.file, POLLIN, 0});
            }
            poll(waiting.data(), waiting.size(), 20);
            for (std::size_t i = 0; i < ranks_.size(); ++i) {
                if (waiting[i].revents != 0 && ranks_[i].file >= 0) {
                    read_from(ranks_[i]);
                }
            }
        }
    }

    void read_from(Rank& rank) {
        char piece[4096];
        const ssize_t count = recv(rank.file, piece, sizeof piece, 0);
        if (count <= 0) {
            close(rank.file);
            rank.file = -1;
            return;
        }
        rank.received.append(piece, static_cast<std::size_t>(count));
        std::size_t end = 0;
        while ((end = rank.received.find('\n')) != std::string::npos) {
            const std::string line = rank.received.substr(0, end);
            rank.received.erase(0, end + 1);
            longest_line_ = std::max(longest_line_.load(), line.size() + 1);
            answer(rank, pmi::parse_line(line));
        }
    }

    void answer(Rank& rank, pmi::Words words) {
        const std::string command = words["cmd"];
        if (command == "init") {
            say(rank,
                "cmd=response_to_init pmi_version=" + habits_.version + " pmi_subversion=1 rc=0");
        } else if (command == "get_my_kvsname") {
            say(rank, "cmd=my_kvsname kvsname=kvs_1_0");
        } else if (command == "get_maxes") {
            say(rank,
                !habits_.instead_of_maxes.empty()
                    ? habits_.instead_of_maxes
                    : "cmd=maxes kvsname_max=256 keylen_max=" + std::to_string(habits_.key_limit) +
                          " vallen_max=" + std::to_string(habits_.value_limit));
        } else if (command == "put") {
            put(rank, words["key"], words["value"]);
        } else if (command == "get") {
            const auto found = visible_.find(words["key"]);
            say(rank, found == visible_.end()
                          ? "cmd=get_result rc=-1 msg=key_not_found value=unknown"
                          : "cmd=get_result rc=0 msg=success value=" +
                                (habits_.spoils_values ? "1:xyz!" : found->second));
        } else if (command == "barrier_in") {
            barrier();
        } else if (command == "finalize") {
            ++farewells_;
            say(rank, "cmd=finalize_ack");
        } else {
            ADD_FAILURE() << "unknown command " << command;
        }
    }

    void put(Rank& rank, const std::string& key, const std::string& value) {
        const bool fits = value.size() < static_cast<std::size_t>(habits_.value_limit) &&
                          key.size() < static_cast<std::size_t>(habits_.key_limit) &&
                          hidden_.count(key) + visible_.count(key) == 0;
        hidden_[key] = value;
        ++puts_;
        say(rank, fits ? "cmd=put_result rc=0 msg=success" : "cmd=put_result rc=-1 msg=refused");
    }

    void barrier() {
        if (habits_.ends_at_barrier) {
            close_all();
        } else if (++waiting_ == static_cast<int>(ranks_.size())) {
            waiting_ = 0;
            visible_.merge(hidden_);
            for (const Rank& rank : ranks_) {
                say(rank, "cmd=barrier_out");
            }
        }
    }

    void say(const Rank& rank, const std::string& text) const {
        const std::string line = text + "\n";
        const std::size_t step = habits_.in_small_pieces ? 1 : line.size();
        for (std::size_t i = 0; i < line.size(); i += step) {
            EXPECT_EQ(send(rank.file, line.data() + i, step, MSG_NOSIGNAL),
                      static_cast<ssize_t>(step));
        }
    }

    void close_all() {
        for (Rank& rank : ranks_) {
            if (rank.file >= 0) {
                close(rank.file);
                rank.file = -1;
            }
        }
    }

    Habits habits_;
    std::vector<Rank> ranks_;
    std::vector<int> theirs_;
    std::map<std::string, std::string> hidden_;  // put, before the barrier
    std::map<std::string, std::string> visible_;
    int waiting_ = 0;
    std::atomic<std::size_t> longest_line_{0}, puts_{0};
    std::atomic<int> farewells_{0};
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

}  // namespace trefoil::test
