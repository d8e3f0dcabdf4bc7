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

// The raw address may hold any byte, so its length goes before it.
std::string encode(const AddressBlob& address) {
    return std::string(address_magic) + address.provider + '\0' +
           std::to_string(address.raw.size()) + '\0' + address.raw;
}

MemoryBlob decode_memory(std::string_view bytes) {
    MemoryBlob memory;
    if (bytes.size() != memory_magic.size() + sizeof memory || !bytes.starts_with(memory_magic)) {
        refuse("a description of memory", bytes);
    }
    std::memcpy(&memory, bytes.data() + memory_magic.size(), sizeof memory);
    return memory;
}

AddressBlob decode_address(std::string_view bytes) {
    if (!bytes.starts_with(address_magic)) {
        refuse("an endpoint's address", bytes);
    }
    const std::string_view body = bytes.substr(address_magic.size());
    const std::size_t first = body.find('\0');
    const std::size_t second = first == std::string_view::npos ? first : body.find('\0', first + 1);
    if (second == std::string_view::npos) {
        refuse("an endpoint's address", bytes);
    }
    const std::string_view length = body.substr(first + 1, second - first - 1);
    const std::string_view raw = body.substr(second + 1);
    if (first == 0 || raw.empty() || length != std::to_string(raw.size())) {
        refuse("an endpoint's address", bytes);
    }
    return {std::string(body.substr(0, first)), std::string(raw)};
}

}  // namespace trefoil::ofi
