// SPDX-License-Identifier: BSD-3-Clause
// The rules of the choice; the errors are in nic_errors.cpp.
#include "comm/setup/nic_choice.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "comm/setup/nic_errors.hpp"

namespace trefoil {

namespace {

/// A candidate, and by which of its names it was meant.
struct Pick {
    const NicCandidate* candidate = nullptr;
    std::string selector;
};

bool is_link_local(const std::string& address) {
    return address.starts_with("fe80:") || address.starts_with("169.254.");
}

bool leads_out(const NicCandidate& candidate) {
    const Nic& nic = candidate.nic;
    return !candidate.reserve && nic.up && !nic.loopback && nic.virtual_kind.empty() &&
           (nic.addresses.empty() ||
            !std::all_of(nic.addresses.begin(), nic.addresses.end(), is_link_local));
}

bool is_excluded(const NicCandidate& candidate, const NicRequest& request) {
    return std::any_of(request.never.begin(), request.never.end(), [&](const std::string& pattern) {
        return !matched_name(candidate, pattern).empty();
    });
}

/// 0: near the cores; 1: unknown; 2: elsewhere.
int distance(const Nic& nic, const std::vector<int>& cores) {
    if (nic.cores.empty() || cores.empty()) {
        return 1;
    }
    return std::find_first_of(nic.cores.begin(), nic.cores.end(), cores.begin(), cores.end()) !=
                   nic.cores.end()
               ? 0
               : 2;
}

/// This rank's share: round by round each rank takes the NIC that fewest have, of these the
/// nearest, of these the first.
std::vector<Pick> share_of(const std::vector<Pick>& all, std::size_t most, const NicSharing& by) {
    const std::size_t equal = all.size() / static_cast<std::size_t>(std::max(by.most, 1));
    const std::size_t rounds = std::max<std::size_t>(1, std::min(equal, most));
    std::vector<int> uses(all.size());
    std::vector<std::set<std::size_t>> taken(by.ranks.size());
    std::vector<Pick> mine;
    for (std::size_t round = 0; round < rounds; ++round) {
        for (std::size_t r = 0; r < by.ranks.size(); ++r) {
            std::size_t best = all.size();
            const auto worth = [&](std::size_t i) {
                return std::pair(uses[i], distance(all[i].candidate->nic, by.ranks[r]));
            };
            for (std::size_t i = 0; i < all.size(); ++i) {
                if (!taken[r].contains(i) && (best == all.size() || worth(i) < worth(best))) {
                    best = i;
                }
            }
            ++uses[best];
            taken[r].insert(best);
            if (static_cast<int>(r) == by.self) {
                mine.push_back(all[best]);
            }
        }
    }
    const std::vector<int>& cores = by.ranks[by.self];
    std::stable_sort(mine.begin(), mine.end(), [&](const Pick& a, const Pick& b) {
        return distance(a.candidate->nic, cores) < distance(b.candidate->nic, cores);
    });
    return mine;
}

class NicChooser {
  public:
    NicChooser(const NicRequest& request, const std::vector<NicCandidate>& candidates,
               std::size_t ports, const NicSharing& sharing)
        : request_(request), candidates_(candidates), ports_(ports), sharing_(sharing) {}

    /// What a pattern stands for; never empty.
    std::vector<Pick> asked(const std::string& pattern) const {
        std::vector<Pick> out, others;
        for (const NicCandidate& c : candidates_) {
            const std::string name = matched_name(c, pattern);
            if (!name.empty() && c.obstacle.empty() && !is_excluded(c, request_)) {
                (leads_out(c) ? out : others).push_back({&c, name});
            }
        }
        std::vector<Pick>& found = out.empty() ? others : out;
        if (found.empty()) {
            refuse_pattern(pattern, request_, candidates_);
        }
        if (has_wildcard(pattern)) {
            return share_of(found, ports_, sharing_);
        }
        found.resize(1);
        return found;
    }

    /// Why the NICs that are meant have no link; empty: one has, or there is none.
    std::string obstacle_of(const std::string& pattern) const {
        std::string why;
        for (const NicCandidate& c : candidates_) {
            if (matched_name(c, pattern).empty()) {
                continue;
            }
            if (c.nic.up && c.nic.carrier) {
                return {};
            }
            why = c.nic.up ? "has no carrier" : "is down";
        }
        return why;
    }

    /// What ports take in turn that nobody has asked anything for; empty: nothing to choose from.
    std::vector<Pick> by_default(std::string& why) const {
        std::vector<Pick> out, here;
        bool any = false;
        for (const NicCandidate& c : candidates_) {
            any = any || c.obstacle.empty();
            if (c.obstacle.empty() && !is_excluded(c, request_)) {
                if (c.nic.loopback) {
                    here.push_back({&c, c.nic.name});
                } else if (leads_out(c)) {
                    out.push_back({&c, c.nic.name});
                }
            }
        }
        if (sharing_.all_here && !here.empty()) {
            why = "default: all ranks are on this host";
            here.resize(1);
            return here;
        }
        if (out.empty()) {
            if (any) {
                refuse_default(candidates_);
            }
            why = "default: the transport chooses";
            return {};
        }
        why = out.size() == 1 ? "default: the only one" : "default: nearest, in turn";
        return share_of(out, ports_, sharing_);
    }

  private:
    const NicRequest& request_;
    const std::vector<NicCandidate>& candidates_;
    std::size_t ports_;
    const NicSharing& sharing_;
};

/// The ports in `open` by who takes one NIC together.
std::vector<std::vector<Port>> takers_of(const std::vector<Port>& open,
                                         const std::vector<std::vector<Port>>& together) {
    std::vector<std::vector<Port>> takers;
    for (const std::vector<Port>& group : together) {
        std::vector<Port> mine;
        std::copy_if(group.begin(), group.end(), std::back_inserter(mine), [&](Port port) {
            return std::find(open.begin(), open.end(), port) != open.end();
        });
        if (!mine.empty()) {
            takers.push_back(std::move(mine));
        }
    }
    if (together.empty()) {
        for (const Port port : open) {
            takers.push_back({port});
        }
    }
    return takers;
}

void attach(PortNic& port, const Pick& pick, const std::string& why) {
    port.name = pick.candidate->nic.name;
    port.selector = pick.selector;
    port.cores = pick.candidate->nic.cores;
    port.megabits = pick.candidate->nic.megabits;
    port.why = why;
}

/// The next port's NIC for those that lack their own. Some port has one.
void lend(NicChoice& choice, const std::vector<Port>& ports) {
    for (std::size_t i = 0; i < ports.size(); ++i) {
        PortNic& own = choice[ports[i].index];
        for (std::size_t k = 1; !own.lacking.empty() && k < ports.size(); ++k) {
            const Port next = ports[(i + k) % ports.size()];
            if (choice[next.index].lacking.empty()) {
                const PortNic& other = choice[next.index];
                own = {other.name,
                       other.selector,
                       own.why + ", so that of " + to_string(next),
                       other.cores,
                       0,
                       own.lacking};
                break;
            }
        }
    }
}

}  // namespace

std::string matched_name(const NicCandidate& candidate, const std::string& pattern) {
    std::vector<std::string> names{candidate.nic.name};
    names.insert(names.end(), candidate.aliases.begin(), candidate.aliases.end());
    names.insert(names.end(), candidate.nic.addresses.begin(), candidate.nic.addresses.end());
    const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
        return matches(pattern, name);
    });
    const bool leads_there =
        std::any_of(candidate.interfaces.begin(), candidate.interfaces.end(),
                    [&](const std::string& interface) { return matches(pattern, interface); });
    return found != names.end() ? *found : leads_there ? candidate.nic.name : std::string();
}

NicChoice choose_nics(const NicRequest& request, const std::vector<NicCandidate>& candidates,
                      const std::vector<Port>& ports, const NicSharing& sharing,
                      const std::vector<Port>& may_lack) {
    // Whoever names several NICs for ports that can only use one hears so from the transport.
    const bool named =
        std::any_of(request.in_turn.begin(), request.in_turn.end(),
                    [](const std::string& pattern) { return !has_wildcard(pattern); });
    const std::vector<std::vector<Port>> together =
        named ? std::vector<std::vector<Port>>{} : sharing.together;
    const NicChooser chooser(request, candidates, takers_of(ports, together).size(), sharing);
    std::string why = "asked for by TREFOIL_NICS";
    NicChoice choice(request.by_port.size());
    std::vector<Port> open;
    std::size_t lacking = 0;
    for (std::size_t i = 0; i < ports.size(); ++i) {
        const std::string& pattern = request.by_port[ports[i].index];
        if (pattern.empty()) {
            open.push_back(ports[i]);
            continue;
        }
        if (std::ranges::find(may_lack, ports[i]) != may_lack.end()) {
            const std::string obstacle = chooser.obstacle_of(pattern);
            if (!obstacle.empty() && lacking + 1 < ports.size()) {
                PortNic& port = choice[ports[i].index];
                port.lacking = pattern;
                port.why = pattern + " " + obstacle;
                ++lacking;
                continue;
            }
        }
        const std::vector<Pick> picks = chooser.asked(pattern);
        attach(choice[ports[i].index], picks[i % picks.size()], why);
    }
    std::vector<Pick> turn;
    for (const std::string& pattern : request.in_turn) {
        const std::vector<Pick> picks = chooser.asked(pattern);
        turn.insert(turn.end(), picks.begin(), picks.end());
    }
    if (turn.empty() && !open.empty()) {
        turn = chooser.by_default(why);
    }
    std::size_t next = 0;
    for (const std::vector<Port>& takers : takers_of(open, together)) {
        const Pick* const pick = turn.empty() ? nullptr : &turn[next++ % turn.size()];
        for (const Port port : takers) {
            if (pick == nullptr) {
                choice[port.index].why = why;
            } else {
                attach(choice[port.index], *pick, why);
            }
        }
    }
    lend(choice, ports);
    for (PortNic& port : choice) {
        port.sharing =
            static_cast<int>(std::count_if(choice.begin(), choice.end(), [&](const PortNic& other) {
                return !port.name.empty() && other.name == port.name;
            }));
    }
    return choice;
}

int count_nics(const NicChoice& choice) {
    std::set<std::string> names;
    for (const PortNic& port : choice) {
        if (!port.name.empty()) {
            names.insert(port.name);
        }
    }
    return static_cast<int>(names.size());
}

}  // namespace trefoil
