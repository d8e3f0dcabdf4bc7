// SPDX-License-Identifier: BSD-3-Clause
// Each algorithm's messages are listed once per network, and serve all sizes.
#include "bench/sim/own_engine.hpp"

#include <fmt/format.h>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/simulation/models.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

/// The step model on a plain torus needs no table of messages, since the cost summary has it.
class SummaryTimer final : public Timer {
  public:
    SummaryTimer(const SimOptions& options, CostSummary cost)
        : costs_(options.machine.costs),
          rate_(options.machine.rates.front()),
          cost_(std::move(cost)) {}
    double seconds(double vector_bytes) override {
        return cost_.steps * costs_.alpha + static_cast<double>(cost_.sum_hops) * costs_.hop +
               cost_.sum_link_load * vector_bytes / rate_;
    }

  private:
    MessageCosts costs_;
    double rate_;
    CostSummary cost_;
};

class TrafficTimer final : public Timer {
  public:
    TrafficTimer(const SimOptions& options, const Network& network, const Choice& choice,
                 const std::shared_ptr<const Symmetry>& symmetry)
        : options_(options),
          folded_(symmetry->trivial() ? nullptr : network.folded(symmetry)),
          network_(folded_ ? *folded_ : network),
          traffic_(network.torus(), *choice.algorithm, choice.options,
                   {options.most_bytes, options.machine.costs.has_work()}, symmetry) {}
    double seconds(double vector_bytes) override {
        require_room();
        const MessageCosts& costs = options_.machine.costs;
        return options_.model == Model::step
                   ? step_time(network_, traffic_, vector_bytes, costs)
                   : flow_time(network_, traffic_, vector_bytes, costs, options_.flow);
    }

  private:
    /// Of the links; the table of messages has looked for its own.
    void require_room() const {
        const double needed =
            static_cast<double>(network_.links()) * (options_.model == Model::flow ? 64 : 16);
        if (needed > static_cast<double>(options_.most_bytes)) {
            throw Error(Status::unsupported,
                        fmt::format("{} links of {} need about {:.0f} MiB of memory, and {:.0f} "
                                    "MiB are allowed; take a smaller torus, or --memory",
                                    network_.links(), network_.torus().name(), needed / (1 << 20),
                                    static_cast<double>(options_.most_bytes) / (1 << 20)));
        }
    }

    const SimOptions& options_;
    std::unique_ptr<Network> folded_;  ///< null: all ranks differ
    const Network& network_;
    Traffic traffic_;
};

/// Whether one rank may tell of others: no rank's memory or luck is its own.
bool may_fold(const SimOptions& options) {
    return !options.machine.costs.has_work() &&
           (options.model == Model::step || options.flow.keeps_symmetry());
}

}  // namespace

std::unique_ptr<Timer> prepare_own(const SimOptions& options, const Network& network,
                                   const Choice& choice) {
    const auto symmetry = may_fold(options)
                              ? common_symmetry(network, *choice.algorithm, choice.options)
                              : std::make_shared<const Symmetry>(network.torus());
    const bool plain = options.machine.is_plain_torus() && network.torus().is_whole() &&
                       !options.changes_links() && !network.torus().has_nodes();
    const bool summary_serves =
        options.model == Model::step && plain && !options.machine.costs.has_work();
    if (!summary_serves || !symmetry->trivial()) {
        try {
            return std::make_unique<TrafficTimer>(options, network, choice, symmetry);
        } catch (const Error& error) {
            if (!summary_serves || error.status() != Status::unsupported) {
                throw;
            }  // the summary takes longer, but no table
        }
    }
    return std::make_unique<SummaryTimer>(
        options, summarize(network.torus(), *choice.algorithm, choice.options));
}

}  // namespace trefoil::tool
