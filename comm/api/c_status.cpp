// SPDX-License-Identifier: BSD-3-Clause
// The C interface's look at a communicator, whoever is inside.
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

}  // extern "C"
