// SPDX-License-Identifier: BSD-3-Clause
// The identity of a build, and its comparison.
#include "comm/setup/build_identity.hpp"

#include "comm/setup/agreement.hpp"
#include "topo/error.hpp"

namespace trefoil {

std::string build_identity() {
    return std::string(TREFOIL_VERSION_STRING) + " (sources " + source_hash + ")";
}

void require_same_build(const std::vector<std::string>& identities) {
    try {
        require_agreement(identities, "which Trefoil they run");
    } catch (const Error& error) {
        throw Error(error.status(), std::string(error.what()) +
                                        "; let all ranks load the same build of libtrefoil "
                                        "(LD_LIBRARY_PATH, and what is installed on each host)");
    }
}

}  // namespace trefoil
