// SPDX-License-Identifier: BSD-3-Clause
// Each algorithm's messages are listed once per torus, and serve all sizes.
#include "bench/sim/runs.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <optional>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/registry/registry.hpp"
#include "algorithms/simulation/grid_network.hpp"
#include "algorithms/simulation/models.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

/// Takes the links of --down out of service: "+0@5" is the link that leaves rank 5 in direction +0.
void take_down(Network& network, const std::vector<std::string>& links) {
    auto* const grid = dynamic_cast<GridNetwork*>(&network);
    for (const std::string& text : links) {
        const std::size_t at = text.find('@');
        Rank rank = -1;
        std::optional<Port> port;
        for (int p = 0; at != std::string::npos && p < network.torus().ports(); ++p) {
            if (to_string(Port{p}) == text.substr(0, at)) {
                port = Port{p};
            }
        }
        try {
            rank = port ? std::stoi(text.substr(at + 1)) : -1;
        } catch (const std::exception&) {
            rank = -1;
        }
        if (!port || rank < 0 || rank >= network.torus().ranks() || grid == nullptr) {
            throw Error(Status::invalid_argument,
                        fmt::format("\"{}\" is no link of the {} network; give a direction and a "
                                    "rank, such as +0@5",
                                    text, network.torus().name()));
        }
        network.set_rate(grid->link(rank, *port), 0);
    }
}

class Progress {
  public:
    explicit Progress(bool wanted) : wanted_(wanted) {}
    ~Progress() {
        if (shown_) {
            fmt::print(stderr, "\r{:80}\r", "");
        }
    }
    void tell(const std::string& what, std::size_t done, std::size_t all) {
        const auto now = std::chrono::steady_clock::now();
        if (!wanted_ || now - last_ < std::chrono::milliseconds(200)) {
            return;
        }
        last_ = now;
        shown_ = true;
        const double spent = std::chrono::duration<double>(now - begin_).count();
        const double left =
            done == 0 ? 0 : spent / static_cast<double>(done) * static_cast<double>(all - done);
        fmt::print(stderr, "\r{:80}\r{} of {}: {}{}", "", done + 1, all, what,
                   done == 0 ? "" : fmt::format(", about {:.0f} s left", left));
        std::fflush(stderr);
    }

  private:
    bool wanted_, shown_ = false;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now(), last_{};
};

std::vector<Choice> choices(const SimOptions& options) {
    std::vector<Choice> all;
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

/// The step model on a plain torus needs no table of messages, since the cost summary has it.
bool summary_serves(const SimOptions& options) {
    return !options.flow && options.machine.network == "torus" && options.down.empty();
}

double step_seconds(const CostSummary& cost, const Machine& machine, double bytes) {
    return cost.steps * machine.costs.alpha +
           static_cast<double>(cost.sum_hops) * machine.costs.hop +
           cost.sum_link_load * bytes / machine.rate;
}

}  // namespace

SimResult simulate(const SimOptions& options) {
    SimResult result;
    Progress progress(options.progress);
    const std::vector<Choice> all = choices(options);
    const std::size_t runs = options.tori.size() * all.size() * options.sizes.size();
    std::size_t done = 0;
    for (const std::string& name : options.tori) {
        const std::unique_ptr<Network> network = make_network(options.machine, Torus::parse(name));
        const Torus& torus = network->torus();
        take_down(*network, options.down);
        const double message = options.machine.closing_barrier;
        const double closing =
            message > 0 ? closing_barrier_time(*network, message, options.machine.costs.hop) : 0;
        for (const Choice& choice : all) {
            const std::string refused = refusal(choice, torus);
            if (!refused.empty()) {
                result.left_out.push_back(torus.name() + ": " + refused);
                done += options.sizes.size();
                continue;
            }
            std::optional<CostSummary> cost;
            std::optional<Traffic> traffic;
            progress.tell(fmt::format("{} on {}", to_string(choice), torus.name()), done, runs);
            if (summary_serves(options)) {
                cost = summarize(torus, *choice.algorithm, choice.options);
            } else {
                traffic.emplace(torus, *choice.algorithm, choice.options, options.most_bytes);
            }
            for (const std::size_t bytes : options.sizes) {
                progress.tell(
                    fmt::format("{} on {}, {} bytes", to_string(choice), torus.name(), bytes),
                    done++, runs);
                const auto vector = static_cast<double>(bytes);
                const double seconds =
                    cost           ? step_seconds(*cost, options.machine, vector)
                    : options.flow ? flow_time(*network, *traffic, vector, options.machine.costs,
                                               {options.step_sync})
                                   : step_time(*network, *traffic, vector, options.machine.costs);
                result.runs.push_back(
                    {to_string(choice), torus.name(), torus.ranks(), bytes, seconds + closing});
            }
        }
    }
    return result;
}

}  // namespace trefoil::tool
