// SPDX-License-Identifier: BSD-3-Clause
// For whom a communicator is made: by the call of the program's in which that happens.
#include <dlfcn.h>
#include <execinfo.h>

#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>

#include "mpi/component_slots.h"

namespace {

enum class Frame : std::uint8_t { other, call, call_of_window_or_file, progress, making };

/// By the function in which `address` is. Fortran's functions call those of C.
Frame look_up(const void* address) {
    Dl_info info{};
    if (dladdr(address, &info) == 0 || info.dli_sname == nullptr) {
        return Frame::other;
    }
    std::string_view function(info.dli_sname);
    if (function == "opal_progress") {
        return Frame::progress;
    }
    if (function == "ompi_comm_activate") {
        return Frame::making;
    }
    if (function.starts_with('P')) {
        function.remove_prefix(1);
    }
    if (!function.starts_with("MPI_")) {
        return Frame::other;
    }
    function.remove_prefix(4);
    const bool is_of_window_or_file = function.starts_with("Win_") || function.starts_with("File_");
    return is_of_window_or_file ? Frame::call_of_window_or_file : Frame::call;
}

/// A look-up takes longer than all else here, and addresses come again.
Frame frame_of(const void* address) {
    static std::mutex mutex;
    static std::unordered_map<const void*, Frame> known;
    const std::lock_guard lock(mutex);
    const auto [place, is_new] = known.try_emplace(address);
    if (is_new) {
        place->second = look_up(address);
    }
    return place->second;
}

/// Of the outermost function of MPI's, since files are made by calls of MPI's, too. What a copy
/// that is under way (MPI_Comm_idup) needs may come to be done in any call that waits. So a wait is
/// to be that of making a communicator.
Frame call_in(std::span<void* const> frames) {
    Frame call = Frame::other, outer = Frame::other;
    while (!frames.empty()) {  // from the outermost one
        const Frame frame = frame_of(frames.back());
        frames = frames.first(frames.size() - 1);
        if (call == Frame::other && frame != Frame::progress && frame != Frame::making) {
            call = frame;
        } else if (frame == Frame::progress && outer != Frame::making) {
            return Frame::other;
        }
        if (frame != Frame::other) {  // Open MPI 5 waits in a function that has no name
            outer = frame;
        }
    }
    return call;
}

}  // namespace

int trefoil_component_is_made_for_mpi() {
    constexpr int most_frames = 64;
    void* frames[most_frames];
    const int count = backtrace(frames, most_frames);
    const auto seen = std::span(frames).first(static_cast<std::size_t>(count));
    return call_in(seen) == Frame::call_of_window_or_file ? 1 : 0;
}
