// SPDX-License-Identifier: BSD-3-Clause
// Look-up in the table of algorithms by name.
#include "algorithms/schedule/algorithm.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "topo/error.hpp"

namespace trefoil {

namespace {

std::vector<std::string> names_of(Collective collective, bool single_port = false) {
    std::vector<std::string> names;
    for (const Algorithm& a : algorithms()) {
        if (a.collective == collective && (a.abilities.single_port || !single_port)) {
            names.emplace_back(a.name);
        }
    }
    return names;
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& n : names) {
        text += (text.empty() ? "" : ", ") + n;
    }
    return text;
}

[[noreturn]] void throw_not_found(Collective collective, std::string_view name) {
    const std::vector<std::string> names = names_of(collective);
    const std::vector<std::string> nearest = nearest_names(name, names);
    const std::string offer = nearest.empty() ? "choose one of " + joined(names)
                                              : "did you mean " + joined(nearest) + "?";
    throw Error(Status::not_found, "there is no " + std::string(to_string(collective)) +
                                       " algorithm \"" + std::string(name) + "\"; " + offer);
}

/// Insertions, deletions and substitutions that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) {
        row[j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
        }
    }
    return row[b.size()];
}

}  // namespace

std::span<const Collective> collectives() {
    using enum Collective;
    static constexpr std::array all{allreduce, reduce_scatter, allgather, bcast,  reduce,
                                    gather,    scatter,        alltoall,  barrier};
    static_assert(all.size() == collective_count);
    return all;
}

std::string_view to_string(Collective collective) {
    switch (collective) {
        case Collective::allreduce:
            return "allreduce";
        case Collective::reduce_scatter:
            return "reduce_scatter";
        case Collective::allgather:
            return "allgather";
        case Collective::bcast:
            return "bcast";
        case Collective::reduce:
            return "reduce";
        case Collective::gather:
            return "gather";
        case Collective::scatter:
            return "scatter";
        case Collective::alltoall:
            return "alltoall";
        case Collective::barrier:
            return "barrier";
    }
    return "unknown";
}

bool is_divided(Collective collective) {
    return collective == Collective::reduce_scatter || collective == Collective::allgather ||
           collective == Collective::gather || collective == Collective::scatter;
}

bool has_blocks(Collective collective) {
    return is_divided(collective) || collective == Collective::alltoall;
}

bool is_rooted(Collective collective) {
    return collective == Collective::bcast || collective == Collective::reduce ||
           collective == Collective::gather || collective == Collective::scatter;
}

bool is_reduction(Collective collective) {
    return collective == Collective::allreduce || collective == Collective::reduce_scatter ||
           collective == Collective::reduce;
}

std::string_view to_string(Layout layout) {
    switch (layout) {
        case Layout::automatic:
            return "automatic";
        case Layout::block_by_block:
            return "block-by-block";
        case Layout::permute:
            return "permute";
        case Layout::send:
            return "send";
        case Layout::two_transmissions:
            return "two-transmissions";
    }
    return "unknown";
}

std::string_view to_string(Rotation rotation) {
    switch (rotation) {
        case Rotation::automatic:
            return "automatic";
        case Rotation::split:
            return "split";
        case Rotation::whole:
            return "class";
    }
    return "unknown";
}

std::string_view to_string(PhaseSync sync) {
    switch (sync) {
        case PhaseSync::none:
            return "none";
        case PhaseSync::signals:
            return "signals";
        case PhaseSync::barrier:
            return "barrier";
    }
    return "unknown";
}

std::string Algorithm::refusal(const Torus& torus, const BuildOptions& options) const {
    const std::string self(name);
    if (is_rooted(collective) && (options.root < 0 || options.root >= torus.ranks())) {
        return "there is no rank " + std::to_string(options.root) +
               " to be the root; ranks are 0 to " + std::to_string(torus.ranks() - 1);
    }
    if (options.layout != Layout::automatic && !abilities.layouts) {
        return self + " has no choice of layouts; leave " + std::string(to_string(options.layout)) +
               " out";
    }
    if (options.single_port && !abilities.single_port) {
        return self + " has no single-port variant; leave single-port out, or take one of " +
               joined(names_of(collective, true));
    }
    if (options.pieces != 0 && !abilities.pieces) {
        return self + " is not pipelined and takes no number of pieces";
    }
    if (options.pieces > most_pieces) {
        return self + " cuts a vector into at most " + std::to_string(most_pieces) +
               " pieces, not " + std::to_string(options.pieces);
    }
    if (options.radix != 0 && !abilities.radix) {
        return self + " does not go by digits and takes no radix";
    }
    if (options.radix < 0 || options.radix == 1) {
        return "a radix is 2 or more, not " + std::to_string(options.radix);
    }
    if (options.ports != 0 && !abilities.ports) {
        return self + " takes no number of ports";
    }
    if (options.ports < 0) {
        return "a number of ports is 1 or more, not " + std::to_string(options.ports);
    }
    if (options.rotation != Rotation::automatic && !abilities.rotation) {
        return self + " does not rotate the dimensions; leave " +
               std::string(to_string(options.rotation)) + " out";
    }
    if (options.binary && !abilities.binary) {
        return self + " has no binary first phase; leave binary out";
    }
    if (options.sync == PhaseSync::barrier && !abilities.barriers) {
        return self + " has no phases to keep apart; leave barrier out";
    }
    if (options.sync == PhaseSync::signals && !abilities.signals) {
        return self + " has no signals between its phases; " +
               (abilities.barriers ? "take barrier, or none" : "leave signals out");
    }
    return shape_refusal(torus);
}

std::vector<Rank> Algorithm::block_owners(const Torus& torus, const BuildOptions& options,
                                          int part) const {
    if (owners != nullptr) {
        return owners(torus, options, part);
    }
    std::vector<Rank> ranks(torus.ranks());
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

const Algorithm& find_algorithm(Collective collective, std::string_view name, const Torus* torus) {
    for (const Algorithm& a : algorithms()) {
        if (a.collective != collective || a.name != name) {
            continue;
        }
        const std::string reason = torus == nullptr ? std::string() : a.refusal(*torus);
        if (!reason.empty()) {
            throw Error(Status::unsupported, "algorithm " + std::string(name) +
                                                 " does not run on the torus " + torus->name() +
                                                 ": " + reason);
        }
        return a;
    }
    throw_not_found(collective, name);
}

std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string> candidates) {
    std::vector<std::pair<std::size_t, std::string>> ranked;
    for (const std::string& c : candidates) {
        const std::size_t distance = edit_distance(name, c);
        if (2 * distance <= std::max(name.size(), c.size())) {
            ranked.emplace_back(distance, c);
        }
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    ranked.resize(std::min<std::size_t>(ranked.size(), 3));
    std::vector<std::string> result;
    for (auto& [distance, candidate] : ranked) {
        result.push_back(std::move(candidate));
    }
    return result;
}

}  // namespace trefoil
