// SPDX-License-Identifier: BSD-3-Clause
// How large the programs are that may run: what room they need.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "threads/executor/program.hpp"

namespace trefoil {

/// The largest of each, over several programs.
struct ProgramSizes {
    std::size_t steps = 0, parts = 0, arrivals = 0, spaces = 0, told = 0;
    std::size_t scratch_bytes = 0, image_bytes = 0;
    std::size_t channels_in = 0, channels_out = 0;
    std::size_t acknowledged_in = 0;      ///< incoming channels of a program that is acknowledged
    std::vector<std::size_t> pack_bytes;  ///< per group

    void include(const Program& program, std::size_t in, std::size_t out) {
        steps = std::max(steps, program.steps.size());
        parts = std::max(parts, program.parts.size());
        arrivals = std::max(arrivals, program.arrival_steps.size());
        spaces = std::max<std::size_t>(spaces, program.spaces());
        told = std::max(told, program.told.size());
        std::size_t& scratch = program.shows_image ? image_bytes : scratch_bytes;
        scratch = std::max(scratch, program.scratch_bytes);
        channels_in = std::max(channels_in, in);
        acknowledged_in =
            std::max(acknowledged_in, program.acknowledged ? program.used_in.size() : 0);
        channels_out = std::max(channels_out, out);
        pack_bytes.resize(std::max(pack_bytes.size(), program.pack_bytes.size()));
        for (std::size_t g = 0; g < program.pack_bytes.size(); ++g) {
            pack_bytes[g] = std::max(pack_bytes[g], program.pack_bytes[g]);
        }
    }
    std::size_t pack_bytes_of(std::size_t group) const {
        return group < pack_bytes.size() ? pack_bytes[group] : 0;
    }
};

/// What room the programs of an executor need. Programs are added while calls run; whoever makes
/// room does so when it is next idle, so that nothing moves under those who use it.
///
/// Thread-safe.
class RoomNeeded {
  public:
    /// Throws bad_alloc.
    void include(const Program& program, std::size_t channels_in, std::size_t channels_out) {
        const std::lock_guard lock(mutex_);
        sizes_.include(program, channels_in, channels_out);
        version_.fetch_add(1, std::memory_order_relaxed);
    }
    /// Who has made room for this version need not do so again. Relaxed: the mutex orders the
    /// sizes, and who brings a call knows the version of its program.
    std::uint64_t version() const { return version_.load(std::memory_order_relaxed); }
    /// Calls make(sizes) unless `made` is the present version, which it becomes. Throws what that
    /// throws.
    template <typename Make>
    void make_room(std::uint64_t& made, Make&& make) {
        if (made == version()) {
            return;
        }
        const std::lock_guard lock(mutex_);
        make(sizes_);
        made = version_.load(std::memory_order_relaxed);
    }

  private:
    std::mutex mutex_;
    ProgramSizes sizes_;
    std::atomic<std::uint64_t> version_{0};
};

}  // namespace trefoil
