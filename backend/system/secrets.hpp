// SPDX-License-Identifier: BSD-3-Clause
// What ranks prove with that they belong to one job: random secrets, and hashes keyed by them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trefoil {

/// Of the system's generator for secrets. Throws Error(system_error).
std::string random_bytes(std::size_t count);
std::uint64_t random_number();

/// 32 bytes: HMAC-SHA-256 (RFC 2104, FIPS 180-4). Who does not know `key` cannot tell it from
/// random bytes, however many others it has seen. For set-up: it is plain, not fast.
using Digest = std::array<std::uint8_t, 32>;
Digest keyed_hash(std::string_view key, std::string_view text);

/// A digest as the bytes of a message.
inline std::string_view bytes_of(const Digest& digest) {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}
/// The first eight bytes as a number.
std::uint64_t number_of(const Digest& digest);

/// Takes as long for a guess that is almost right as for any other of its length.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace trefoil
