// SPDX-License-Identifier: BSD-3-Clause
// What ranks tell each other at start-up about memory and endpoints, as bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trefoil::ofi {

struct MemoryBlob {
    std::uint64_t base = 0;  ///< address, or 0 where the transport counts offsets
    std::uint64_t key = 0;
    std::uint64_t bytes = 0;
};

struct AddressBlob {
    std::string provider;      ///< so that ranks with different providers find out at once,
    std::string library;       ///< libfabric's version, major and minor,
    std::uint32_t format = 0;  ///< and those with different kinds of address: libfabric trusts us
    std::string raw;           ///< as fi_getname gave it
};

std::string encode(const MemoryBlob& memory);
std::string encode(const AddressBlob& address);
/// Both throw Error(invalid_argument) when the bytes are not of this kind.
MemoryBlob decode_memory(std::string_view bytes);
AddressBlob decode_address(std::string_view bytes);

}  // namespace trefoil::ofi
