// SPDX-License-Identifier: BSD-3-Clause
// Groups from texts, files and geometry.
#include "bench/traffic/allocation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <sstream>

#include "bench/common/names.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

constexpr Rank most_hosts = 1 << 20;

/// Numbers names in the order in which they come up.
class GroupNumbers {
  public:
    int number(const std::string& name) {
        return numbers_.try_emplace(name, static_cast<int>(numbers_.size())).first->second;
    }
    int count() const { return static_cast<int>(numbers_.size()); }

  private:
    std::map<std::string, int> numbers_;
};

std::string without_blanks(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r");
    return first == std::string_view::npos
               ? ""
               : std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

Rank count_of_run(std::string_view run, std::string_view count) {
    Rank value = 0;
    const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), value);
    if (error != std::errc() || end != count.data() + count.size() || value < 1 ||
        value > most_hosts) {
        throw Error(
            Status::invalid_argument,
            fmt::format("'{}' is not a run of hosts; write GROUP or GROUP*HOSTS with 1 to {} "
                        "hosts, e.g. a*2,b*7",
                        run, most_hosts));
    }
    return value;
}

}  // namespace

Allocation parse_allocation(const std::string& name, std::string_view runs) {
    Allocation result{name, {}, 0};
    GroupNumbers numbers;
    for (const std::string& run : split_list(runs)) {
        const auto star = run.find('*');
        const std::string group = without_blanks(run.substr(0, star));
        const Rank hosts = star == std::string::npos
                               ? 1
                               : count_of_run(run, std::string_view(run).substr(star + 1));
        if (group.empty()) {
            throw Error(Status::invalid_argument,
                        fmt::format("'{}' names no group; write GROUP or GROUP*HOSTS", run));
        }
        if (std::ssize(result.group_of) + hosts > most_hosts) {
            throw Error(Status::invalid_argument,
                        fmt::format("an allocation has {} hosts at most", most_hosts));
        }
        result.group_of.insert(result.group_of.end(), hosts, numbers.number(group));
    }
    result.groups = numbers.count();
    return result;
}

std::vector<Allocation> parse_allocations(const std::string& file, std::string_view text) {
    std::vector<Allocation> all;
    std::istringstream stream{std::string(text)};
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
        ++number;
        line = without_blanks(line);
        if (line.empty() || line.front() == '#') {
            continue;
        }
        const auto colon = line.find(':');
        if (colon == std::string::npos) {
            throw Error(Status::invalid_argument,
                        fmt::format("{}, line {}: no ':'; write NAME: a*2,b*7", file, number));
        }
        try {
            all.push_back(parse_allocation(without_blanks(line.substr(0, colon)),
                                           without_blanks(line.substr(colon + 1))));
        } catch (const Error& error) {
            throw Error(error.status(), fmt::format("{}, line {}: {}", file, number, error.what()));
        }
    }
    if (all.empty()) {
        throw Error(Status::invalid_argument,
                    file + " has no allocations; write lines like NAME: a*2,b*7");
    }
    return all;
}

Allocation parse_hosts(const std::string& file, std::string_view text) {
    Allocation result{file, {}, 0};
    GroupNumbers numbers;
    std::map<std::string, std::string> known;
    std::istringstream stream{std::string(text)};
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
        ++number;
        std::istringstream words(line);
        std::string host, group, more;
        if (!(words >> host) || host.front() == '#') {
            continue;
        }
        if (!(words >> group) || words >> more) {
            throw Error(Status::invalid_argument,
                        fmt::format("{}, line {}: the group of host {} is {}; write HOST GROUP",
                                    file, number, host, more.empty() ? "unknown" : "not one word"));
        }
        const auto [place, added] = known.try_emplace(host, group);
        if (!added && place->second != group) {
            throw Error(Status::invalid_argument,
                        fmt::format("{}, line {}: host {} is in group {} here and in {} before",
                                    file, number, host, group, place->second));
        }
        result.group_of.push_back(numbers.number(group));
    }
    if (result.group_of.empty()) {
        throw Error(Status::invalid_argument, file + " has no hosts; write lines HOST GROUP");
    }
    result.groups = numbers.count();
    return result;
}

Allocation equal_groups(Rank hosts, Rank size) {
    if (size < 1) {
        throw Error(Status::invalid_argument,
                    fmt::format("a group has at least one host, not {}", size));
    }
    Allocation result{fmt::format("groups of {}", size), {}, (hosts + size - 1) / size};
    for (Rank host = 0; host < hosts; ++host) {
        result.group_of.push_back(host / size);
    }
    return result;
}

Allocation boxes_of(const Torus& torus, std::string_view box) {
    const Torus sizes = Torus::parse(box);
    bool fits = sizes.dimensions() == torus.dimensions();
    for (int j = 0; fits && j < torus.dimensions(); ++j) {
        fits = torus.size(j) % sizes.size(j) == 0;
    }
    if (!fits) {
        throw Error(Status::invalid_argument,
                    fmt::format("boxes of {} do not fill the torus {}; as many dimensions are "
                                "needed, and sizes that divide its sizes",
                                sizes.name(), torus.name()));
    }
    Allocation result{"boxes of " + sizes.name(), {}, torus.ranks() / sizes.ranks()};
    for (Rank rank = 0; rank < torus.ranks(); ++rank) {
        int group = 0;
        for (int j = 0; j < torus.dimensions(); ++j) {
            group =
                group * (torus.size(j) / sizes.size(j)) + torus.coordinate(rank, j) / sizes.size(j);
        }
        result.group_of.push_back(group);
    }
    return result;
}

std::vector<Rank> aligned_order(const Allocation& allocation) {
    std::vector<Rank> sizes(allocation.groups);
    for (const int group : allocation.group_of) {
        ++sizes[group];
    }
    std::vector<Rank> order(allocation.group_of.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](Rank a, Rank b) {
        const int x = allocation.group_of[a], y = allocation.group_of[b];
        return sizes[x] != sizes[y] ? sizes[x] > sizes[y] : x < y;
    });
    return order;
}

}  // namespace trefoil::tool
