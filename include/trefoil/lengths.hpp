// SPDX-License-Identifier: BSD-3-Clause
// Lengths of the buffers that the C++ wrapper is given; those that do not fit are refused.
#pragma once

#include <trefoil/elements.hpp>
#include <trefoil/errors.hpp>

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <span>
#include <string>

namespace trefoil {

using Counts = std::span<const std::size_t>;  ///< numbers of elements, one for each block

/// The lengths of one call's buffers.
class Lengths {
  public:
    /// `blocks`: a rank has as many, one for each rank or for each neighbour.
    Lengths(const char* call, int blocks)
        : call_(call), blocks_(static_cast<std::size_t>(blocks)) {}

    /// Throws unless a buffer of `given` elements is one of `needed`.
    void equal(std::size_t given, std::size_t needed) const {
        if (given != needed) {
            refuse(given, std::to_string(needed));
        }
    }
    template <typename B>
    void equal(const B& buffer, std::size_t needed) const {
        if constexpr (!IsInPlace<B>) {
            equal(std::ranges::size(buffer), needed);
        }
    }

    /// Throws unless `all` is that many blocks; returns the block's length.
    template <typename B>
    std::size_t block_of(const B& all) const {
        const std::size_t given = std::ranges::size(all);
        if (given % blocks_ != 0) {
            refuse(given, "a multiple of " + std::to_string(blocks_));
        }
        return given / blocks_;
    }
    /// The length of a rank's own block, which is `mine`, or lies in `all`.
    template <typename Mine, typename All>
    std::size_t own_block(const Mine& mine, const All& all) const {
        if constexpr (IsInPlace<Mine>) {
            return block_of(all);
        } else {
            return std::ranges::size(mine);
        }
    }
    std::size_t of_all(std::size_t block) const { return block * blocks_; }

    /// Throws unless blocks of these lengths lie in a buffer of `given` elements: side by side they
    /// fill it; at `displacements` there is room for them.
    void room(std::size_t given, Counts counts, Counts displacements) const {
        equal(counts.size(), blocks_);
        if (!displacements.empty()) {
            equal(displacements.size(), blocks_);
        }
        std::size_t end = 0;
        for (std::size_t r = 0; r < blocks_; ++r) {
            const bool listed = !displacements.empty() && counts[r] > 0;
            end = listed ? std::max(end, displacements[r] + counts[r])
                         : end + (displacements.empty() ? counts[r] : 0);
        }
        if (displacements.empty() ? given != end : given < end) {
            refuse(given, std::to_string(end));
        }
    }

  private:
    [[noreturn]] void refuse(std::size_t given, const std::string& needed) const {
        throw CallFailed(TREFOIL_ERROR_INVALID_ARGUMENT,
                         std::string(call_) + ": the spans do not fit: one has " +
                             std::to_string(given) + " elements, but needs " + needed);
    }

    const char* call_;
    std::size_t blocks_;
};

}  // namespace trefoil
