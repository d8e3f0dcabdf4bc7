// SPDX-License-Identifier: BSD-3-Clause
// Loading libpmix. Its headers give the types, so that the compiler checks every call.
#include "backend/bootstrap/pmix_library.hpp"

#include "backend/bootstrap/launcher.hpp"
#include "backend/system/loaded_library.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace pmix {

namespace {

Library load() {
    const LoadedLibrary loaded("PMIx", "libpmix.so.2", "libpmix2",
                               "set TREFOIL_LAUNCHER=single for one rank");
    Library found;
    loaded.find("PMIx_Init", found.init);
    loaded.find("PMIx_Finalize", found.finalize);
    loaded.find("PMIx_Put", found.put);
    loaded.find("PMIx_Commit", found.commit);
    loaded.find("PMIx_Fence_nb", found.fence);
    loaded.find("PMIx_Get_nb", found.get);
    loaded.find("PMIx_Error_string", found.error_string);
    loaded.find("PMIx_Get_version", found.get_version);
    return found;
}

}  // namespace

const Library& library() {
    static const Library loaded = load();
    return loaded;
}

}  // namespace pmix

std::string pmix_version() {
    const std::string text = pmix::library().get_version();  // "OpenPMIx 4.2.2 (PMIx Standard: ..."
    return text.substr(0, text.find(" ("));
}

std::string pmix_refusal() {
    try {
        pmix::library();
        return {};
    } catch (const Error& error) {
        return error.what();
    }
}

}  // namespace trefoil
