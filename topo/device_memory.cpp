// SPDX-License-Identifier: BSD-3-Clause
// Looks runtimes up among the libraries of the process, and asks them about addresses.
#include "topo/device_memory.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>

#include "topo/error.hpp"

namespace trefoil {

namespace {

/// cuPointerGetAttribute, and HIP's function with the same arguments. 0: it has answered.
using PointerQuery = int (*)(void* data, int attribute, std::uintptr_t address);
constexpr int memory_type = 2, is_managed = 8;  // attributes, for both

/// HIP remembers failures for who asks next; host memory is a failure to it.
using LastError = int (*)();

struct Runtime {
    const char* name;
    std::string_view library;  ///< what its file's name begins with, the version follows
    const char* query_name;
    const char* peek_name;  ///< of LastError; null: failures leave no trace
    const char* clear_name;
    int device;  ///< the memory type
    std::atomic<PointerQuery> query{nullptr};
    LastError peek = nullptr, clear = nullptr;
};

// HIP has changed the numbers of the types with its version 6.
std::array<Runtime, 3> runtimes{
    {{"CUDA", "libcuda.so.", "cuPointerGetAttribute", nullptr, nullptr, 2},
     {"HIP", "libamdhip64.so.5", "hipPointerGetAttribute", "hipPeekAtLastError", "hipGetLastError",
      1},
     {"HIP", "libamdhip64.so.", "hipPointerGetAttribute", "hipPeekAtLastError", "hipGetLastError",
      2}}};

template <typename Function>
Function find(void* library, const char* name) {
    return name == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

/// Keeps the library in the process, if its functions are there.
void take(Runtime& runtime, const char* path) {
    void* const library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    const auto query =
        library == nullptr ? nullptr : find<PointerQuery>(library, runtime.query_name);
    if (query == nullptr) {
        return;
    }
    runtime.peek = find<LastError>(library, runtime.peek_name);
    runtime.clear = find<LastError>(library, runtime.clear_name);
    runtime.query.store(query, std::memory_order_release);  // pairs with ask_device_runtimes()
    detail::device_runtime_found.store(true, std::memory_order_release);
}

/// What dl_iterate_phdr() is to do while it holds the loader's lock: look, and no more.
struct Search {
    unsigned long long loads_before = 0, loads = 0;
    std::array<std::string, runtimes.size()> paths;
};

int look_at(dl_phdr_info* library, std::size_t, void* context) {
    auto& search = *static_cast<Search*>(context);
    search.loads = library->dlpi_adds;
    if (search.loads == search.loads_before) {
        return 1;  // nothing has been loaded since
    }
    const std::string_view path = library->dlpi_name;
    const std::string_view file = path.substr(path.rfind('/') + 1);
    for (std::size_t i = 0; i < runtimes.size(); ++i) {
        if (file.starts_with(runtimes[i].library)) {
            search.paths[i] = path;
            break;
        }
    }
    return 0;
}

bool is_device(const Runtime& runtime, PointerQuery query, const void* address) {
    const auto number = reinterpret_cast<std::uintptr_t>(address);
    const bool clean = runtime.peek == nullptr || runtime.peek() == 0;
    int type = 0, managed = 0;
    if (query(&type, memory_type, number) != 0) {
        if (runtime.clear != nullptr && clean) {
            runtime.clear();
        }
        return false;
    }
    return type == runtime.device && (query(&managed, is_managed, number) != 0 || managed == 0);
}

}  // namespace

void look_for_device_runtimes() {
    static std::mutex mutex;
    static unsigned long long loads = 0;
    const std::lock_guard lock(mutex);
    Search search{loads, loads, {}};
    dl_iterate_phdr(look_at, &search);
    loads = search.loads;
    for (std::size_t i = 0; i < runtimes.size(); ++i) {
        if (!search.paths[i].empty() &&
            runtimes[i].query.load(std::memory_order_relaxed) == nullptr) {
            take(runtimes[i], search.paths[i].c_str());
        }
    }
}

const char* detail::ask_device_runtimes(const void* address) {
    for (const Runtime& runtime : runtimes) {
        const PointerQuery query = runtime.query.load(std::memory_order_acquire);
        if (query != nullptr && is_device(runtime, query, address)) {
            return runtime.name;
        }
    }
    return nullptr;
}

void detail::refuse_device_memory(const void* address, const char* what, const char* runtime) {
    std::ostringstream text;
    text << "the " << what << " at " << address << " is a device's memory, says " << runtime
         << "; Trefoil reads and writes the host's alone: copy it there, or use managed memory";
    throw Error(Status::unsupported, text.str());
}

}  // namespace trefoil
