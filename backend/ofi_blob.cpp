// SPDX-License-Identifier: BSD-3-Clause
// Packs and unpacks the start-up blobs, and refuses what is not one.
#include "backend/ofi_blob.hpp"

#include <cstring>

#include "topo/error.hpp"

namespace trefoil::ofi {

namespace {

// The digit is the layout's version.
constexpr std::string_view memory_magic = "ofimem1:";
constexpr std::string_view address_magic = "ofiadr1:";

[[noreturn]] void refuse(const std::string& what, std::string_view bytes) {
    throw Error(Status::invalid_argument,
                "these " + std::to_string(bytes.size()) + " bytes are not " + what +
                    " of backend ofi; do all ranks use the same backend and Trefoil version?");
}

}  // namespace

std::string encode(const MemoryBlob& memory) {
    std::string bytes(memory_magic);
    bytes.append(reinterpret_cast<const char*>(&memory), sizeof memory);
    return bytes;
}

std::string encode(const AddressBlob& address) {
    return std::string(address_magic) + address.provider + '\0' + address.raw;
}

MemoryBlob decode_memory(std::string_view bytes) {
    MemoryBlob memory;
    if (bytes.size() != memory_magic.size() + sizeof memory ||
        bytes.substr(0, memory_magic.size()) != memory_magic) {
        refuse("a description of memory", bytes);
    }
    std::memcpy(&memory, bytes.data() + memory_magic.size(), sizeof memory);
    return memory;
}

AddressBlob decode_address(std::string_view bytes) {
    if (bytes.substr(0, address_magic.size()) != address_magic) {
        refuse("an endpoint's address", bytes);
    }
    const std::string_view body = bytes.substr(address_magic.size());
    const std::size_t end = body.find('\0');
    if (end == 0 || end == std::string_view::npos || end + 1 == body.size()) {
        refuse("an endpoint's address", bytes);
    }
    return {std::string(body.substr(0, end)), std::string(body.substr(end + 1))};
}

}  // namespace trefoil::ofi
