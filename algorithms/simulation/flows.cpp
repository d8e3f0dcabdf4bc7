// SPDX-License-Identifier: BSD-3-Clause
// An end that was foretold counts only while the flow has the rate that it had then.
#include "algorithms/simulation/flows.hpp"

#include <algorithm>
#include <limits>

namespace trefoil {

void Flows::start(double now, double bytes, const Ways& ways, std::uint64_t tag) {
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(messages_.size()));
        messages_.emplace_back();
    }
    const std::uint32_t message = free_.back();
    free_.pop_back();
    messages_[message] = {tag, static_cast<std::uint32_t>(ways.count())};
    for (std::size_t w = 0; w < ways.count(); ++w) {
        const std::uint32_t flow = rates_.add(ways.links(w));
        if (flow >= flows_.size()) {
            flows_.resize(flow + 1);
        }
        flows_[flow] = {message, flows_[flow].version + 1, bytes * ways.share(w), 0, now};
    }
}

double Flows::next_end() {
    while (!ends_.empty() && ends_.top().version != flows_[ends_.top().flow].version) {
        ends_.pop();
    }
    return ends_.empty() ? std::numeric_limits<double>::infinity() : ends_.top().time;
}

bool Flows::take_ended(double now, std::uint64_t& tag) {
    while (next_end() <= now) {
        const std::uint32_t number = ends_.top().flow;
        tell_carried(number, ends_.top().time);
        ends_.pop();
        ++flows_[number].version;
        rates_.remove(number);
        Message& message = messages_[flows_[number].message];
        if (--message.ways == 0) {
            tag = message.tag;
            free_.push_back(flows_[number].message);
            return true;
        }
    }
    return false;
}

/// Since its rate has changed last.
void Flows::tell_carried(std::uint32_t number, double until) const {
    const Flow& flow = flows_[number];
    if (observer_ == nullptr || flow.rate == 0 || until <= flow.since) {
        return;
    }
    const double bytes = std::min(flow.left, flow.rate * (until - flow.since));
    rates_.each_link(
        number, [&](std::int64_t link) { observer_->carried(link, flow.since, until, bytes); });
}

void Flows::share(double now) {
    for (const std::uint32_t number : rates_.update()) {
        Flow& flow = flows_[number];
        const double rate = rates_.rate(number);
        if (rate == flow.rate) {
            continue;
        }
        tell_carried(number, now);
        flow.left = std::max(0.0, flow.left - flow.rate * (now - flow.since));
        flow.since = now;
        flow.rate = rate;
        ++flow.version;
        ends_.push({now + flow.left / rate, number, flow.version});
    }
}

}  // namespace trefoil
