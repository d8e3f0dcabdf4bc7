// SPDX-License-Identifier: BSD-3-Clause
// CRC-32C of bytes: finds what a faulty link, NIC or memory changes on the way.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trefoil {

/// CRC-32C (polynomial 0x1EDC6F41, reflected, initial and final value inverted), as iSCSI has it
/// (RFC 3720). The same on every processor; uses its instruction where there is one. Finds every
/// error of up to 32 neighbouring bits. `before`: that of the bytes which come before these, so
/// that bytes in several places can be summed one after the other. Thread-safe.
std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t before = 0) noexcept;

/// The same without special instructions: what the other is tested against.
std::uint32_t crc32c_by_table(const void* data, std::size_t bytes,
                              std::uint32_t before = 0) noexcept;

}  // namespace trefoil
