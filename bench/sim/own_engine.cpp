// SPDX-License-Identifier: BSD-3-Clause
// Each algorithm's messages are listed once per network, and serve all sizes.
#include "bench/sim/own_engine.hpp"

#include "algorithms/analysis/cost.hpp"
#include "algorithms/simulation/models.hpp"

namespace trefoil::tool {

namespace {

/// The step model on a plain torus needs no table of messages, since the cost summary has it.
class SummaryTimer final : public Timer {
  public:
    SummaryTimer(const Machine& machine, CostSummary cost)
        : machine_(machine), cost_(std::move(cost)) {}
    double seconds(double vector_bytes) override {
        return cost_.steps * machine_.costs.alpha +
               static_cast<double>(cost_.sum_hops) * machine_.costs.hop +
               cost_.sum_link_load * vector_bytes / machine_.rate;
    }

  private:
    const Machine& machine_;
    CostSummary cost_;
};

class TrafficTimer final : public Timer {
  public:
    TrafficTimer(const SimOptions& options, const Network& network, const Choice& choice)
        : options_(options),
          network_(network),
          traffic_(network.torus(), *choice.algorithm, choice.options, options.most_bytes) {}
    double seconds(double vector_bytes) override {
        const MessageCosts& costs = options_.machine.costs;
        return options_.model == Model::step
                   ? step_time(network_, traffic_, vector_bytes, costs)
                   : flow_time(network_, traffic_, vector_bytes, costs, {options_.step_sync});
    }

  private:
    const SimOptions& options_;
    const Network& network_;
    Traffic traffic_;
};

bool summary_serves(const SimOptions& options) {
    return options.model == Model::step && options.machine.network == "torus" &&
           options.down.empty();
}

}  // namespace

std::unique_ptr<Timer> prepare_own(const SimOptions& options, const Network& network,
                                   const Choice& choice) {
    if (summary_serves(options)) {
        return std::make_unique<SummaryTimer>(
            options.machine, summarize(network.torus(), *choice.algorithm, choice.options));
    }
    return std::make_unique<TrafficTimer>(options, network, choice);
}

}  // namespace trefoil::tool
