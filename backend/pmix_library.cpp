// SPDX-License-Identifier: BSD-3-Clause
// Loading libpmix. Its headers give the types, so that the compiler checks every call.
#include "backend/pmix_library.hpp"

#include <dlfcn.h>

#include "backend/launcher.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace pmix {

namespace {

constexpr const char* file = "libpmix.so.2";

std::string loader_error() {
    const char* text = dlerror();  // NOLINT(concurrency-mt-unsafe): per thread in glibc
    return text == nullptr ? "unknown cause" : text;
}

template <typename Function>
void find(void* handle, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (function == nullptr) {
        throw Error(Status::not_found,
                    "PMIx: " + std::string(file) + " has no " + name + ": " + loader_error());
    }
}

Library load() {
    void* handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        throw Error(Status::not_found,
                    "PMIx: cannot load the library: " + loader_error() +
                        "; install it (Debian: libpmix2), name its directory in LD_LIBRARY_PATH, "
                        "or set TREFOIL_LAUNCHER=single for one rank");
    }
    Library found;
    find(handle, "PMIx_Init", found.init);
    find(handle, "PMIx_Finalize", found.finalize);
    find(handle, "PMIx_Put", found.put);
    find(handle, "PMIx_Commit", found.commit);
    find(handle, "PMIx_Fence_nb", found.fence);
    find(handle, "PMIx_Get_nb", found.get);
    find(handle, "PMIx_Error_string", found.error_string);
    find(handle, "PMIx_Get_version", found.get_version);
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
