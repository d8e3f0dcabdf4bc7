// SPDX-License-Identifier: BSD-3-Clause
// Whether all ranks of the job have the component: along a binomial tree of MPI_COMM_WORLD, of
// which each rank knows whether its parent and its children take part. Who has no parent there
// knows the answer, and so do those below it.
#include <string>
#include <vector>

#include "mpi/agreement.hpp"
#include "mpi/allgather.hpp"
#include "mpi/component_slots.h"
#include "mpi/layer.hpp"
#include "mpi/words.hpp"

namespace trefoil::mpi {

namespace {

constexpr auto purpose = static_cast<int>(Purpose::presence);

bool finish(MPI_Request request) {
    int code = MPI_SUCCESS;
    while (trefoil_component_has_ended(&request, &code) == 0) {
        trefoil_component_let_mpi_go_on();
    }
    return code == MPI_SUCCESS;
}

void send(bool value, int to) {
    MPI_Request request = nullptr;
    const char byte = value ? 1 : 0;
    trefoil_component_send(&byte, 1, to, purpose, MPI_COMM_WORLD, &request);
    finish(request);
}

bool receive(int from) {
    MPI_Request request = nullptr;
    char byte = 0;
    return trefoil_component_receive(&byte, 1, from, purpose, MPI_COMM_WORLD, &request) ==
               MPI_SUCCESS &&
           finish(request) && byte != 0;
}

bool all_along_tree(int rank, int ranks) {
    bool all = true;
    std::vector<int> children;
    for (int bit = 1; (rank & bit) == 0 && rank + bit < ranks; bit <<= 1) {
        if (trefoil_component_is_on(rank + bit) != 0) {
            children.push_back(rank + bit);
        } else {
            all = false;
        }
    }
    for (const int child : children) {
        all = receive(child) && all;
    }
    if (rank != 0) {
        const int parent = rank & (rank - 1);
        const bool has_parent = trefoil_component_is_on(parent) != 0;
        if (has_parent) {
            send(all, parent);
        }
        all = has_parent && receive(parent);
    }
    for (const int child : children) {
        send(all, child);
    }
    return all;
}

}  // namespace

bool all_take_part() {
    int rank = 0, ranks = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (all_along_tree(rank, ranks)) {
        return true;
    }
    std::vector<int> lacking;
    for (int r = 0; r < ranks; ++r) {
        if (r != rank && trefoil_component_is_on(r) == 0) {
            lacking.push_back(r);
        } else if (r < rank) {
            return false;  // which says it
        }
    }
    say(TREFOIL_LOG_WARNING,
        "MPI runs all collectives of this job, as not all ranks have Trefoil's "
        "component: " +
            rank_list(lacking) + (lacking.size() == 1 ? " has" : " have") + " none");
    return false;
}

}  // namespace trefoil::mpi
