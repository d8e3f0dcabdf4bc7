// SPDX-License-Identifier: BSD-3-Clause
// The C interface: communicators that are made from others.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "comm/api/c_guard.hpp"
#include "trefoil/communicators.h"

using namespace trefoil::c_api;

namespace {

/// `make(parent)` returns the communicator, or null for none.
template <typename Make>
trefoil_status_t make_from(trefoil_comm_t parent, trefoil_comm_t* made, Make&& make) noexcept {
    if (made != nullptr) {
        *made = nullptr;
    }
    return guarded([&] {
        require(made != nullptr, "the place for the communicator is NULL");
        const Entry entry(parent);
        auto handle = std::make_unique<trefoil_comm>();
        handle->communicator = make(*entry);
        if (handle->communicator == nullptr) {
            return;
        }
        handle->rank = handle->communicator->rank();
        handle->ranks = handle->communicator->ranks();
        *made = handle.release();
    });
}

}  // namespace

extern "C" {

trefoil_status_t trefoil_comm_dup(trefoil_comm_t parent, trefoil_comm_t* made) {
    return make_from(parent, made, [](trefoil::Communicator& of) { return of.dup(); });
}

trefoil_status_t trefoil_comm_split(trefoil_comm_t parent, int colour, int key,
                                    trefoil_comm_t* made) {
    return make_from(parent, made, [&](trefoil::Communicator& of) {
        if (colour < TREFOIL_UNDEFINED) {
            refuse("colour " + std::to_string(colour) +
                   " is negative; use TREFOIL_UNDEFINED for a rank that takes no part");
        }
        return of.split(colour, key);
    });
}

trefoil_status_t trefoil_comm_sub(trefoil_comm_t parent, const int* keep, trefoil_comm_t* made) {
    return make_from(parent, made, [&](trefoil::Communicator& of) {
        require(keep != nullptr, "the list of dimensions to keep is NULL");
        std::vector<bool> flags;
        for (int j = 0; j < of.torus().dimensions(); ++j) {
            flags.push_back(keep[j] != 0);
        }
        return of.sub(flags);
    });
}

trefoil_status_t trefoil_comm_create_group(trefoil_comm_t parent, int count, const int* ranks,
                                           int tag, trefoil_comm_t* made) {
    return make_from(parent, made, [&](trefoil::Communicator& of) {
        require(count >= 1, "the group has no rank");
        require(ranks != nullptr, "the list of ranks is NULL");
        return of.create_group(std::vector<trefoil::Rank>(ranks, ranks + count), tag);
    });
}

}  // extern "C"
