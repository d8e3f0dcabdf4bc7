// SPDX-License-Identifier: BSD-3-Clause
// Candidates in the order of their prices.
#include "bench/tune/candidates.hpp"

#include <algorithm>

#include "algorithms/registry/registry.hpp"

namespace trefoil::tool {

namespace {

/// Beyond that the model would have to be wrong by more than it ever was seen to be.
constexpr double dearest = 4;
constexpr std::size_t most = 8;
/// Of larger tori the schedules that only names ask for are not built to be priced.
constexpr Rank most_ranks_for_named = 64;

void add(std::vector<std::string>& names, std::string name) {
    if (std::ranges::find(names, name) == names.end()) {
        names.push_back(std::move(name));
    }
}

/// Where and by what a call is priced.
struct TunedTorus {
    const Torus& torus;
    SelectionBasis basis;
    std::size_t bytes = 0;
};

/// A quarter, half and twice as many pieces as the model has.
void add_pieces(std::vector<std::string>& names, const Considered& one) {
    const Block pieces = one.choice.options.pieces;
    for (const Block other : {pieces / 4, pieces / 2, pieces * 2}) {
        if (pieces > 0 && other > 0 && other != pieces && other <= most_pieces) {
            Choice choice{one.choice.algorithm, {.by_node = one.choice.options.by_node}};
            choice.options.pieces = other;
            add(names, to_string(choice));
        }
    }
}

/// What the model leaves to names: it may do better here.
bool is_worth_it(const Algorithm& algorithm, const Request& request, const TunedTorus& job,
                 double least_seconds) {
    const bool same_bits = !request.traits().reduces || algorithm.traits.identical_results ||
                           request.same_in_any_order();
    if (!same_bits || algorithm.traits.reads_peers || job.torus.ranks() > most_ranks_for_named ||
        !algorithm.refusal(job.torus, {}).empty()) {
        return false;
    }
    Choice choice{&algorithm, {}};
    choice.options.pieces = pieces_for(choice, job.torus, job.bytes, job.basis);
    return modelled(job.torus, choice, job.bytes, job.basis).price->sum() <=
           dearest * least_seconds;
}

}  // namespace

std::string name_of(const Choice& choice) {
    return to_string(Choice{choice.algorithm, {.by_node = choice.options.by_node}});
}

Candidates candidates_of(const Communicator& communicator, const Request& request) {
    const Chooser& chooser = communicator.chooser();
    const bool reads_peers = communicator.reads_peers();
    const TunedTorus job{communicator.torus(), selection_basis(communicator.settings()),
                         chooser.bytes_of(request)};
    Candidates found;
    const Decision own = chooser.decide(request, reads_peers);
    found.seconds = own.model.seconds.value_or(0);
    add(found.algorithms, name_of(own.choice));
    std::vector<Considered> all = chooser.considered(request);
    std::erase_if(all, [](const Considered& one) { return !one.price; });
    std::ranges::stable_sort(all, {}, [](const Considered& one) { return one.price->sum(); });
    for (const Considered& one : all) {
        if (one.price->sum() > dearest * all.front().price->sum() ||
            found.algorithms.size() >= most) {
            break;
        }
        add(found.algorithms, name_of(one.choice));
    }
    if (!all.empty()) {
        found.seconds = all.front().price->sum();
        add_pieces(found.algorithms, all.front());
    }
    for (const Algorithm& algorithm : algorithms()) {
        if (algorithm.collective == request.collective && algorithm.selection.most_ranks == 0 &&
            is_worth_it(algorithm, request, job, found.seconds)) {
            add(found.algorithms, std::string(algorithm.name));
        }
        if (reads_peers && algorithm.collective == request.collective &&
            algorithm.traits.reads_peers) {
            add(found.algorithms, std::string(algorithm.name));
        }
    }
    return found;
}

}  // namespace trefoil::tool
