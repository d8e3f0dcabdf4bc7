// SPDX-License-Identifier: BSD-3-Clause
// Numbers of communicators, each from its parent's.
#include "comm/derived/identity.hpp"

#include "comm/plan/hash.hpp"

namespace trefoil {

Identity::Identity(std::uint64_t agreed) : number_(agreed == 0 ? 1 : agreed) {}

std::uint64_t Identity::begin_request() {
    return child(Kind::request, 0, ++requests_).number();
}

Identity Identity::dup() const {
    return child(Kind::dup, 0, requests_);
}

Identity Identity::split(std::int32_t colour) const {
    return child(Kind::split, static_cast<std::uint32_t>(colour), requests_);
}

Identity Identity::sub(std::span<const Rank> members) const {
    return child(Kind::sub, static_cast<std::uint32_t>(members.front()), requests_);
}

namespace {

std::uint64_t hash_of(std::uint64_t seed, std::span<const Rank> members) {
    std::uint64_t hash = mix_hash(seed, members.size());
    for (const Rank member : members) {
        hash = mix_hash(hash, static_cast<std::uint32_t>(member));
    }
    return hash;
}

}  // namespace

Identity Identity::shrunk(std::span<const Rank> members) const {
    return child(Kind::shrunk, hash_of(0, members), shrinks_);
}

std::uint64_t Identity::shrink_tag() const {
    return child(Kind::shrink, 0, shrinks_).number();
}

Identity Identity::group(std::int32_t tag, std::span<const Rank> members) {
    const std::uint64_t which = hash_of(static_cast<std::uint32_t>(tag), members);
    return child(Kind::group, which, groups_[which]++);
}

Identity Identity::child(Kind kind, std::uint64_t which, std::uint64_t before) const {
    std::uint64_t h = mix_hash(number_, static_cast<std::uint64_t>(kind));
    h = mix_hash(h, before);
    return Identity(mix_hash(h, which));
}

}  // namespace trefoil
