// SPDX-License-Identifier: BSD-3-Clause
// The C interface's look at a communicator, and its end on all ranks, whoever is inside.
#include <algorithm>
#include <cstring>

#include "comm/api/c_guard.hpp"

using namespace trefoil;
using namespace trefoil::c_api;

extern "C" {

trefoil_status_t trefoil_comm_status(trefoil_comm_t comm, char* text, size_t bytes) {
    return guarded([&] {
        require(text != nullptr, "the place for the text is NULL");
        require(bytes > 0, "there is no room for the text");
        *text = '\0';
        require_usable(comm);
        const std::string status = comm->communicator->status_text();
        const std::size_t length = std::min(status.size(), bytes - 1);
        std::memcpy(text, status.data(), length);
        text[length] = '\0';
    });
}

trefoil_status_t trefoil_comm_abort(trefoil_comm_t comm, const char* text) {
    return guarded([&] {
        require_usable(comm);
        comm->communicator->abort(text == nullptr ? "" : text);
    });
}

}  // extern "C"
