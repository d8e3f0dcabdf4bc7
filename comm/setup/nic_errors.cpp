// SPDX-License-Identifier: BSD-3-Clause
// The messages of the choice of NICs.
#include "comm/setup/nic_errors.hpp"

#include <algorithm>
#include <map>

#include "algorithms/schedule/algorithm.hpp"
#include "algorithms/schedule/nearest_names.hpp"
#include "topo/error.hpp"
#include "topo/words.hpp"

namespace trefoil {

namespace {

/// "eth0 (192.0.2.2), docker0 (172.17.0.1; up, bridge), eth1 (is down)"
std::string listing(const std::vector<NicCandidate>& candidates) {
    std::string text;
    for (const NicCandidate& c : candidates) {
        std::string about = c.nic.addresses.empty() ? "" : c.nic.addresses.front();
        const std::string state = c.obstacle.empty() ? state_text(c.nic) : c.obstacle;
        if (state != "up") {
            about += (about.empty() ? "" : "; ") + state;
        }
        text += (text.empty() ? "" : ", ") + c.nic.name + (about.empty() ? "" : " (" + about + ")");
    }
    return text.empty() ? "none" : text;
}

std::vector<std::string> all_names(const std::vector<NicCandidate>& candidates) {
    std::vector<std::string> names;
    for (const NicCandidate& c : candidates) {
        names.push_back(c.nic.name);
        names.insert(names.end(), c.aliases.begin(), c.aliases.end());
        names.insert(names.end(), c.nic.addresses.begin(), c.nic.addresses.end());
    }
    return names;
}

}  // namespace

void refuse_pattern(const std::string& pattern, const NicRequest& request,
                    const std::vector<NicCandidate>& candidates) {
    const std::string quoted = "\"" + pattern + "\"";
    const std::string there_are = ". There are: " + listing(candidates);
    for (const NicCandidate& c : candidates) {
        if (matched_name(c, pattern).empty()) {
            continue;
        }
        const auto exclusion =
            std::find_if(request.never.begin(), request.never.end(),
                         [&](const std::string& never) { return !matched_name(c, never).empty(); });
        throw Error(Status::not_found, "TREFOIL_NICS: " + quoted +
                                           " cannot be used: " + c.nic.name + " " +
                                           (c.obstacle.empty() && exclusion != request.never.end()
                                                ? "is excluded by ^" + *exclusion
                                                : c.obstacle) +
                                           there_are);
    }
    if (has_wildcard(pattern)) {
        throw Error(Status::not_found,
                    "TREFOIL_NICS: no NIC matches the pattern " + quoted + there_are);
    }
    const std::vector<std::string> nearest = nearest_names(pattern, all_names(candidates));
    throw Error(Status::not_found,
                "TREFOIL_NICS: there is no NIC " + quoted +
                    (nearest.empty() ? "" : ", but there is " + joined(nearest)) + there_are);
}

void refuse_default(const std::vector<NicCandidate>& candidates) {
    throw Error(Status::not_found, "no NIC leads to other hosts: " + listing(candidates) +
                                       "; name in TREFOIL_NICS what is to be used all the same");
}

void require_equal_counts(const std::vector<NicReport>& reports) {
    std::map<std::size_t, std::vector<std::size_t>> by_count;
    for (std::size_t r = 0; r < reports.size(); ++r) {
        by_count[reports[r].names.size()].push_back(r);
    }
    if (by_count.size() <= 1) {
        return;
    }
    std::string message = "the ranks have different numbers of NICs for their ports:";
    for (const auto& [count, ranks] : by_count) {
        const NicReport& first = reports[ranks.front()];
        message += count == by_count.begin()->first ? " " : "; ";
        message += ranks.size() > 1 ? "ranks " : "rank ";
        for (std::size_t i = 0; i < std::min<std::size_t>(ranks.size(), 4); ++i) {
            message += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
        }
        message += ranks.size() > 4 ? ", ... " : " ";
        message += "(" + first.host + ") " + std::to_string(count) + ": " + joined(first.names);
    }
    throw Error(
        Status::mismatch,
        message + "; name equally many on every host in TREFOIL_NICS, e.g. " + "TREFOIL_NICS=" +
            [&] {
                const NicReport& fewest = reports[by_count.begin()->second.front()];
                return fewest.names.empty() ? std::string("eth0") : fewest.names.front();
            }() +
            ", or exclude some with ^NAME");
}

}  // namespace trefoil
