// SPDX-License-Identifier: BSD-3-Clause
// Which communicator this is: a number that its members find without a word to each other. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "topo/torus.hpp"

namespace trefoil {

/// The members of a communicator make the same communicators from it, in the same order. So a new
/// one's number follows from its parent's number, from how it is made, and from how many were made
/// so before, which all members count alike. Only members make a group, so groups are counted by
/// tag and list of members. Each request counts, also one that fails afterwards.
///
/// A number is a hash of 64 bits: among a million communicators two are alike once in 30 million
/// times. Not thread-safe: communicators are made from a parent one at a time.
class Identity {
  public:
    /// Of a first communicator: a number that its ranks have agreed on, best a random one.
    explicit Identity(std::uint64_t agreed);

    /// Never 0.
    std::uint64_t number() const { return number_; }

    Identity dup();
    /// By colour. A rank that takes no part in it calls this too, with any colour.
    Identity split(std::int32_t colour);
    /// `members`: of this rank's row or plane, in the parent's ranks and in the order of their new
    /// ones. Rows that are made by one call have no member in common.
    Identity sub(std::span<const Rank> members);
    /// `members`: in the parent's ranks, in the order of their new ones.
    Identity group(std::int32_t tag, std::span<const Rank> members);

  private:
    enum class Kind : std::uint8_t { dup, split, sub, group };

    Identity child(Kind kind, std::uint64_t which, std::uint64_t before) const;

    std::uint64_t number_;
    std::uint64_t dups_ = 0, splits_ = 0, subs_ = 0;           ///< made so far
    std::unordered_map<std::uint64_t, std::uint64_t> groups_;  ///< made so far, by tag and members
};

}  // namespace trefoil
