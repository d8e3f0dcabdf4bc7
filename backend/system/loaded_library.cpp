// SPDX-License-Identifier: BSD-3-Clause
// Loading a shared library, and saying what is missing.
#include "backend/system/loaded_library.hpp"

#include <dlfcn.h>
#include <sched.h>

#include <cerrno>
#include <cstring>

#include "backend/system/kept_handlers.hpp"
#include "topo/descriptor.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

std::string loader_error() {
    const char* text = dlerror();  // NOLINT(concurrency-mt-unsafe): per thread in glibc
    return text == nullptr ? "unknown cause" : text;
}

}  // namespace

LoadedLibrary::LoadedLibrary(std::string name, std::string file, const std::string& package,
                             const std::string& otherwise)
    : name_(std::move(name)), file_(std::move(file)) {
    hold_standard_descriptors();
    const KeptHandlers handlers;
    handle_ = dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) {
        throw Error(Status::not_found, name_ + ": cannot load the library: " + loader_error() +
                                           "; install it (Debian: " + package +
                                           "), name its directory in LD_LIBRARY_PATH, or " +
                                           otherwise);
    }
}

void* LoadedLibrary::address(const char* symbol) const {
    void* const found = dlsym(handle_, symbol);
    if (found == nullptr) {
        throw Error(Status::not_found,
                    name_ + ": " + file_ + " has no " + symbol + ": " + loader_error());
    }
    return found;
}

void require_affinity_to_be_told(const std::string& name, const std::string& otherwise) {
    cpu_set_t cores;
    // EINVAL: there are more cores than fit, which libnuma knows.
    if (sched_getaffinity(0, sizeof cores, &cores) != 0 && errno != EINVAL) {
        throw Error(Status::unsupported,
                    name + ": this process may not ask which cores it has (sched_getaffinity: " +
                        std::strerror(errno) + "), without which libnuma, which " + name +
                        " loads, waits for ever; let it ask, or " + otherwise);
    }
}

}  // namespace trefoil
