// SPDX-License-Identifier: BSD-3-Clause
// The shortest way from the subgroup of one element to that of all (Dijkstra, 1959): what leads
// from one subgroup to another is a step, whose length is known when its messages have ports.
#include "algorithms/search/coset_exchange.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
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

int farthest(const WayTable& ways) {
    int most = 0;
    for (Rank r = 0; r < ways.ranks(); ++r) {
        most = std::max(most, ways.eccentricity(r));
    }
    return most;
}

class ChainSearch {
  public:
    /// All outlive it.
    ChainSearch(const Places& places, const WayTable& ways,
                const std::vector<std::vector<Rank>>& near, bool symmetric, bool stores,
                int per_port, std::int64_t& work)
        : places_(places),
          ways_(ways),
          near_(near),
          symmetric_(symmetric),
          stores_(stores),
          per_port_(per_port),
          most_(ways.ports() * per_port + 1),
          farthest_(farthest(ways)),
          work_(work) {}

    /// Cheaper than `limit`, by price().
    std::optional<Exchange> find(int limit) {
        reached_[{0}] = {};
        std::set<std::pair<int, Subgroup>> next{{0, {0}}};  // by the least price of a whole chain
        while (!next.empty() && work_ > 0) {
            const Subgroup subgroup = next.begin()->second;
            next.erase(next.begin());
            if (std::ssize(subgroup) == places_.count()) {
                return exchange(subgroup);
            }
            const Reached here = reached_[subgroup];
            for (const Subgroup& larger : supergroups(subgroup)) {
                const auto known = reached_.find(larger);
                const int most =
                    known == reached_.end() ? limit : std::min(limit, price_of(known->second));
                Reached there{here.steps + 1, here.hops + 1, here.stored, subgroup};
                if (stores_) {
                    there.stored += static_cast<int>(larger.size() / subgroup.size()) - 1;
                }
                if (least(there, larger) >= limit) {
                    continue;
                }
                const int more = (most - 1 - price_of(there)) / 2;  // than one hop
                const auto hops = hops_of_step(subgroup, larger, 1 + more);
                there.hops = here.hops + hops.value_or(0);
                if (!hops || price_of(there) >= most || least(there, larger) >= limit) {
                    continue;
                }
                if (known != reached_.end()) {
                    next.erase({least(known->second, larger), larger});
                }
                next.insert({least(there, larger), larger});
                reached_[larger] = there;
            }
        }
        return std::nullopt;
    }

  private:
    /// Of tori with many dimensions there are far more.
    static constexpr std::size_t most_supergroups = 512;

    struct Reached {
        int steps = 0, hops = 0, stored = 0;
        Subgroup before;
    };

    int price_of(const Reached& begun) const {
        return price(begun.steps, per_port_, begun.hops, begun.stored);
    }

    /// No chain that begins like this is cheaper: subgroups grow by so much at most, and in the end
    /// something has come from the farthest rank.
    int least(const Reached& begun, const Subgroup& subgroup) const {
        int more = 0;
        for (auto size = std::ssize(subgroup); size < places_.count(); size *= most_) {
            ++more;
        }
        return price(begun.steps + more, per_port_, std::max(begun.hops + more, farthest_),
                     begun.stored);
    }

    /// Those that are so few times larger that a rank can hear from all.
    std::vector<Subgroup> supergroups(const Subgroup& subgroup) {
        std::set<Subgroup> all;
        std::vector<Subgroup> fresh{subgroup};
        while (!fresh.empty() && all.size() < most_supergroups && work_ > 0) {
            const Subgroup last = std::move(fresh.back());
            fresh.pop_back();
            const std::vector<Rank> cosets = places_.cosets(last);
            work_ -= std::ssize(cosets);
            for (Rank element = 1; element < places_.count(); ++element) {
                if (cosets[to_index(element)] != element) {
                    continue;  // with another element of its coset it is the same
                }
                const std::size_t times = to_index(places_.order(last, element));
                work_ -= static_cast<std::int64_t>(times);
                if (times == 1 || times * last.size() > subgroup.size() * to_index(most_)) {
                    continue;
                }
                Subgroup larger = places_.with(last, element);
                work_ -= 8 * std::ssize(larger);
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
        std::vector<Rank> from;  ///< the ranks of the class, the nearest first
    };

    /// What must be sent in a step: to rank 0, or to all. Nothing: somebody is further away from a
    /// class than `most`.
    std::vector<Request> requests(const std::vector<Rank>& classes, const Subgroup& larger,
                                  int most) {
        const std::vector<Rank> merged = places_.cosets(larger);
        std::vector<Request> all;
        for (Rank to = 0; to < (symmetric_ ? 1 : ways_.ranks()); ++to) {
            const Rank place = places_.place_of(to);
            std::vector<int> of_class(classes.size(), PortMatching::nobody);
            work_ -= std::ssize(classes);
            for (const Rank from : near_[to_index(to)]) {
                const Rank other = places_.place_of(from);
                const Rank c = classes[to_index(other)];
                if (c == classes[to_index(place)] ||
                    merged[to_index(other)] != merged[to_index(place)]) {
                    continue;
                }
                if (of_class[to_index(c)] == PortMatching::nobody) {
                    if (ways_.hops(from, to) > most) {
                        return {};
                    }
                    of_class[to_index(c)] = static_cast<int>(all.size());
                    all.push_back({to, c, {}});
                }
                all[to_index(of_class[to_index(c)])].from.push_back(from);
            }
        }
        return all;
    }

    /// Visits the ports of those who may send. Where ranks are alike each does as all do, so that
    /// what rank 0 hears through a port is what it sends through the other one.
    auto slots(const PortMatching& matching, const std::vector<Request>& all, int reach) const {
        return [&, reach](int request, auto&& visit) {
            const Request& one = all[to_index(request)];
            for (const Rank from : one.from) {
                if (ways_.hops(from, one.to) > reach ||
                    matching.each(symmetric_ ? 0 : from, ways_.ports_between(from, one.to),
                                  visit)) {
                    return;
                }
            }
        };
    }

    /// The least longest way of a step; nothing: there is none within `most`.
    std::optional<int> hops_of_step(const Subgroup& subgroup, const Subgroup& larger, int most) {
        most = std::min(most, farthest_);
        const std::vector<Request> all = requests(places_.cosets(subgroup), larger, most);
        if (all.empty()) {
            return std::nullopt;
        }
        int hops = 1;
        for (const Request& request : all) {
            hops = std::max(hops, ways_.hops(request.from.front(), request.to));
        }
        PortMatching matching(ways_, per_port_, all.size());
        for (int request = 0; request < std::ssize(all); ++request) {
            while (hops <= most && !matching.add(request, slots(matching, all, hops), work_)) {
                ++hops;
            }
        }
        return hops <= most ? std::optional(hops) : std::nullopt;
    }

    Exchange exchange(const Subgroup& whole) {
        Exchange found;
        found.per_port = per_port_;
        found.stored = reached_[whole].stored;
        for (Subgroup to = whole; to.size() > 1;) {
            const Subgroup from = reached_[to].before;
            const int hops = reached_[to].hops - reached_[from].hops;
            found.steps.insert(found.steps.begin(), step(from, to, hops));
            found.hops += hops;
            to = from;
        }
        return found;
    }

    ExchangeStep step(const Subgroup& subgroup, const Subgroup& larger, int hops) {
        const std::vector<Rank> classes = places_.cosets(subgroup);
        const std::vector<Request> all = requests(classes, larger, hops);
        PortMatching matching(ways_, per_port_, all.size());
        ExchangeStep result;
        for (int request = 0; request < std::ssize(all); ++request) {
            matching.add(request, slots(matching, all, hops), work_);
        }
        for (int request = 0; request < std::ssize(all); ++request) {
            const Port port = matching.port(request);
            const auto& [to, of_class, senders] = all[to_index(request)];
            if (!symmetric_) {
                result.messages.push_back({matching.sender(request), to, port});
                continue;
            }
            const auto from = std::ranges::find_if(senders, [&, at = to](Rank r) {
                return (ways_.ports_between(r, at) >> port.index & 1) != 0;
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

    const Places& places_;
    const WayTable& ways_;
    const std::vector<std::vector<Rank>>& near_;  ///< by receiver: all senders, the nearest first
    const bool symmetric_;                        ///< ranks are alike
    const bool stores_;                           ///< sums, before they are added
    const int per_port_;
    const int most_;  ///< classes that become one
    const int farthest_;
    std::int64_t& work_;
    std::map<Subgroup, Reached> reached_;
};

}  // namespace

std::optional<Exchange> find_coset_exchange(const Torus& torus, const WayTable& ways, bool stores,
                                            std::int64_t work) {
    if (ways.ranks() == 1) {
        return Exchange{};
    }
    const Places places(torus);
    const std::vector<std::vector<Rank>> near = ways.nearest();
    std::optional<Exchange> best;
    int limit = std::numeric_limits<int>::max() / 2;
    // Of those with blocks the simulator finds that further messages cost more than the model does.
    const int most = stores ? most_per_port : 2;
    for (int per_port = 1; per_port <= most; ++per_port) {
        std::int64_t share = work / most;
        ChainSearch search(places, ways, near, torus.is_whole(), stores, per_port, share);
        if (auto found = search.find(limit)) {
            limit = price(static_cast<int>(std::ssize(found->steps)), per_port, found->hops,
                          found->stored);
            best = std::move(found);
        }
    }
    return best;
}

}  // namespace trefoil
