// SPDX-License-Identifier: BSD-3-Clause
// Progressive filling, link by link in the order of what they have left for each flow.
#include "algorithms/simulation/fair_rates.hpp"

#include <algorithm>
#include <functional>

namespace trefoil {

FairRates::FairRates(const Network& network)
    : network_(network), links_(static_cast<std::size_t>(network.links())) {}

void FairRates::touch(std::uint32_t link) {
    if (!links_[link].affected) {
        links_[link].affected = true;
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
    sorted_.assign(links.begin(), links.end());
    std::ranges::sort(sorted_);
    for (const std::int64_t crossed : sorted_) {
        const auto link = static_cast<std::uint32_t>(crossed);
        if (!flow.uses.empty() && flow.uses.back().link == link) {
            ++flow.uses.back().times;
            continue;
        }
        auto& list = links_[link].flows;
        list.push_back({number, static_cast<std::uint32_t>(flow.uses.size())});
        flow.uses.push_back({link, static_cast<std::uint32_t>(list.size() - 1), 1});
        touch(link);
    }
    return number;
}

void FairRates::remove(std::uint32_t number) {
    Flow& flow = flows_[number];
    for (const Use& use : flow.uses) {
        auto& list = links_[use.link].flows;
        const Entry last = list.back();
        list[use.place] = last;
        flows_[last.flow].uses[last.use].place = use.place;
        list.pop_back();
        touch(use.link);
    }
    flow.uses.clear();
    free_.push_back(number);
}

/// All that can feel the change: flows of affected links, and the links of those.
void FairRates::collect() {
    affected_flows_.clear();
    for (std::size_t i = 0; i < affected_links_.size(); ++i) {
        Link& link = links_[affected_links_[i]];
        link.left = network_.rate(affected_links_[i]);
        link.waiting = 0;
        for (const Entry& entry : link.flows) {
            Flow& flow = flows_[entry.flow];
            link.waiting += flow.uses[entry.use].times;
            if (!flow.affected) {
                flow.affected = true;
                flow.fixed = false;
                affected_flows_.push_back(entry.flow);
                for (const Use& use : flow.uses) {
                    touch(use.link);
                }
            }
        }
    }
}

// What a link has for each of its waiting flows only grows while flows of other links get less, so
// an entry of the heap that has grown old is put back with its new value.
void FairRates::fill() {
    const auto share = [this](std::uint32_t number) {
        return links_[number].left / links_[number].waiting;
    };
    heap_.clear();
    for (const std::uint32_t number : affected_links_) {
        if (links_[number].waiting > 0) {
            heap_.emplace_back(share(number), number);
        }
    }
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
    while (!heap_.empty()) {
        std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
        const auto [told, number] = heap_.back();
        heap_.pop_back();
        if (links_[number].waiting == 0) {
            continue;
        }
        const double now = share(number);
        if (now > told) {
            heap_.emplace_back(now, number);
            std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
            continue;
        }
        for (const Entry& entry : links_[number].flows) {
            Flow& flow = flows_[entry.flow];
            if (flow.fixed) {
                continue;
            }
            flow.fixed = true;
            flow.rate = now;
            for (const Use& use : flow.uses) {
                Link& link = links_[use.link];
                link.left -= now * use.times;
                link.waiting -= use.times;
            }
        }
    }
}

std::span<const std::uint32_t> FairRates::update() {
    collect();
    fill();
    for (const std::uint32_t number : affected_links_) {
        links_[number].affected = false;
    }
    affected_links_.clear();
    for (const std::uint32_t number : affected_flows_) {
        flows_[number].affected = false;
    }
    return affected_flows_;
}

}  // namespace trefoil
