// SPDX-License-Identifier: BSD-3-Clause
// Runs a program as N local ranks: the environment that they get, and starting them.
#include "bench/run/launcher.hpp"

#include <fmt/core.h>

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <optional>

#include "backend/bootstrap/bootstrap.hpp"
#include "backend/system/secrets.hpp"
#include "bench/run/limits.hpp"
#include "bench/run/supervisor.hpp"
#include "topo/error.hpp"
#include "topo/host.hpp"
#include "topo/rank_cores.hpp"

namespace trefoil::tool {

namespace {

/// Blocks the signals that the supervisor reads from a descriptor; puts the mask back at the end.
class BlockedSignals {
  public:
    BlockedSignals() {
        sigset_t blocked;
        sigemptyset(&blocked);
        for (const int s : supervised_signals) {
            sigaddset(&blocked, s);
        }
        pthread_sigmask(SIG_BLOCK, &blocked, &before_);
    }
    ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;
    const sigset_t& before() const { return before_; }

  private:
    sigset_t before_;
};

/// The user's, else one that nobody can guess.
std::string token_of_job() {
    const char* given = std::getenv("TREFOIL_TOKEN");
    if (given != nullptr && *given != '\0') {
        return given;
    }
    std::string token;
    for (const char byte : random_bytes(16)) {
        token += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    }
    return token;
}

std::vector<std::string> environment_of(const Job& job, Rank rank, const std::string& store,
                                        const std::string& token) {
    std::map<std::string, std::string> variables;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const std::size_t equals = text.find('=');
        if (equals != std::string::npos) {
            variables[text.substr(0, equals)] = text.substr(equals + 1);
        }
    }
    for (const auto& [name, value] : job.environment) {
        variables[name] = value;
    }
    variables["TREFOIL_RANK"] = variables["TREFOIL_LOCAL_RANK"] = std::to_string(rank);
    variables["TREFOIL_SIZE"] = variables["TREFOIL_LOCAL_SIZE"] = std::to_string(job.ranks);
    variables["TREFOIL_STORE"] = store;
    variables["TREFOIL_TOKEN"] = token;
    variables["TREFOIL_LAUNCHER"] = "store";  // whatever has started us
    if (!job.torus.empty()) {
        variables["TREFOIL_TORUS"] = job.torus;
    }
    std::vector<std::string> result;
    for (const auto& [name, value] : variables) {
        result.push_back(name + "=" + value);
    }
    return result;
}

Process start_rank(const Job& job, Rank rank, const std::string& store, const std::string& token,
                   const sigset_t& mask, const rlimit& descriptors,
                   const std::vector<std::vector<int>>& cores) {
    const bool direct = job.output == Job::Output::first_rank && rank == 0;
    ProcessOptions options;
    if (!job.prefixes.empty()) {
        options.command = job.prefixes.at(static_cast<std::size_t>(rank));
    }
    options.command.insert(options.command.end(), job.command.begin(), job.command.end());
    options.environment = environment_of(job, rank, store, token);
    options.signal_mask = mask;
    options.descriptors = descriptors;
    if (!cores.empty()) {
        options.cores = cores[static_cast<std::size_t>(rank)];
    }
    // A terminal would stop a process of another group that reads it; a pipe or a file is fine.
    options.inherit_input = rank == 0 && isatty(STDIN_FILENO) == 0;
    options.pipe_output = !direct;
    options.pipe_error = !direct;
    return start_process(options);
}

}  // namespace

int launch(const Job& job) {
    if (job.ranks < 1 || job.command.empty()) {
        throw Error(Status::invalid_argument, job.name + ": needs at least one rank and a program");
    }
    require_room_for(job.ranks);
    const RoomForDescriptors room(job.ranks);
    const BlockedSignals blocked;  // before the store's thread exists, so that it inherits the mask
    std::optional<StoreServer> served;
    std::string store = job.store;
    const std::string token = token_of_job();
    if (store.empty()) {
        served.emplace("127.0.0.1", 0, token);
        store = "127.0.0.1:" + std::to_string(served->port());
    }
    const auto cores = job.bind && job.ranks > 1 ? cores_by_rank(machine_locality().numa_nodes,
                                                                 allowed_cores(), job.ranks)
                                                 : std::vector<std::vector<int>>{};
    Supervisor supervisor(job, [&served](Rank rank, const std::string& how) {
        if (served) {
            served->rank_ended(rank, how);
        }
    });
    // Many ranks take seconds to start.
    for (Rank rank = 0; rank < job.ranks && supervisor.look(); ++rank) {
        supervisor.add(start_rank(job, rank, store, token, blocked.before(), room.before(), cores));
    }
    return supervisor.run();
}

}  // namespace trefoil::tool
