// SPDX-License-Identifier: BSD-3-Clause
// Packs and unpacks the start-up blobs, and refuses what is not one.
#include "backend/ofi/blob.hpp"

#include <charconv>
#include <cstring>
#include <optional>

#include "topo/error.hpp"

namespace trefoil::ofi {

namespace {

// The digit is the layout's version.
constexpr std::string_view memory_magic = "ofimem1:";
constexpr std::string_view address_magic = "ofiadr2:";
constexpr char separator = '\0';

// The text up to the separator, which is taken away, too.
std::optional<std::string_view> take_field(std::string_view& text) {
    const std::size_t end = text.find(separator);
    if (end == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view field = text.substr(0, end);
    text.remove_prefix(end + 1);
    return field;
}

bool read_number(std::string_view text, std::uint32_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

[[noreturn]] void refuse(std::string_view what, std::string_view bytes) {
    throw Error(Status::invalid_argument,
                "these " + std::to_string(bytes.size()) + " bytes are not " + std::string(what) +
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
    std::string bytes(address_magic);
    bytes += address.provider + separator + address.library + separator +
             std::to_string(address.format) + separator;
    return bytes + std::to_string(address.raw.size()) + separator + address.raw;
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
    constexpr std::string_view what = "an endpoint's address";
    if (!bytes.starts_with(address_magic)) {
        refuse(what, bytes);
    }
    std::string_view rest = bytes.substr(address_magic.size());
    const auto provider = take_field(rest);
    const auto library = take_field(rest);
    const auto format = take_field(rest);
    const auto length = take_field(rest);
    AddressBlob address;
    if (!provider || provider->empty() || !library || library->empty() || !format || !length ||
        rest.empty() || *length != std::to_string(rest.size()) ||
        !read_number(*format, address.format)) {
        refuse(what, bytes);
    }
    address.provider = *provider;
    address.library = *library;
    address.raw = rest;
    return address;
}

}  // namespace trefoil::ofi
