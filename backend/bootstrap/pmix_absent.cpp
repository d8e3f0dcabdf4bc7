// SPDX-License-Identifier: BSD-3-Clause
// Stands in for PMIx in a build without its headers: says so instead of leaving every rank alone.
#include "backend/bootstrap/launcher.hpp"
#include "backend/bootstrap/pmix.hpp"
#include "topo/error.hpp"

namespace trefoil {

std::string pmix_refusal() {
    return "this Trefoil was built without PMIx: " TREFOIL_PMIX_REASON;
}

std::string pmix_version() {
    return {};
}

std::unique_ptr<LauncherLink> make_pmix_link(LauncherLink::Clock::time_point) {
    throw Error(Status::unsupported,
                "PMIx: a launcher that speaks PMIx has started this process, but " +
                    pmix_refusal() +
                    "; install it and build again, use TREFOIL_STORE, or set "
                    "TREFOIL_LAUNCHER=single for one rank");
}

}  // namespace trefoil
