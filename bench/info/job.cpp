// SPDX-License-Identifier: BSD-3-Clause
// Asking the ranks of a job, and the table.
#include "bench/info/job.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <future>

#include "backend/bootstrap/store_socket.hpp"
#include "bench/common/text_table.hpp"
#include "topo/error.hpp"
#include "topo/json_reason.hpp"

namespace trefoil::tool {

namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds longest_connect{2};
/// A rank takes a second to find out that it cannot look.
constexpr std::chrono::seconds longest_answer{4};
/// Ranks that are asked at the same time.
constexpr std::size_t at_a_time = 32;

struct Address {
    std::string host;
    int port = 0;
    std::string key;
};

[[noreturn]] void refuse(const std::string& text) {
    throw Error(Status::invalid_argument,
                "'" + text +
                    "' is neither HOST:PORT/KEY nor a file with that; a job with TREFOIL_TELL=FILE "
                    "writes it when its first communicator is made (under MPI: see "
                    "TREFOIL_MPI_EARLY)");
}

Address parse(const std::string& text) {
    const auto slash = text.rfind('/');
    const auto colon = text.rfind(':', slash);
    if (slash == std::string::npos || colon == std::string::npos || colon == 0) {
        refuse(text);
    }
    Address address{text.substr(0, colon), 0, text.substr(slash + 1)};
    if (address.host.front() == '[' && address.host.back() == ']') {
        address.host = address.host.substr(1, address.host.size() - 2);
    }
    const std::string port = text.substr(colon + 1, slash - colon - 1);
    if (port.empty() || port.size() > 5 ||
        port.find_first_not_of("0123456789") != std::string::npos) {
        refuse(text);
    }
    address.port = std::stoi(port);
    return address;
}

std::string address_of(const std::string& where) {
    std::ifstream file(where);
    std::string line;
    return file && std::getline(file, line) ? line : where;
}

std::string hear(const store::Descriptor& socket) {
    const auto deadline = Clock::now() + longest_answer;
    std::string text;
    std::array<char, 1 << 16> chunk{};
    while (true) {
        pollfd waiting{socket.number(), POLLIN, 0};
        if (poll(&waiting, 1, store::poll_time(deadline)) <= 0) {
            throw Error(Status::timeout,
                        fmt::format("connects, but says nothing for {} s", longest_answer.count()));
        }
        const ssize_t bytes = recv(socket.number(), chunk.data(), chunk.size(), 0);
        if (bytes <= 0) {
            break;
        }
        text.append(chunk.data(), static_cast<std::size_t>(bytes));
    }
    if (text.empty()) {
        throw Error(Status::peer_lost, "hangs up: the key is not this job's");
    }
    return text;
}

Json ask(const std::string& where) {
    const Address address = parse(where);
    const store::Descriptor socket = [&] {
        try {
            return store::connect_to(address.host, address.port, Clock::now() + longest_connect);
        } catch (const Error& error) {
            if (error.status() != Status::timeout) {
                throw;
            }
            throw Error(error.status(),
                        fmt::format("nobody answers at {}:{}: has the job ended, or been killed?",
                                    address.host, address.port));
        }
    }();
    const std::string question = address.key + "\n";
    if (send(socket.number(), question.data(), question.size(), MSG_NOSIGNAL) < 0) {
        throw Error(Status::peer_lost, "hangs up");
    }
    return Json::parse(hear(socket));
}

Json ask_rank(std::size_t rank, const std::string& address) {
    try {
        return ask(address);
    } catch (const std::exception& error) {
        return {{"rank", rank}, {"address", address}, {"error", json_reason(error)}};
    }
}

std::string list_of_ranks(const Json& communicator, const Json& waits) {
    std::vector<int> ranks;
    for (const Json& wait : waits) {
        const int rank = communicator["members"].at(wait["rank"].get<std::size_t>());
        if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) {
            ranks.push_back(rank);
        }
    }
    return fmt::format("{}", fmt::join(ranks, ", "));
}

Json row(const Json& answer, const Json& communicator, const std::string& text) {
    const bool known = !answer.contains("error");
    return {{"rank", std::to_string(answer["rank"].get<int>())},
            {"process", known ? fmt::format("{} on {}", answer["process"].get<int>(),
                                            answer["host"].get<std::string>())
                              : ""},
            {"inside", !known              ? ""
                       : !answer["looked"] ? "held up"
                       : answer["inside"]  ? "yes"
                                           : "no"},
            {"communicator", communicator.empty()
                                 ? ""
                                 : fmt::format("{} of {}", communicator["rank"].get<int>(),
                                               communicator["torus"].get<std::string>())},
            {"calls", communicator.empty()
                          ? ""
                          : std::to_string(communicator["calls_made"].get<std::uint64_t>())},
            {"in flight", text}};
}

std::string text_of_call(const Json& communicator, const Json& call) {
    std::string text = fmt::format("call {}, {}", call["call"].get<std::uint64_t>(),
                                   call["what"].get<std::string>());
    if (const std::string ranks = list_of_ranks(communicator, call["waits"]); !ranks.empty()) {
        text += "; waits for rank " + ranks;
    }
    if (const auto idle = communicator["idle_ms"].get<std::int64_t>(); idle >= 0) {
        text += fmt::format("; for {:.1f} s", static_cast<double>(idle) / 1000);
    }
    return text;
}

void add_rows(Json& rows, const Json& answer) {
    if (answer.contains("error")) {
        rows.push_back(row(answer, {}, "does not answer: " + answer["error"].get<std::string>()));
        return;
    }
    const std::size_t before = rows.size();
    for (const Json& communicator : answer["communicators"]) {
        for (const Json& call : communicator["calls"]) {
            rows.push_back(row(answer, communicator, text_of_call(communicator, call)));
        }
        if (const std::string failure = communicator["failure"]; !failure.empty()) {
            rows.push_back(row(answer, communicator, "failed: " + failure));
        }
    }
    if (rows.size() == before) {
        const Json& all = answer["communicators"];
        rows.push_back(row(answer, all.empty() ? Json() : all.front(),
                           answer["looked"] ? "no call" : "cannot be seen"));
    }
}

}  // namespace

Json ask_job(const std::string& where) {
    const Json first = ask(address_of(where));
    const auto addresses = first["addresses"].get<std::vector<std::string>>();
    Json answers = Json::array();
    for (std::size_t begin = 0; begin < addresses.size(); begin += at_a_time) {
        std::vector<std::future<Json>> asked;
        for (std::size_t r = begin; r < std::min(begin + at_a_time, addresses.size()); ++r) {
            // Once is enough: a look interrupts who works for the calls.
            const bool is_first = first["rank"] == r;
            asked.push_back(is_first ? std::future<Json>()
                                     : std::async(std::launch::async, ask_rank, r, addresses[r]));
        }
        for (auto& answer : asked) {
            answers.push_back(answer.valid() ? answer.get() : first);
        }
    }
    if (answers.empty()) {
        answers.push_back(first);  // its set-up has not come so far
    }
    return answers;
}

void print_job(const Json& answers) {
    Json rows = Json::array();
    for (const Json& answer : answers) {
        add_rows(rows, answer);
    }
    fmt::print("{}", text_table(rows, {"rank", "process", "inside", "communicator", "calls",
                                       "in flight"}));
    const Json found = culprits(answers);
    for (const Json& culprit : found) {
        fmt::print("\n{}\n", culprit["text"].get<std::string>());
    }
    if (found.empty()) {
        fmt::print("\nNobody waits for another rank.\n");
    }
}

}  // namespace trefoil::tool
