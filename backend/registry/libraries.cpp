// SPDX-License-Identifier: BSD-3-Clause
// Asks each transport, and the launcher, for the version of its library.
#include "backend/registry/libraries.hpp"

#include <utility>

#include "backend/bootstrap/launcher.hpp"
#include "backend/registry/transports.hpp"

namespace trefoil {

namespace {

LibraryInfo pmix_library() {
    std::string refusal = pmix_refusal();
    if (!refusal.empty()) {
        return {"PMIx", "", std::move(refusal)};
    }
    return {"PMIx", pmix_version(), "loaded only when its launcher has started the process"};
}

}  // namespace

std::vector<LibraryInfo> libraries() {
    std::vector<LibraryInfo> all;
    for (const Transport& transport : transports()) {
        if (!transport.built()) {
            all.push_back({transport.absent_library, "", transport.absence});
        } else if (transport.library != nullptr) {
            all.push_back(transport.library());
        }
    }
    all.push_back(pmix_library());
    return all;
}

}  // namespace trefoil
