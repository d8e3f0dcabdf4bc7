// SPDX-License-Identifier: BSD-3-Clause
// Locality where Trefoil was built without hwloc: there is none, and this says why.
#include "topo/locality.hpp"

namespace trefoil {

Locality machine_locality() {
    return {TREFOIL_HWLOC_REASON, {}};
}

std::string locality_library() {
    return {};
}

Locality locality_of_xml(const std::string&) {
    return {TREFOIL_HWLOC_REASON, {}};
}

}  // namespace trefoil
