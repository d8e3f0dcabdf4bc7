// SPDX-License-Identifier: BSD-3-Clause
// Progressive filling, link by link in the order of what they have left for each flow.
#include "algorithms/simulation/fair_rates.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace trefoil {

FairRates::FairRates(const Network& network)
    : network_(network), links_(static_cast<std::size_t>(network.links())) {}

void FairRates::touch(std::int64_t link) {
    Link& it = links_[static_cast<std::size_t>(link)];
    if (!it.affected) {
        it.affected = true;
        affected_links_.push_back(link);
    }
}

std::uint32_t FairRates::add(std::span<const std::int64_t> links) {
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(flows_.size()));
        flows_.emplace_back();
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    Flow& flow = flows_[number];
    flow.links.assign(links.begin(), links.end());
    flow.places.clear();
    for (const std::int64_t link : links) {
        auto& list = links_[static_cast<std::size_t>(link)].flows;
        flow.places.push_back(static_cast<std::uint32_t>(list.size()));
        list.push_back(number);
        touch(link);
    }
    return number;
}

void FairRates::remove(std::uint32_t number) {
    Flow& flow = flows_[number];
    for (std::size_t i = 0; i < flow.links.size(); ++i) {
        auto& list = links_[static_cast<std::size_t>(flow.links[i])].flows;
        const std::uint32_t last = list.back();
        list[flow.places[i]] = last;
        Flow& moved = flows_[last];
        const auto at = std::find(moved.links.begin(), moved.links.end(), flow.links[i]);
        moved.places[static_cast<std::size_t>(at - moved.links.begin())] = flow.places[i];
        list.pop_back();
        touch(flow.links[i]);
    }
    flow.links.clear();
    free_.push_back(number);
}

/// All that can feel the change: flows of affected links, and the links of those.
void FairRates::collect() {
    affected_flows_.clear();
    for (std::size_t i = 0; i < affected_links_.size(); ++i) {
        Link& link = links_[static_cast<std::size_t>(affected_links_[i])];
        link.left = network_.rate(affected_links_[i]);
        link.waiting = static_cast<std::uint32_t>(link.flows.size());
        for (const std::uint32_t number : link.flows) {
            Flow& flow = flows_[number];
            if (!flow.affected) {
                flow.affected = true;
                flow.fixed = false;
                affected_flows_.push_back(number);
                for (const std::int64_t other : flow.links) {
                    touch(other);
                }
            }
        }
    }
}

// What a link has for each of its waiting flows only grows while flows of other links get less, so
// an entry of the heap that has grown old is put back with its new value.
void FairRates::fill() {
    const auto share = [this](std::int64_t number) {
        const Link& link = links_[static_cast<std::size_t>(number)];
        return link.left / link.waiting;
    };
    heap_.clear();
    for (const std::int64_t number : affected_links_) {
        if (links_[static_cast<std::size_t>(number)].waiting > 0) {
            heap_.emplace_back(share(number), number);
        }
    }
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
    while (!heap_.empty()) {
        std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
        const auto [told, number] = heap_.back();
        heap_.pop_back();
        if (links_[static_cast<std::size_t>(number)].waiting == 0) {
            continue;
        }
        const double now = share(number);
        if (now > told) {
            heap_.emplace_back(now, number);
            std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
            continue;
        }
        for (const std::uint32_t one : links_[static_cast<std::size_t>(number)].flows) {
            Flow& flow = flows_[one];
            if (flow.fixed) {
                continue;
            }
            flow.fixed = true;
            flow.rate = now;
            for (const std::int64_t crossed : flow.links) {
                Link& link = links_[static_cast<std::size_t>(crossed)];
                link.left -= now;
                --link.waiting;
            }
        }
    }
}

std::span<const std::uint32_t> FairRates::update() {
    collect();
    fill();
    for (const std::int64_t number : affected_links_) {
        links_[static_cast<std::size_t>(number)].affected = false;
    }
    affected_links_.clear();
    for (const std::uint32_t number : affected_flows_) {
        flows_[number].affected = false;
    }
    return affected_flows_;
}

}  // namespace trefoil
