// SPDX-License-Identifier: BSD-3-Clause
// Asks each library for its version.
#include "backend/registry/libraries.hpp"

#ifdef TREFOIL_HAVE_OFI
#include "backend/ofi/library.hpp"
#endif
#ifdef TREFOIL_HAVE_UCX
#include "backend/ucx/ucx.hpp"
#endif

#include "backend/bootstrap/launcher.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

LibraryInfo libfabric() {
#ifdef TREFOIL_HAVE_OFI
    try {
        return {"libfabric", ofi::version_text(ofi::library().version()), ""};
    } catch (const Error& error) {
        return {"libfabric", "", error.what()};
    }
#else
    return {"libfabric", "", TREFOIL_OFI_REASON};
#endif
}

LibraryInfo ucx() {
#ifdef TREFOIL_HAVE_UCX
    return {"UCX", ucx_version(), ""};
#else
    return {"UCX", "", TREFOIL_UCX_REASON};
#endif
}

LibraryInfo pmix() {
    std::string refusal = pmix_refusal();
    if (!refusal.empty()) {
        return {"PMIx", "", std::move(refusal)};
    }
    return {"PMIx", pmix_version(), "loaded only when its launcher has started the process"};
}

}  // namespace

std::vector<LibraryInfo> libraries() {
    return {libfabric(), ucx(), pmix()};
}

}  // namespace trefoil
