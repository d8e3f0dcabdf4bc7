// SPDX-License-Identifier: BSD-3-Clause
// From states, speeds and times to the rates of links.
#include "comm/setup/found_links.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "topo/blob.hpp"

namespace trefoil {

namespace {

/// The same for rates that differ by less, so that the text is short: a twentieth.
constexpr int coarse = Fabric::whole / 20;

template <typename T>
const T& at(const std::vector<std::vector<T>>& by_rank, Rank rank, Port port) {
    return by_rank[static_cast<std::size_t>(rank)][static_cast<std::size_t>(port.index)];
}

}  // namespace

std::vector<PortLink> links_of(const NicChoice& choice) {
    std::vector<PortLink> links;
    for (const PortNic& port : choice) {
        links.push_back({port.lacking.empty(), port.megabits});
    }
    return links;
}

std::string encode(const std::vector<PortLink>& links) {
    BlobWriter blob;
    blob.number(static_cast<std::uint64_t>(links.size()));
    for (const PortLink& link : links) {
        blob.number(link.works);
        blob.number(link.megabits);
    }
    return blob.bytes();
}

std::vector<PortLink> decode_links(const std::string& bytes) {
    BlobReader blob(bytes);
    std::vector<PortLink> links(blob.count<std::uint64_t>(sizeof(bool) + sizeof(std::int64_t)));
    for (PortLink& link : links) {
        link.works = blob.number<bool>();
        link.megabits = blob.number<std::int64_t>();
    }
    return links;
}

Fabric with_port_links(Fabric fabric, const std::vector<std::vector<PortLink>>& told) {
    std::int64_t fastest = 0;
    for (const std::vector<PortLink>& ports : told) {
        for (const PortLink& port : ports) {
            fastest = std::max(fastest, port.works ? port.megabits : 0);
        }
    }
    for (const FabricLink& link : fabric.links()) {
        const PortLink& here = at(told, link.from, link.port);
        const PortLink& there = at(told, link.to, link.port.opposite());
        const std::int64_t slower = std::min(here.megabits > 0 ? here.megabits : fastest,
                                             there.megabits > 0 ? there.megabits : fastest);
        const int rate = !here.works || !there.works ? 0
                         : slower == fastest
                             ? Fabric::whole
                             : std::max(1, static_cast<int>(slower * Fabric::whole / fastest));
        if (rate < link.rate) {
            fabric.set_link({fabric.place_of(link.from), link.port}, rate);
        }
    }
    return fabric;
}

Fabric with_times(Fabric fabric, const std::vector<std::vector<std::uint64_t>>& nanoseconds) {
    std::vector<std::uint64_t> all;
    for (const FabricLink& link : fabric.links()) {
        if (const std::uint64_t took = at(nanoseconds, link.from, link.port); took > 0) {
            all.push_back(took);
        }
    }
    if (all.empty()) {
        return fabric;
    }
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    const auto typical = static_cast<double>(*middle);
    const auto rate_of = [&](Rank from, Port port) {
        const auto took = static_cast<double>(at(nanoseconds, from, port));
        const double rate = typical / took * Fabric::whole;
        return 4 * took > 5 * typical
                   ? std::max(1, static_cast<int>(std::lround(rate / coarse)) * coarse)
                   : Fabric::whole;
    };
    for (const FabricLink& link : fabric.links()) {
        const int here = rate_of(link.from, link.port);
        const int back = rate_of(link.to, link.port.opposite());
        // The two ways of a cable are alike as a rule, and their noise is not.
        const int rate = std::abs(here - back) <= 2 * coarse ? std::min(here, back) : here;
        if (rate < link.rate) {
            fabric.set_link({fabric.place_of(link.from), link.port}, rate);
        }
    }
    return fabric;
}

}  // namespace trefoil
