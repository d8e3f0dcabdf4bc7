// SPDX-License-Identifier: BSD-3-Clause
// Any collective through the C interface, by one function.
#pragma once

#include <cstddef>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "include/trefoil/trefoil.h"

namespace trefoil::tool {

/// By rank, as the vector variants take them. Null counts: blocks of one size; null displacements:
/// they lie side by side.
struct BlockLists {
    const std::size_t* counts = nullptr;
    const std::size_t* displacements = nullptr;
};

/// The arguments of one call; those that the collective does not have are ignored.
struct CollectiveCall {
    Collective collective = Collective::allreduce;
    const void* send = nullptr;  ///< or TREFOIL_IN_PLACE
    void* recv = nullptr;        ///< or TREFOIL_IN_PLACE; the only buffer of bcast
    std::size_t count = 0;       ///< elements; of this rank's block where ranks have blocks
    trefoil_datatype_t type = TREFOIL_FLOAT;
    trefoil_op_t operation = TREFOIL_SUM;
    Rank root = 0;
    BlockLists sent = {}, received = {};
};

/// This rank's neighbours in the torus, in the order of trefoil_neighbor_alltoall.
std::vector<Rank> neighbours_of(trefoil_comm_t comm);

trefoil_status_t call_collective(trefoil_comm_t comm, const CollectiveCall& call);

/// The nonblocking form: begins.
trefoil_status_t begin_collective(trefoil_comm_t comm, const CollectiveCall& call,
                                  trefoil_request_t* request);
/// The persistent form: prepares.
trefoil_status_t prepare_collective(trefoil_comm_t comm, const CollectiveCall& call,
                                    trefoil_request_t* request);

}  // namespace trefoil::tool
