// SPDX-License-Identifier: BSD-3-Clause
// Symbolic execution of moves, whose source may lie in a peer's buffer.
#include "algorithms/analysis/proof.hpp"

namespace trefoil {

namespace {
std::string verb(const Move& move) {
    return move.pulls() ? "a pull" : "a move";
}
}  // namespace

void PartProof::run_moves(Rank rank, const Schedule& schedule, const Step& step) {
    for (const Move& m : schedule.moves_of(step)) {
        const Extent to{m.to, m.from.count};
        if (m.action == Action::prepend) {
            report(rank, verb(m) + " prepends, which receives alone do");
            continue;
        }
        if (!has_source(rank, m) || !inside(rank, to, "a move writes")) {
            continue;
        }
        const bool in_its_place = m.initial && m.from.first == m.to;
        if (!m.pulls() && !in_its_place && m.from.first < m.to + m.from.count &&
            m.to < m.from.first + m.from.count) {
            report(rank, "a move from " + text(m.from) + " to " + text(to) + " overlaps itself");
            continue;
        }
        for (Block i = 0; i < m.from.count; ++i) {
            move_block(rank, m, m.from.first + i, m.to + i);
        }
    }
}

bool PartProof::has_source(Rank rank, const Move& move) {
    if (move.pulls() && (move.peer < 0 || move.peer >= torus_.ranks() || move.peer == rank)) {
        report(rank, "pulls from rank " + std::to_string(move.peer) + ", which is not a peer");
        return false;
    }
    if (move.initial && !schedules_[0].parts[part_].input_apart) {
        report(rank, "a move reads what a rank began with, in a part that overwrites it");
        return false;
    }
    if (!move.pulls() && !move.initial) {
        return inside(rank, move.from, "a move reads");
    }
    if (static_cast<std::uint64_t>(move.from.first) + move.from.count > vector_blocks_) {
        report(rank,
               verb(move) + " reads blocks " + text(move.from) + ", which are none of the vector");
        return false;
    }
    return true;
}

void PartProof::move_block(Rank rank, const Move& move, Block from, Block to) {
    const Rank owner = move.pulls() ? move.peer : rank;
    const std::size_t target = index(rank, to);
    const SymbolicValues& values = move.initial ? began_ : buffers_;
    const std::size_t source = move.initial ? 0 : index(owner, from);
    if (move.initial) {
        began_.set_own(0, owner, blocks_both_ways() ? from : 0);
    }
    if (order_) {
        if (move.pulls() || move.initial) {
            order_->read(rank, owner, from, move.initial);
        }
        const bool keeps =
            move.initial && !move.pulls() && from == to && move.action == Action::replace;
        order_->move_writes(rank, to, keeps);
    }
    const auto complain = [&](const std::string& what) { report(rank, verb(move) + " " + what); };
    if (!pairs(owner, from, rank, to)) {
        complain("pairs block " + std::to_string(from) + " with block " + std::to_string(to) +
                 ", which may differ in size");
    } else if (blocks_both_ways() && begins_with(rank, to)) {
        complain("overwrites what is to be sent: block " + std::to_string(to));
    } else if (move.initial ? !begins_with(owner, from) : !values.is_defined(source)) {
        complain("reads block " + std::to_string(from) + ", which is undefined");
    } else if (move.action == Action::replace) {
        buffers_.copy(target, values, source);
    } else if (!buffers_.is_defined(target)) {
        complain("reduces into block " + std::to_string(to) + ", which is undefined");
    } else if (!buffers_.reduce(target, values, source)) {
        complain("counts a contribution twice in block " + std::to_string(to));
    }
}

}  // namespace trefoil
