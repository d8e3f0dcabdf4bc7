// SPDX-License-Identifier: BSD-3-Clause
// The part of every_function.cpp that makes communicators from others.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <trefoil/trefoil.hpp>

/// A sum over all its ranks, of the ranks that they had before.
inline int sum_of(trefoil::Comm& made, int rank) {
    std::vector<int> sum{rank};
    made.allreduce(std::span(sum));
    made.barrier();
    return sum[0];
}

/// Of a communicator on a ring; "" or what is wrong.
inline const char* communicators_from_others(trefoil::Comm& comm) {
    const int rank = comm.rank(), ranks = comm.size(), all = ranks * (ranks - 1) / 2;
    trefoil::Comm dup = comm.dup();
    if (sum_of(dup, rank) != all || dup.rank() != rank || dup.torus() != comm.torus()) {
        return "dup";
    }
    trefoil::Comm kept = dup.sub({true});
    if (sum_of(kept, rank) != all) {
        return "sub";
    }
    try {
        (void)comm.sub({true, false});
        return "sub with too many flags";
    } catch (const trefoil::CallFailed& error) {
        if (error.status() != TREFOIL_ERROR_INVALID_ARGUMENT) {
            return "sub with too many flags";
        }
    }
    trefoil::Comm part = comm.split(rank == 0 ? TREFOIL_UNDEFINED : 0, -rank);
    if (part.valid() != (rank != 0) || (part.valid() && sum_of(part, rank) != all)) {
        return "split";
    }
    if (rank == 0 || rank == ranks - 1) {
        trefoil::Comm ends = comm.create_group({ranks - 1, 0});
        if (ends.size() != 2 || sum_of(ends, rank) != ranks - 1) {
            return "create_group";
        }
    }
    trefoil::Comm ended = comm.dup();
    try {
        if (rank == 0) {
            ended.abort("enough");
        }
        ended.barrier();
        return "abort";
    } catch (const trefoil::CallFailed& error) {
        if (error.status() != TREFOIL_ERROR_ABORTED ||
            std::string(error.what()) != "rank 0 aborted: enough" || error.cause().culprit != 0 ||
            ended.cause().evidence != TREFOIL_EVIDENCE_ABORTED) {
            return "abort";
        }
    }
    trefoil::Comm left = ended.shrink();
    if (sum_of(left, rank) != all || left.torus() != comm.torus()) {
        return "shrink";
    }
    return "";
}
