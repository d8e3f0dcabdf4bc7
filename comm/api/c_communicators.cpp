// SPDX-License-Identifier: BSD-3-Clause
// The C interface's communicators that are made from another one.
#include <vector>

#include "comm/api/c_guard.hpp"
#include "comm/api/c_handles.hpp"

using namespace trefoil;
using namespace trefoil::c_api;

namespace {

/// `work` makes the communicator from the parent, which is entered.
template <typename Work>
trefoil_status_t make_from(trefoil_comm_t parent, trefoil_comm_t* made, Work&& work) {
    if (made != nullptr) {
        *made = nullptr;
    }
    return guarded([&] {
        const Entry entry(parent);
        require(made != nullptr, "the place for the new communicator is NULL");
        *made = new_handle(work(*entry));
    });
}

}  // namespace

extern "C" {

trefoil_status_t trefoil_comm_dup(trefoil_comm_t parent, trefoil_comm_t* made) {
    return make_from(parent, made, [](Communicator& of) { return of.dup(); });
}

trefoil_status_t trefoil_comm_split(trefoil_comm_t parent, int colour, int key,
                                    trefoil_comm_t* made) {
    return make_from(parent, made, [&](Communicator& of) {
        if (colour < TREFOIL_UNDEFINED) {
            refuse("the colour is " + std::to_string(colour) +
                   "; it must be 0 or more, or TREFOIL_UNDEFINED for a rank that takes no part");
        }
        return of.split(colour, key);
    });
}

trefoil_status_t trefoil_comm_sub(trefoil_comm_t parent, const int* keep, trefoil_comm_t* made) {
    return make_from(parent, made, [&](Communicator& of) {
        require(keep != nullptr, "the flags of the dimensions to keep are NULL");
        std::vector<bool> kept;
        for (int j = 0; j < of.torus().dimensions(); ++j) {
            kept.push_back(keep[j] != 0);
        }
        return of.sub(kept);
    });
}

trefoil_status_t trefoil_comm_create_group(trefoil_comm_t parent, const int* ranks, int count,
                                           int tag, trefoil_comm_t* made) {
    return make_from(parent, made, [&](Communicator& of) {
        if (count < 1) {
            refuse("the group has a list of " + std::to_string(count) +
                   " entries; it needs at least one, the calling rank");
        }
        require(ranks != nullptr, "the list of ranks is NULL");
        return of.create_group(std::vector<Rank>(ranks, ranks + count), tag);
    });
}

trefoil_status_t trefoil_comm_shrink(trefoil_comm_t comm, trefoil_comm_t* made) {
    return make_from(comm, made, [](Communicator& of) { return of.shrink(); });
}

}  // extern "C"
