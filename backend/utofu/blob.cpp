// SPDX-License-Identifier: BSD-3-Clause
// A mark in front tells what a blob is; its length must fit exactly.
#include "backend/utofu/blob.hpp"

#include "topo/blob.hpp"

namespace trefoil::utofu {

namespace {

constexpr std::uint64_t memory_mark = 0x6d656d5f75666f74;
constexpr std::uint64_t address_mark = 0x6372716375666f74;
constexpr std::uint32_t most_ports = 1024;

[[noreturn]] void refuse_blob(const char* what) {
    throw Error(Status::invalid_argument,
                std::string("these bytes do not describe ") + what +
                    " of backend utofu; do all ranks run the same backend and version of Trefoil?");
}

/// `read` takes a BlobReader behind the mark, and must use it up.
template <typename Read>
void read_blob(std::string_view bytes, std::uint64_t mark, const char* what, Read&& read) {
    try {
        BlobReader blob(bytes);
        if (blob.number<std::uint64_t>() == mark && read(blob) && blob.empty()) {
            return;
        }
    } catch (const Error&) {  // too short
    }
    refuse_blob(what);
}

}  // namespace

std::string encode(const MemoryBlob& memory) {
    BlobWriter blob;
    blob.number(memory_mark);
    blob.number(memory.bytes);
    blob.number(memory.registration);
    blob.number(static_cast<std::uint32_t>(memory.ports.size()));
    for (const MemoryBlob::PortAddress& each : memory.ports) {
        blob.number(each.port);
        blob.number(each.stadd);
    }
    return blob.bytes();
}

std::string encode(const AddressBlob& address) {
    BlobWriter blob;
    blob.number(address_mark);
    blob.number(address.queue);
    blob.number(address.control);
    blob.number(address.port);
    blob.number(address.streams);
    blob.number(address.window);
    return blob.bytes();
}

MemoryBlob decode_memory(std::string_view bytes) {
    MemoryBlob memory;
    read_blob(bytes, memory_mark, "memory", [&](BlobReader& blob) {
        memory.bytes = blob.number<std::uint64_t>();
        memory.registration = blob.number<std::uint64_t>();
        const auto ports = blob.number<std::uint32_t>();
        for (std::uint32_t i = 0; i < ports && ports <= most_ports; ++i) {
            MemoryBlob::PortAddress each;
            each.port = blob.number<std::int32_t>();
            each.stadd = blob.number<std::uint64_t>();
            if (each.port < 0 || each.port >= static_cast<std::int32_t>(most_ports)) {
                return false;
            }
            memory.ports.push_back(each);
        }
        return !memory.ports.empty();
    });
    return memory;
}

AddressBlob decode_address(std::string_view bytes) {
    AddressBlob address;
    read_blob(bytes, address_mark, "a port", [&](BlobReader& blob) {
        address.queue = blob.number<std::uint64_t>();
        address.control = blob.number<std::uint64_t>();
        address.port = blob.number<std::int32_t>();
        address.streams = blob.number<std::uint32_t>();
        address.window = blob.number<std::uint32_t>();
        return address.port >= 0 && address.port < static_cast<std::int32_t>(most_ports) &&
               address.window >= 2 && address.window <= 64 &&
               (address.window & (address.window - 1)) == 0;
    });
    return address;
}

}  // namespace trefoil::utofu
