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
    if (algorithm.selection.most_ranks > 0 || algorithm.traits.reads_peers ||
        job.torus.ranks() > most_ranks_for_named || !can_run(algorithm, request, job.torus)) {
        return false;
    }
    Choice choice{&algorithm, {}};
    choice.options.pieces = pieces_for(choice, job.torus, job.bytes, job.basis);
    return modelled(job.torus, choice, job.bytes, job.basis).price->sum() <=
           dearest * least_seconds;
}

}  // namespace

bool can_run(const Algorithm& algorithm, const Request& request, const Torus& torus) {
    const bool same_bits = !request.traits().reduces || algorithm.traits.identical_results ||
                           request.same_in_any_order();
    return algorithm.collective == request.collective && same_bits &&
           algorithm.refusal(torus, {}).empty();
}

Candidates candidates_of(const Communicator& communicator, const Request& request) {
    const Chooser& chooser = communicator.chooser();
    const TunedTorus job{communicator.torus(), selection_basis(communicator.settings()),
                         chooser.bytes_of(request)};
    Candidates found;
    for (const Choice& choice :
         chooser.worth_trying(request, communicator.peer_access(), dearest, most)) {
        found.algorithms.push_back(to_string(choice));
    }
    if (const std::vector<Considered> all = chooser.priced(request); !all.empty()) {
        found.seconds = all.front().price->sum();
        add_pieces(found.algorithms, all.front());
    }
    for (const Algorithm& algorithm : algorithms()) {
        if (is_worth_it(algorithm, request, job, found.seconds)) {
            add(found.algorithms, std::string(algorithm.name));
        }
    }
    return found;
}

}  // namespace trefoil::tool
