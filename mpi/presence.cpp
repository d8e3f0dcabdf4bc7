// SPDX-License-Identifier: BSD-3-Clause
// Along a binomial tree of MPI_COMM_WORLD, of which each rank knows whether its parent and its
// children take part. Who has no parent there knows the answer, and so do those below it.
#include "mpi/presence.hpp"

#include <string>
#include <vector>

#include "mpi/agreement.hpp"
#include "mpi/api.hpp"
#include "mpi/words.hpp"

namespace trefoil::mpi {

namespace {

bool all_along_tree(int rank, int ranks) {
    bool all = true;
    std::vector<int> children;
    for (int bit = 1; (rank & bit) == 0 && rank + bit < ranks; bit <<= 1) {
        if (is_present(rank + bit)) {
            children.push_back(rank + bit);
        } else {
            all = false;
        }
    }
    for (const int child : children) {
        all = hear_presence(child) && all;
    }
    if (rank != 0) {
        const int parent = rank & (rank - 1);
        const bool has_parent = is_present(parent);
        if (has_parent) {
            tell_presence(all, parent);
        }
        all = has_parent && hear_presence(parent);
    }
    for (const int child : children) {
        tell_presence(all, child);
    }
    return all;
}

}  // namespace

bool all_take_part() {
    if (!can_ask_for_presence()) {
        return true;
    }
    int rank = 0, ranks = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!is_present(rank)) {
        return false;  // it could not say so, and one of the others warns
    }
    if (all_along_tree(rank, ranks)) {
        return true;
    }
    std::vector<int> lacking;
    for (int r = 0; r < ranks; ++r) {
        if (r != rank && !is_present(r)) {
            lacking.push_back(r);
        } else if (r < rank) {
            return false;  // which says it
        }
    }
    say(TREFOIL_LOG_WARNING, "MPI runs all collectives of this job, as not all ranks have " +
                                 std::string(what_is_present) + ": " + rank_list(lacking) +
                                 (lacking.size() == 1 ? " has" : " have") + " none");
    return false;
}

}  // namespace trefoil::mpi
