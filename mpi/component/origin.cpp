// SPDX-License-Identifier: BSD-3-Clause
// For whom a communicator is made: by the call of the program's in which that happens.
#include <dlfcn.h>
#include <execinfo.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "mpi/component_slots.h"

namespace {

enum class Origin : std::uint8_t { no_call_of_mpi, other, window, file_or_peers };

std::atomic<bool> any_window{false};

/// By the function in which `address` is. Fortran's functions call those of C.
Origin look_up(const void* address) {
    Dl_info info{};
    if (dladdr(address, &info) == 0 || info.dli_sname == nullptr) {
        return Origin::no_call_of_mpi;
    }
    std::string_view function(info.dli_sname);
    if (function.starts_with('P')) {
        function.remove_prefix(1);
    }
    if (!function.starts_with("MPI_")) {
        return Origin::no_call_of_mpi;
    }
    function.remove_prefix(4);
    if (function.starts_with("Win_")) {
        return Origin::window;
    }
    return function.starts_with("File_") || function == "Intercomm_create" ? Origin::file_or_peers
                                                                           : Origin::other;
}

/// A look-up takes longer than all else here, and addresses come again.
Origin origin_of(const void* address) {
    static std::mutex mutex;
    static std::unordered_map<const void*, Origin> known;
    const std::lock_guard lock(mutex);
    const auto [place, is_new] = known.try_emplace(address);
    if (is_new) {
        place->second = look_up(address);
    }
    return place->second;
}

}  // namespace

// The outermost function of MPI's counts: files are made by calls of MPI's, too.
int trefoil_component_is_made_for_mpi() {
    constexpr int most_frames = 64;
    void* frames[most_frames];
    const int count = backtrace(frames, most_frames);
    for (int i = count - 1; i >= 0; --i) {
        const Origin origin = origin_of(frames[i]);
        if (origin != Origin::no_call_of_mpi) {
            if (origin == Origin::window) {
                any_window.store(true, std::memory_order_relaxed);
            }
            return origin != Origin::other ? 1 : 0;
        }
    }
    return 0;
}

int trefoil_component_has_made_windows() {
    return any_window.load(std::memory_order_relaxed) ? 1 : 0;
}
