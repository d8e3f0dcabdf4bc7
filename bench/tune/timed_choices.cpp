// SPDX-License-Identifier: BSD-3-Clause
// Times against prices, and the file of both.
#include "bench/tune/timed_choices.hpp"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/tune/stopwatch.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const TimedChoice& figure) {
    const CostSummary& cost = figure.model.cost;
    Json rounds = Json::array();
    for (const double seconds : figure.seconds) {
        rounds.push_back(1e6 * seconds);
    }
    return {{"collective", to_string(figure.collective)},
            {"type", to_string(figure.type)},
            {"bytes", figure.bytes},
            {"algorithm", to_string(figure.model.choice)},
            {"us", 1e6 * figure.median},
            {"rounds_us", std::move(rounds)},
            {"modelled_us", 1e6 * figure.model.price->sum()},
            {"cost",
             {{"steps", cost.steps},
              {"hops", cost.sum_hops},
              {"link_load_vectors", cost.sum_link_load},
              {"waits", cost.waits},
              {"messages", cost.messages},
              {"sent_vectors", cost.sent},
              {"gathered_vectors", cost.packed},
              {"read_vectors", cost.pulled},
              {"most_messages_through_a_port", cost.max_sends_per_port_per_step}}}};
}

}  // namespace

double TimedChoices::misses(const Torus& torus, const CostModel& model) const {
    std::vector<double> factors;
    for (const TimedChoice& one : all_) {
        if (!one.seconds.empty() && !one.model.choice.algorithm->traits.reads_peers) {
            const double seconds =
                price_of(torus, one.model.choice, one.model.cost, one.bytes, model).sum();
            factors.push_back(std::abs(std::log(one.median / seconds)));
        }
    }
    return factors.empty() ? 1 : std::exp(median(std::move(factors)));
}

void TimedChoices::write(const std::string& path, const TunedJob& job) const {
    Json times = Json::array();
    for (const TimedChoice& figure : all_) {
        times.push_back(json_of(figure));
    }
    std::ofstream stream(path);
    stream << Json{{"made", job.made},
                   {"torus", job.key.torus},
                   {"ranks_per_node", job.key.ranks_per_node},
                   {"backend", job.key.backend},
                   {"times", std::move(times)}}
                  .dump(1)
           << "\n";
    if (!stream) {
        throw Error(Status::system_error, "cannot write --json " + path);
    }
}

}  // namespace trefoil::tool
