// SPDX-License-Identifier: BSD-3-Clause
// Waiting for a signal or a question, and answering.
#include "comm/status/teller.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "topo/error.hpp"
#include "topo/own_thread.hpp"
#include "topo/patience.hpp"

namespace trefoil {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int look_interval_ms = 200;

bool ready(const Descriptor& socket, short what, Clock::time_point deadline) {
    pollfd waiting{socket.number(), what, 0};
    int found = 0;
    do {
        found = poll(&waiting, 1, store::poll_time(deadline));
    } while (found < 0 && errno == EINTR);
    return found > 0;
}

/// The line that was sent; what is longer than a key, or late, is "".
std::string question(const Descriptor& socket) {
    const auto deadline = Clock::now() + patience().longest_question;
    std::string text;
    std::array<char, 128> chunk{};
    while (text.size() < chunk.size() && ready(socket, POLLIN, deadline)) {
        const ssize_t bytes = recv(socket.number(), chunk.data(), chunk.size(), 0);
        if (bytes <= 0) {
            return "";
        }
        text.append(chunk.data(), static_cast<std::size_t>(bytes));
        if (const auto end = text.find('\n'); end != std::string::npos) {
            return text.substr(0, end);
        }
    }
    return "";
}

void send_all(const Descriptor& socket, std::string_view text) {
    const auto deadline = Clock::now() + patience().longest_answer;
    while (!text.empty() && ready(socket, POLLOUT, deadline)) {
        const ssize_t bytes = send(socket.number(), text.data(), text.size(), MSG_NOSIGNAL);
        if (bytes < 0) {
            return;
        }
        text.remove_prefix(static_cast<std::size_t>(bytes));
    }
}

}  // namespace

int signal_named(const std::string& name) {
    struct Known {
        const char* name;
        int number;
    };
    constexpr Known known[] = {{"HUP", SIGHUP},   {"QUIT", SIGQUIT}, {"USR1", SIGUSR1},
                               {"USR2", SIGUSR2}, {"TERM", SIGTERM}, {"WINCH", SIGWINCH},
                               {"URG", SIGURG}};
    const std::string plain = name.starts_with("SIG") ? name.substr(3) : name;
    for (const Known& one : known) {
        if (plain == one.name || plain == std::to_string(one.number)) {
            return one.number;
        }
    }
    std::string all;
    for (const Known& one : known) {
        all += (all.empty() ? "SIG" : ", SIG") + std::string(one.name);
    }
    throw Error(Status::invalid_argument,
                "TREFOIL_DUMP: '" + name + "' is none of the signals " + all);
}

Teller::Teller(Options options, std::function<RankReport()> report, std::shared_ptr<const Log> log)
    : options_(std::move(options)),
      report_(std::move(report)),
      log_(std::move(log)),
      signal_(options_.signal) {
    if (options_.listens) {
        socket_ = store::listen_at(options_.to_all_hosts ? options_.host : "127.0.0.1", 0);
        address_ = store::endpoint_text(options_.to_all_hosts ? options_.host : "127.0.0.1",
                                        store::port_of(socket_)) +
                   "/" + options_.key;
    }
    thread_ = start_thread([this] { run(); });
}

Teller::~Teller() {
    stopping_ = true;
    thread_.join();
}

void Teller::run() noexcept {
    while (!stopping_) {
        pollfd waiting{socket_.number(), POLLIN, 0};  // without a socket it only naps
        const int found = poll(&waiting, 1, look_interval_ms);
        if (found > 0 && (waiting.revents & POLLIN) != 0) {
            answer();
        }
        if (signal_.has_come()) {
            try {
                log_->write(LogLevel::warning, LogTopic::call, text_of(report_()));
            } catch (const std::exception&) {  // no memory: nothing is said
            }
        }
    }
}

void Teller::answer() noexcept {
    try {
        const Descriptor asker(
            accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!asker.is_open()) {  // no descriptor is left: who asks waits, and is still there later
            std::this_thread::sleep_for(std::chrono::milliseconds(look_interval_ms));
        } else if (question(asker) == options_.key) {
            send_all(asker, json_of(report_()) + "\n");
        }
    } catch (const std::exception&) {  // who asked hears nothing, and asks again
    }
}

}  // namespace trefoil
