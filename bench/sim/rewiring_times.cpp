// SPDX-License-Identifier: BSD-3-Clause
// Step after step: the change, the start-up and the hops, then the bytes as the busiest circuit
// lets them.
#include "bench/sim/rewiring_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "algorithms/rewiring/circuit_loads.hpp"
#include "bench/sim/rewiring_report.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

DrawnWiring drawn(const RewiringSubject& subject, std::size_t wiring) {
    const Torus& torus = subject.torus;
    DrawnWiring result;
    result.name = wiring_text(*subject.rewiring, torus.dimensions(), wiring);
    for (int j = 0; j < torus.dimensions(); ++j) {
        for (const Circuit& c : circuits_of(torus, j, subject.rewiring->wiring(wiring, j))) {
            result.circuits.push_back({c.from, c.to, c.count});
        }
    }
    return result;
}

/// While the bytes flow; of the busiest circuit's rate, which is a link's.
std::vector<double> shares_of(const RewiringSubject& subject, std::size_t step,
                              std::size_t wiring) {
    const Torus& torus = subject.torus;
    const double busiest = subject.rewiring->load(step, wiring).load;
    double largest = 0;
    std::vector<double> all;
    for (int j = 0; j < torus.dimensions(); ++j) {
        for (const double load : circuit_loads(torus, subject.rewiring->step(step), j,
                                               subject.rewiring->wiring(wiring, j))) {
            all.push_back(busiest > 0 ? load / busiest : 0);
            largest = std::max(largest, load);
        }
    }
    if (std::abs(largest - busiest) > 1e-9 * (1 + busiest)) {
        throw Error(Status::internal,
                    fmt::format("in step {} of {} the busiest circuit carries {}, and the model "
                                "says {}; please report this",
                                step, to_string(subject.choice), largest, busiest));
    }
    return all;
}

/// By step of the schedule. A step in which nobody sends takes no time.
void fill_in_messages(const std::vector<SentAs>& order, const RewiringSubject& subject,
                      TimeData& data) {
    std::map<std::size_t, Flowing> flowing;
    for (const WiredStep& step : data.steps) {
        flowing[static_cast<std::size_t>(step.step)] = step.flowing;
    }
    for (const SentAs& message : order) {
        data.messages.push_back(flowing.at(message.step));
    }
    const Schedule schedule =
        subject.choice.algorithm->build(subject.torus, 0, subject.choice.options);
    for (const Part& part : schedule.parts) {
        double now = data.steps.empty() ? 0 : data.steps.front().begin;
        for (std::size_t s = 0; s < part.steps.count; ++s) {
            const auto found = flowing.find(s);
            now = found == flowing.end() ? now : found->second.end;
            data.completed.insert(data.completed.end(),
                                  static_cast<std::size_t>(subject.torus.ranks()), now);
        }
    }
}

}  // namespace

TimeData rewiring_times(const RewiringQuestion& question, const RewiringField& field,
                        const RewiringSubject& subject, const std::vector<SentAs>& order) {
    const RewiringCosts costs = costs_of(question);
    const auto bytes = static_cast<double>(question.sim.sizes.front());
    const RewiringRun run = run_of(question, field, subject, costs, bytes);
    TimeData data;
    data.seconds = run.seconds;
    std::map<std::size_t, std::size_t> numbers;  // of wirings, as they come up
    const auto number_of = [&](std::size_t wiring) {
        const auto [found, added] = numbers.try_emplace(wiring, numbers.size());
        if (added) {
            data.wirings.push_back(drawn(subject, wiring));
        }
        return found->second;
    };
    const auto& wirings = run.sequence.wirings;
    std::size_t stands = costs.free_start && !wirings.empty() ? wirings.front() : 0;
    number_of(stands);
    double now = 0;
    for (std::size_t i = 0; i < wirings.size(); ++i) {
        WiredStep step;
        step.step = subject.rewiring->step(i).step;
        step.wiring = number_of(wirings[i]);
        step.change = now;
        step.begin = now + (wirings[i] == stands ? 0 : costs.reconfiguration + costs.barrier);
        step.flowing.begin =
            step.begin + costs.alpha + subject.rewiring->load(i, wirings[i]).hops * costs.hop;
        step.flowing.end = step.begin + subject.rewiring->seconds(i, wirings[i], costs, bytes);
        step.shares = shares_of(subject, i, wirings[i]);
        now = step.flowing.end;
        stands = wirings[i];
        data.steps.push_back(std::move(step));
    }
    fill_in_messages(order, subject, data);
    return data;
}

}  // namespace trefoil::tool
