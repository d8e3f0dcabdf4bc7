// SPDX-License-Identifier: BSD-3-Clause
// Bounds in words and as JSON.
#include "bench/common/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/common/command.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

std::string parts_text(const ThroughputBound& bound) {
    if (bound.part_of.empty()) {
        return "the sum of all distances, over all links";
    }
    const int parts = *std::max_element(bound.part_of.begin(), bound.part_of.end()) + 1;
    if (parts == static_cast<int>(bound.part_of.size())) {
        return "the links between all ranks";
    }
    if (parts > 2) {
        return fmt::format("the links between {} parts of the network", parts);
    }
    std::vector<Rank> inside;
    for (std::size_t r = 0; r < bound.part_of.size(); ++r) {
        if (bound.part_of[r] == 1) {
            inside.push_back(static_cast<Rank>(r));
        }
    }
    return inside.size() == 1
               ? fmt::format("the links of rank {}", inside.front())
               : fmt::format("the links between ranks {} and the others", fmt::join(inside, ", "));
}

}  // namespace

std::optional<ThroughputBound> shown_bound(const Torus& torus, Collective collective, Rank root) {
    constexpr Rank most_ranks = 256;
    const bool is_rank = root >= 0 && root < torus.ranks();  // whoever goes on refuses it
    if (torus.has_nodes() || torus.ranks() > most_ranks || torus.ranks() < 2 || !is_rank) {
        return std::nullopt;
    }
    const Fabric fabric(torus);
    return fabric.is_connected() ? throughput_bound(fabric, collective, root) : std::nullopt;
}

std::string bound_text(const ThroughputBound& bound) {
    return fmt::format("{}/{} vectors at the rate of a link ({:.6g})", bound.numerator,
                       bound.denominator, bound.vectors());
}

nlohmann::ordered_json bound_json(const Torus& torus, Collective collective, Rank root,
                                  const ThroughputBound& bound) {
    const Fabric fabric(torus);
    const LatencyBound latency = latency_bound(fabric, collective, root);
    return {{"collective", to_string(collective)},
            {"network", fabric.name()},
            {"ranks", fabric.ranks()},
            {"root", traits_of(collective).rooted() ? nlohmann::ordered_json(root)
                                                    : nlohmann::ordered_json()},
            {"numerator", bound.numerator},
            {"denominator", bound.denominator},
            {"vectors", bound.vectors()},
            {"part_of", bound.part_of},
            {"one_way", bound.one_way},
            {"steps", latency.steps},
            {"hops", latency.hops}};
}

int print_bound(const Torus& torus, Collective collective, Rank root, bool json) {
    const Fabric fabric(torus);
    const std::optional<ThroughputBound> bound = throughput_bound(fabric, collective, root);
    if (!bound) {
        throw Error(Status::unsupported,
                    fmt::format("no bound of throughput is known for {}", to_string(collective)));
    }
    if (json) {
        fmt::print("{}\n", bound_json(torus, collective, root, *bound).dump());
        return exit_success;
    }
    const LatencyBound latency = latency_bound(fabric, collective, root);
    fmt::print("{} on {}, {} ranks: nobody is faster than this\n\n", to_string(collective),
               fabric.name(), fabric.ranks());
    fmt::print("  {:<12} {}\n", "throughput", bound_text(*bound));
    fmt::print("  {:<12} {}\n", "because of", parts_text(*bound));
    fmt::print("  {:<12} {} steps, {} hops\n", "latency", latency.steps, latency.hops);
    return exit_success;
}

}  // namespace trefoil::tool
