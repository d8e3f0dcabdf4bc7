// SPDX-License-Identifier: BSD-3-Clause
// What may be asked of an algorithm, and the words for it.
#include "algorithms/schedule/algorithm.hpp"

#include <numeric>

namespace trefoil {

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
    if (traits_of(collective).rooted() && (options.root < 0 || options.root >= torus.ranks())) {
        return "there is no rank " + std::to_string(options.root) +
               " to be the root; ranks are 0 to " + std::to_string(torus.ranks() - 1);
    }
    if (options.layout != Layout::automatic && !abilities.layouts) {
        return self + " has no choice of layouts; leave " + std::string(to_string(options.layout)) +
               " out";
    }
    if (options.single_port && !abilities.single_port) {
        return self +
               " has no single-port variant; leave single-port out, or take an algorithm that "
               "has one: `trefoil info -v` tells which do";
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

}  // namespace trefoil
