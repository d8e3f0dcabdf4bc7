// SPDX-License-Identifier: BSD-3-Clause
// Questions to a PMI-1 process manager over its socket.
#include "backend/bootstrap/pmi_client.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "backend/bootstrap/store_socket.hpp"
#include "topo/error.hpp"

namespace trefoil::pmi {

namespace {

/// Older process managers read a line into a buffer of this size, whatever they announce.
constexpr std::size_t line_limit = 1024;
/// For the words of a command and of its answer beside the names, key and value.
constexpr std::size_t room_for_words = 64;
constexpr std::size_t least_value_limit = 32;
/// No answer is that long; what is, comes from something else.
constexpr std::size_t answer_limit = std::size_t{1} << 20;

std::string first_word(const std::string& line) {
    return line.substr(0, line.find_first_of(" \n"));
}

[[noreturn]] void fail(const std::string& what) {
    throw Error(Status::system_error,
                "PMI: " + what +
                    "; is this process started by MPICH's mpirun? TREFOIL_LAUNCHER chooses another "
                    "way to meet");
}

}  // namespace

Client::~Client() {
    close(descriptor_);
}

void Client::greet(Clock::time_point until) {
    const Words version =
        ask("cmd=init pmi_version=1 pmi_subversion=1\n", "response_to_init", until);
    const auto spoken = version.find("pmi_version");
    if (spoken != version.end() && spoken->second != "1") {
        fail("the process manager speaks version " + spoken->second + ", not 1");
    }
    const Words names = ask("cmd=get_my_kvsname\n", "my_kvsname", until);
    const auto name = names.find("kvsname");
    if (name == names.end() || name->second.empty()) {
        fail("the process manager does not name its key space");
    }
    space_ = name->second;
    const Words limits = ask("cmd=get_maxes\n", "maxes", until);
    // Some count the terminating zero in, some do not.
    key_limit_ = number_in(limits, "keylen_max").value_or(1) - 1;
    const std::size_t announced = number_in(limits, "vallen_max").value_or(1) - 1;
    const std::size_t beside = space_.size() + key_limit_ + room_for_words;
    value_limit_ = beside < line_limit ? std::min(announced, line_limit - beside) : 0;
    if (key_limit_ == 0 || value_limit_ < least_value_limit) {
        fail("the process manager takes too short keys or values");
    }
}

void Client::put(std::string_view key, std::string_view value, Clock::time_point until) {
    ask("cmd=put kvsname=" + space_ + " key=" + std::string(key) + " value=" + std::string(value) +
            "\n",
        "put_result", until);
}

std::string Client::get(std::string_view key, Clock::time_point until) {
    const Words words =
        ask("cmd=get kvsname=" + space_ + " key=" + std::string(key) + "\n", "get_result", until);
    const auto value = words.find("value");
    if (value == words.end()) {
        fail("an answer to get without a value");
    }
    return value->second;
}

void Client::barrier(Clock::time_point until) {
    ask("cmd=barrier_in\n", "barrier_out", until);
}

void Client::say_good_bye(Clock::time_point until) {
    ask("cmd=finalize\n", "finalize_ack", until);
}

Words Client::ask(const std::string& line, std::string_view answer, Clock::time_point until) {
    send_all(line);
    const std::string text = read_line(line, until);
    Words words = parse_line(text);
    if (words["cmd"] != answer) {
        fail("\"" + text.substr(0, 200) + "\" is not an answer to " + first_word(line));
    }
    const auto code = words.find("rc");
    if (code != words.end() && code->second != "0") {
        fail(first_word(line) + " was refused: " + text.substr(0, 200));
    }
    return words;
}

/// A line fits the socket's buffer, so a process manager that does not read keeps nobody here.
void Client::send_all(std::string_view text) const {
    while (!text.empty()) {
        const ssize_t count = send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) {
            fail("cannot write to descriptor " + std::to_string(descriptor_) +
                 " (PMI_FD): " + std::strerror(errno));
        }
        text.remove_prefix(count > 0 ? static_cast<std::size_t>(count) : 0);
    }
}

/// The process manager ends this wait: it answers, or closes; else the time does.
std::string Client::read_line(const std::string& question, Clock::time_point until) {
    std::size_t end = 0;
    while ((end = received_.find('\n')) == std::string::npos) {
        pollfd waiting{descriptor_, POLLIN, 0};
        const int ready = ::poll(&waiting, 1, store::poll_time(until));
        if (ready == 0 && Clock::now() >= until) {
            throw Error(Status::timeout,
                        "PMI: no answer to " + first_word(question) +
                            (question.starts_with("cmd=barrier_in")
                                 ? "; some rank has not come: look at the ranks' output, or raise "
                                   "TREFOIL_TIMEOUT"
                                 : " from the process manager; does it still run?"));
        }
        if (ready <= 0) {
            continue;
        }
        std::array<char, 4096> piece;
        const ssize_t count = recv(descriptor_, piece.data(), piece.size(), 0);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) {
            continue;
        }
        if (count <= 0) {
            fail("the process manager has closed the connection");
        }
        received_.append(piece.data(), static_cast<std::size_t>(count));
        if (received_.size() > answer_limit) {
            fail("an answer without end to " + first_word(question));
        }
    }
    std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    return line;
}

}  // namespace trefoil::pmi
