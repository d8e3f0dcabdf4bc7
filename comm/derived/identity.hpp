// SPDX-License-Identifier: BSD-3-Clause
// Which communicator this is: a number that its members find without a word to each other. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "topo/torus.hpp"

namespace trefoil {

/// The members of a communicator make the same communicators from it, in the same order. So a new
/// one's number follows from its parent's number, from how it is made, and from how many requests
/// of all members there were before, which all of them count alike. Each request counts when it
/// begins, whatever becomes of it: one that times out on some ranks may succeed on others, and
/// ranks that are told that they make different ones have still made one each. Only members make a
/// group, so groups are counted by tag and list of members.
///
/// A number is a hash of 64 bits: among a million communicators two are alike once in 30 million
/// times. Not thread-safe: communicators are made from a parent one at a time.
class Identity {
  public:
    /// Of a first communicator: a number that its ranks have agreed on, best a random one.
    explicit Identity(std::uint64_t agreed);

    /// Never 0.
    std::uint64_t number() const { return number_; }

    /// A request of all members begins: what follows is of this one. Returns a number that no other
    /// request has, alike on all.
    std::uint64_t begin_request();

    Identity dup() const;
    /// By colour.
    Identity split(std::int32_t colour) const;
    /// `members`: of this rank's row or plane, in the parent's ranks and in the order of their new
    /// ones. Rows that are made by one call have no member in common.
    Identity sub(std::span<const Rank> members) const;
    /// `members`: in the parent's ranks, in the order of their new ones. Begins a request of
    /// theirs.
    Identity group(std::int32_t tag, std::span<const Rank> members);
    /// What is left of it. It is counted when it is made (count_shrink), so that a rank which could
    /// not make it the first time takes part in the same one later.
    Identity shrunk(std::span<const Rank> members) const;
    /// No other request has it, nor another shrink.
    std::uint64_t shrink_tag() const;
    void count_shrink() { ++shrinks_; }

  private:
    enum class Kind : std::uint8_t { dup, split, sub, group, request, shrink, shrunk };

    Identity child(Kind kind, std::uint64_t which, std::uint64_t before) const;

    std::uint64_t number_;
    std::uint64_t requests_ = 0;                               ///< begun so far, by all members
    std::uint64_t shrinks_ = 0;                                ///< made so far
    std::unordered_map<std::uint64_t, std::uint64_t> groups_;  ///< the same, by tag and members
};

}  // namespace trefoil
