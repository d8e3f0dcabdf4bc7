// SPDX-License-Identifier: BSD-3-Clause
// Two runs: one that tells how long it takes, and one that is cut into slices of time.
#include "bench/sim/flow_times.hpp"

#include <algorithm>
#include <memory>

#include "algorithms/simulation/models.hpp"
#include "bench/sim/runs.hpp"

namespace trefoil::tool {

namespace {

class Recorder final : public FlowObserver {
  public:
    Recorder(const Network& network, const Traffic& traffic, double seconds, std::size_t slices)
        : network_(network),
          slice_(seconds / static_cast<double>(slices)),
          flowing_(traffic.first_message(traffic.places())),
          completed_(traffic.places()),
          shares_(static_cast<std::size_t>(network.links()), slices) {}

    void arrived(std::uint64_t number, double begin, double end) override {
        flowing_[number] = {begin, end};
    }
    void completed(std::size_t place, double time) override { completed_[place] = time; }
    void carried(std::int64_t link, double from, double to, double bytes) override {
        const double rate = bytes / (to - from) / network_.rate(link);
        auto slice = static_cast<std::size_t>(from / slice_);
        for (; slice < shares_.slices && static_cast<double>(slice) * slice_ < to; ++slice) {
            const double begin = static_cast<double>(slice) * slice_;
            const double within = std::min(to, begin + slice_) - std::max(from, begin);
            shares_.at(static_cast<std::size_t>(link), slice) += rate * within / slice_;
        }
    }

    const Flowing& flowing(std::size_t number) const { return flowing_[number]; }
    double completed(std::size_t place) const { return completed_[place]; }
    double share(std::int64_t link, std::size_t slice) {
        return shares_.at(static_cast<std::size_t>(link), slice);
    }

  private:
    const Network& network_;
    double slice_;
    std::vector<Flowing> flowing_;   ///< by message
    std::vector<double> completed_;  ///< by place
    LinkShares shares_;              ///< by link of the network
};

LinkShares by_port(const Network& network, Recorder& recorder, std::size_t slices) {
    const Torus& torus = network.torus();
    LinkShares all(static_cast<std::size_t>(torus.ranks()) * torus.ports(), slices);
    for (Rank r = 0; r < torus.ranks(); ++r) {
        for (int p = 0; p < torus.ports(); ++p) {
            const auto link = network.link(r, Port{p});
            const auto place = static_cast<std::size_t>(r) * torus.ports() + p;
            for (std::size_t s = 0; link && s < slices; ++s) {
                all.at(place, s) = recorder.share(*link, s);
            }
        }
    }
    return all;
}

/// Empty where some links are unlike others of their dimension, or there is nothing to carry.
std::vector<double> seconds_of_vector(const SimOptions& options, const Network& network) {
    const Machine& machine = options.machine;
    std::vector<double> all;
    const bool alike = options.sizes.front() > 0 && !options.changes_links() &&
                       machine.network == "torus" && machine.links_per_pair == 2;
    for (int j = 0; alike && j < network.torus().dimensions(); ++j) {
        const double rate = network.rate(network.link(0, Port::plus(j)).value());
        all.push_back(static_cast<double>(options.sizes.front()) / rate);
    }
    return all;
}

}  // namespace

TimeData flow_times(const SimOptions& options, const Network& network, const Choice& choice,
                    const std::vector<SentAs>& order) {
    const Torus& torus = network.torus();
    const MessageCosts& costs = options.machine.costs;
    const auto bytes = static_cast<double>(options.sizes.front());
    const Traffic traffic(torus, *choice.algorithm, choice.options,
                          {options.most_bytes, costs.has_work()},
                          std::make_shared<const Symmetry>(torus));
    const double seconds = flow_time(network, traffic, bytes, costs, options.flow);
    TimeData data;
    data.seconds = seconds + closing_time(options.machine, network);
    if (data.seconds <= 0) {
        return data;
    }
    const std::size_t slices = slices_for(static_cast<std::size_t>(torus.ranks()) * torus.ports());
    Recorder recorder(network, traffic, data.seconds, slices);
    flow_time(network, traffic, bytes, costs, options.flow, &recorder);
    for (const SentAs& message : order) {
        const std::size_t place = traffic.place(message.from, message.part, message.step);
        data.messages.push_back(recorder.flowing(traffic.first_message(place) + message.index));
    }
    for (std::size_t part = 0; part < traffic.parts(); ++part) {
        for (std::size_t step = 0; step < traffic.steps(); ++step) {
            for (Rank r = 0; r < torus.ranks(); ++r) {
                data.completed.push_back(recorder.completed(traffic.place(r, part, step)));
            }
        }
    }
    data.links = by_port(network, recorder, slices);
    data.vector_seconds = seconds_of_vector(options, network);
    return data;
}

}  // namespace trefoil::tool
