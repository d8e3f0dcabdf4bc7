// SPDX-License-Identifier: BSD-3-Clause
// Loading libfabric. Its headers give the types, so that the compiler checks every call.
#include "backend/ofi/library.hpp"

#include "backend/system/loaded_library.hpp"
#include "topo/error.hpp"

namespace trefoil::ofi {

namespace {

// A newer libfabric than the headers are of has newer versions of these symbols. That is no harm:
// libfabric only ever appends to its structures (fabric(7), "ABI CHANGES"), and those that these
// functions take are all made by itself.
Library load() {
    const std::string otherwise =
        "choose another backend (TREFOIL_BACKEND=ucx, or memory on one host)";
    require_affinity_to_be_told("libfabric", otherwise);
    const LoadedLibrary loaded("libfabric", "libfabric.so.1", "libfabric1", otherwise);
    Library found;
    loaded.find("fi_getinfo", found.getinfo);
    loaded.find("fi_freeinfo", found.freeinfo);
    loaded.find("fi_dupinfo", found.dupinfo);
    loaded.find("fi_fabric", found.fabric);
    loaded.find("fi_strerror", found.strerror);
    loaded.find("fi_version", found.version);
    if (found.version() < api_version) {
        throw Error(Status::not_found, "libfabric: version " + version_text(found.version()) +
                                           " was loaded, and Trefoil needs " +
                                           version_text(api_version) +
                                           " or later; name the directory of such a one in "
                                           "LD_LIBRARY_PATH, or " +
                                           otherwise);
    }
    return found;
}

}  // namespace

std::string version_text(std::uint32_t version) {
    return std::to_string(FI_MAJOR(version)) + "." + std::to_string(FI_MINOR(version));
}

const Library& library() {
    static const Library loaded = load();
    return loaded;
}

}  // namespace trefoil::ofi
