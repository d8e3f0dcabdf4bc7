// SPDX-License-Identifier: BSD-3-Clause
// The shortest way from the subgroup of one element to that of all (Dijkstra, 1959): what leads
// from one subgroup to another is a step, whose length is known when its messages have ports.
#include "algorithms/search/coset_exchange.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "algorithms/search/port_matching.hpp"
#include "algorithms/search/prices.hpp"
#include "topo/fabric.hpp"

namespace trefoil {

namespace {

using Subgroup = std::vector<Rank>;  ///< its places, ascending; place 0 is the first

/// The places of a torus as the elements of a group, and who is there.
class Places {
  public:
    explicit Places(const Torus& torus) : fabric_(torus.fabric()) {
        const Torus& all = fabric_ != nullptr ? fabric_->torus() : torus;
        count_ = all.ranks();
        for (Rank a = 0; a < count_; ++a) {
            for (Rank b = 0; b < count_; ++b) {
                sums_.push_back(all.translated(a, b, +1));
            }
        }
    }

    Rank count() const { return count_; }
    Rank sum(Rank a, Rank b) const { return sums_[to_index(a) * to_index(count_) + to_index(b)]; }
    Rank place_of(Rank rank) const { return fabric_ == nullptr ? rank : fabric_->place_of(rank); }

    /// By place: the least place of its coset.
    std::vector<Rank> cosets(const Subgroup& subgroup) const {
        std::vector<Rank> of(to_index(count_), -1);
        for (Rank place = 0; place < count_; ++place) {
            if (of[to_index(place)] < 0) {
                for (const Rank element : subgroup) {
                    of[to_index(sum(place, element))] = place;
                }
            }
        }
        return of;
    }

    /// The least multiple of an element that is in a subgroup.
    Rank order(const Subgroup& subgroup, Rank element) const {
        Rank times = 1;
        for (Rank here = element; !std::binary_search(subgroup.begin(), subgroup.end(), here);
             here = sum(here, element)) {
            ++times;
        }
        return times;
    }

    /// The least subgroup that has the element, too.
    Subgroup with(const Subgroup& subgroup, Rank element) const {
        Subgroup all;
        Rank multiple = 0;
        for (Rank times = order(subgroup, element); times > 0; --times) {
            for (const Rank one : subgroup) {
                all.push_back(sum(multiple, one));
            }
            multiple = sum(multiple, element);
        }
        std::sort(all.begin(), all.end());
        return all;
    }

  private:
    const Fabric* fabric_;
    Rank count_ = 0;
    std::vector<Rank> sums_;
};

int farthest(const Ways& ways) {
    int most = 0;
    for (Rank r = 0; r < ways.ranks(); ++r) {
        most = std::max(most, ways.eccentricity(r));
    }
    return most;
}

class ChainSearch {
  public:
    ChainSearch(const Torus& torus, const Ways& ways, int per_port, std::int64_t& work)
        : places_(torus),
          ways_(ways),
          per_port_(per_port),
          most_((ways.ports() * per_port + 1)),
          symmetric_(torus.is_whole()),
          farthest_(farthest(ways)),
          work_(work) {
        for (Rank to = 0; to < ways.ranks(); ++to) {
            std::vector<Rank> near;
            for (Rank from = 0; from < ways.ranks(); ++from) {
                near.push_back(from);
            }
            std::stable_sort(near.begin(), near.end(),
                             [&](Rank a, Rank b) { return ways.hops(a, to) < ways.hops(b, to); });
            near_.push_back(std::move(near));
        }
    }

    /// Cheaper than `limit`, in hops.
    std::optional<Exchange> find(int limit) {
        reached_[{0}] = {0, {}};
        std::set<std::pair<int, Subgroup>> next{{0, {0}}};
        while (!next.empty() && work_ > 0) {
            const auto [price, subgroup] = *next.begin();
            next.erase(next.begin());
            if (std::ssize(subgroup) == places_.count()) {
                return exchange(subgroup);
            }
            for (const Subgroup& larger : supergroups(subgroup)) {
                const auto known = reached_.find(larger);
                const int best =
                    known == reached_.end() ? limit : std::min(limit, known->second.price);
                const auto hops = hops_of_step(subgroup, larger, best - 1 - price - step_in_hops);
                if (hops) {
                    if (known != reached_.end()) {
                        next.erase({known->second.price, larger});
                    }
                    const int now = price + step_in_hops + *hops;
                    reached_[larger] = {now, subgroup};
                    next.insert({now, larger});
                }
            }
        }
        return std::nullopt;
    }

  private:
    struct Reached {
        int price = 0;
        Subgroup before;
    };

    /// Those that are so few times larger that a rank can hear from all.
    std::vector<Subgroup> supergroups(const Subgroup& subgroup) {
        std::set<Subgroup> all;
        std::vector<Subgroup> fresh{subgroup};
        while (!fresh.empty() && work_ > 0) {
            const Subgroup last = std::move(fresh.back());
            fresh.pop_back();
            for (Rank element = 1; element < places_.count(); ++element) {
                const std::size_t times = to_index(places_.order(last, element));
                work_ -= static_cast<std::int64_t>(times);
                if (times == 1 || times * last.size() > subgroup.size() * to_index(most_)) {
                    continue;
                }
                Subgroup larger = places_.with(last, element);
                work_ -= std::ssize(larger);
                if (all.insert(larger).second) {
                    fresh.push_back(std::move(larger));
                }
            }
        }
        return {all.begin(), all.end()};
    }

    struct Request {
        Rank to = 0;
        Rank of_class = 0;
    };

    /// What has to be sent in a step: to rank 0, or to all.
    std::vector<Request> requests(const std::vector<Rank>& classes, const Subgroup& larger) const {
        const std::vector<Rank> merged = places_.cosets(larger);
        std::vector<bool> somebody(classes.size());
        for (Rank r = 0; r < ways_.ranks(); ++r) {
            somebody[to_index(classes[to_index(places_.place_of(r))])] = true;
        }
        std::vector<Request> all;
        for (Rank r = 0; r < (symmetric_ ? 1 : ways_.ranks()); ++r) {
            const Rank place = places_.place_of(r);
            for (Rank c = 0; c < std::ssize(classes); ++c) {
                if (somebody[to_index(c)] && classes[to_index(c)] == c &&
                    c != classes[to_index(place)] &&
                    merged[to_index(c)] == merged[to_index(place)]) {
                    all.push_back({r, c});
                }
            }
        }
        return all;
    }

    /// Visits senders of a class, the nearest first. Where ranks are alike each does as all do, so
    /// that what a port sends is what arrives at rank 0 through the opposite one.
    auto slots(const PortMatching& matching, const std::vector<Request>& all,
               const std::vector<Rank>& classes, int reach) const {
        return [&, reach](int request, auto&& visit) {
            const auto [to, of_class] = all[to_index(request)];
            for (const Rank from : near_[to_index(to)]) {
                if (ways_.hops(from, to) > reach) {
                    return;
                }
                if (classes[to_index(places_.place_of(from))] != of_class) {
                    continue;
                }
                if (matching.each(symmetric_ ? 0 : from, ways_.ports_between(from, to), visit)) {
                    return;
                }
            }
        };
    }

    /// The least longest way of a step; nothing: there is none within `most`.
    std::optional<int> hops_of_step(const Subgroup& subgroup, const Subgroup& larger, int most) {
        const std::vector<Rank> classes = places_.cosets(subgroup);
        const std::vector<Request> all = requests(classes, larger);
        most = std::min(most, farthest_);
        int hops = 1;
        PortMatching matching(ways_, per_port_, all.size());
        for (int request = 0; request < std::ssize(all); ++request) {
            while (hops <= most &&
                   !matching.add(request, slots(matching, all, classes, hops), work_)) {
                ++hops;
            }
        }
        return hops <= most ? std::optional(hops) : std::nullopt;
    }

    Exchange exchange(const Subgroup& whole) {
        Exchange found;
        found.per_port = per_port_;
        for (Subgroup to = whole; to.size() > 1;) {
            const auto& [price, from] = reached_[to];
            const int hops = price - reached_[from].price - step_in_hops;
            found.steps.insert(found.steps.begin(), step(from, to, hops));
            found.hops += hops;
            to = from;
        }
        return found;
    }

    ExchangeStep step(const Subgroup& subgroup, const Subgroup& larger, int hops) {
        const std::vector<Rank> classes = places_.cosets(subgroup);
        const std::vector<Request> all = requests(classes, larger);
        PortMatching matching(ways_, per_port_, all.size());
        ExchangeStep result;
        for (int request = 0; request < std::ssize(all); ++request) {
            matching.add(request, slots(matching, all, classes, hops), work_);
        }
        for (int request = 0; request < std::ssize(all); ++request) {
            const Port port = matching.port(request);
            const Rank to = all[to_index(request)].to;
            if (!symmetric_) {
                result.messages.push_back({matching.sender(request), to, port});
                continue;
            }
            const auto from = std::ranges::find_if(near_[to_index(to)], [&](Rank r) {
                return classes[to_index(r)] == all[to_index(request)].of_class &&
                       (ways_.ports_between(r, to) >> port.index & 1) != 0;
            });
            for (Rank r = 0; r < ways_.ranks(); ++r) {
                result.messages.push_back({places_.sum(r, *from), r, port});
            }
        }
        for (Rank r = 0; r < ways_.ranks(); ++r) {
            result.classes.push_back(classes[to_index(places_.place_of(r))]);
        }
        std::sort(result.messages.begin(), result.messages.end(),
                  [&](const auto& a, const auto& b) {
                      const auto key = [&](const ExchangeMessage& m) {
                          return std::pair(m.to, result.classes[to_index(m.from)]);
                      };
                      return key(a) < key(b);
                  });
        return result;
    }

    Places places_;
    const Ways& ways_;
    const int per_port_;
    const int most_;        ///< classes that become one
    const bool symmetric_;  ///< ranks are alike
    const int farthest_;
    std::int64_t& work_;
    std::vector<std::vector<Rank>> near_;  ///< by receiver: all senders, the nearest first
    std::map<Subgroup, Reached> reached_;
};

}  // namespace

std::optional<Exchange> find_coset_exchange(const Torus& torus, const Ways& ways,
                                            std::int64_t work) {
    if (ways.ranks() == 1) {
        return Exchange{};
    }
    std::optional<Exchange> best;
    int limit = std::numeric_limits<int>::max() / 2;
    for (int per_port = 1; per_port <= most_per_port; ++per_port) {
        std::int64_t share = work / most_per_port;
        ChainSearch search(torus, ways, per_port, share);
        if (auto found = search.find(limit)) {
            limit = found->hops + static_cast<int>(std::ssize(found->steps)) * step_in_hops;
            best = std::move(found);
        }
        limit -= further_message_in_hops;
    }
    return best;
}

}  // namespace trefoil
