// SPDX-License-Identifier: BSD-3-Clause
// Networks, choices and sizes, one after the other, each timed by the engine.
#include "bench/sim/runs.hpp"

#include <fmt/format.h>

#include "algorithms/registry/registry.hpp"
#include "algorithms/simulation/models.hpp"
#include "bench/common/bounds.hpp"
#include "bench/sim/engines.hpp"
#include "bench/sim/links.hpp"
#include "bench/sim/progress.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

/// What even the largest symmetry needs: a few numbers for each rank.
void require_room(const SimOptions& options, const Torus& torus) {
    constexpr double bytes_per_rank = 24;
    const double needed = bytes_per_rank * torus.ranks();
    if (needed > static_cast<double>(options.most_bytes)) {
        throw Error(Status::unsupported,
                    fmt::format("{} ranks need at least {:.0f} MiB of memory, and {:.0f} MiB are "
                                "allowed; take a smaller torus, or --memory",
                                torus.ranks(), needed / (1 << 20),
                                static_cast<double>(options.most_bytes) / (1 << 20)));
    }
}

/// Seconds that a byte takes at least on this network; 0: not known.
double least_per_byte(const SimOptions& options, const Torus& torus) {
    if (options.machine.network != "torus" || options.machine.rates.size() != 1 ||
        options.machine.links_per_pair != 2 || options.machine.host || options.changes_links()) {
        return 0;
    }
    const auto bound = shown_bound(torus, options.collective, options.root);
    return bound ? bound->vectors() / options.machine.rates.front() : 0;
}

}  // namespace

double closing_time(const Machine& machine, const Network& network) {
    return machine.closing_barrier > 0
               ? closing_barrier_time(network, machine.closing_barrier, machine.costs.hop)
               : 0;
}

std::string simulation_refusal(const Choice& choice, const Torus& torus) {
    const std::string refused = refusal(choice, torus);
    if (refused.empty() && choice.algorithm->traits.reads_peers) {
        return to_string(choice) + " reads the memory of other ranks, which no network carries";
    }
    return refused;
}

std::vector<Choice> sim_choices(const SimOptions& options) {
    std::vector<Choice> all;
    if (options.schedule) {
        all.push_back({&options.schedule->algorithm(), {}});
    }
    for (const std::string& name : options.algorithms) {
        if (name != "all") {
            all.push_back(parse_choice(options.collective, name));
            if (all.back().algorithm == nullptr) {
                throw Error(Status::invalid_argument,
                            "auto chooses by its own model; name algorithms, or all");
            }
            continue;
        }
        for (const Algorithm& algorithm : algorithms()) {
            if (algorithm.collective == options.collective) {
                all.push_back({&algorithm, {}});
            }
        }
    }
    for (Choice& choice : all) {
        choice.options.root = options.root;
    }
    return all;
}

SimResult simulate(const SimOptions& options) {
    SimResult result;
    const std::vector<Choice> all = sim_choices(options);
    Progress progress(options.progress, options.tori.size() * all.size() * options.sizes.size());
    std::size_t done = 0;
    for (const std::string& name : options.tori) {
        const Torus shape = Torus::parse(name);
        require_room(options, shape);
        const std::unique_ptr<Network> network = make_network(options.machine, shape);
        const Torus& torus = network->torus();
        slow_down(*network, options.machine.slow);
        take_down(*network, options.machine.down);
        const double closing = closing_time(options.machine, *network);
        const double per_byte = least_per_byte(options, torus);
        for (const Choice& choice : all) {
            const std::string refused = simulation_refusal(choice, torus);
            if (!refused.empty()) {
                result.left_out.push_back(torus.name() + ": " + refused);
                done += options.sizes.size();
                continue;
            }
            const std::string what = to_string(choice) + " on " + torus.name();
            progress.tell(what, done);
            try {
                const auto timer = row_of(options.engine).prepare(options, *network, choice);
                for (std::size_t i = 0; i < options.sizes.size(); ++i) {
                    const std::size_t bytes = options.sizes[i];
                    progress.tell(fmt::format("{}, {} bytes", what, bytes), done + i);
                    const double seconds = timer->seconds(static_cast<double>(bytes));
                    const double all = seconds + closing;
                    result.runs.push_back(
                        {to_string(choice), torus.name(), torus.ranks(), bytes, all,
                         all > 0 ? per_byte * static_cast<double>(bytes) / all : 0});
                }
            } catch (const Error& error) {  // too large, or no way for a message: others may run
                if (error.status() != Status::unsupported) {
                    throw;
                }
                result.left_out.push_back(what + ": " + error.what());
            }
            done += options.sizes.size();
        }
    }
    if (result.runs.empty()) {
        throw Error(Status::unsupported,
                    fmt::format("none of the algorithms runs on these tori:\n  {}",
                                fmt::join(result.left_out, "\n  ")));
    }
    return result;
}

}  // namespace trefoil::tool
