// SPDX-License-Identifier: BSD-3-Clause
// Packs and unpacks the start-up blobs, and refuses what is not one: UCX trusts what it is given.
#include "backend/ucx/blob.hpp"

#include <cstring>

#include "topo/error.hpp"

namespace trefoil::ucx {

namespace {

// The digit is the layout's version.
constexpr std::string_view memory_magic = "ucxmem5:";
constexpr std::string_view address_magic = "ucxadr5:";

void append(std::string& blob, std::uint64_t number) {
    blob.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void append(std::string& blob, std::string_view text) {
    append(blob, text.size());
    blob.append(text);
}

void append(std::string& blob, const SharedBlob& shared) {
    append(blob, shared.minor);
    append(blob, shared.process_space);
    append(blob, static_cast<std::uint64_t>(shared.process));
    append(blob, shared.started);
    append(blob, shared.base);
    append(blob, shared.key);
    append(blob, shared.worker);
}

/// Reads numbers and texts in the order of writing.
class Reader {
  public:
    Reader(std::string_view bytes, std::string_view magic, std::string_view what)
        : all_(bytes), rest_(bytes), what_(what) {
        if (!bytes.starts_with(magic)) {
            refuse();
        }
        rest_.remove_prefix(magic.size());
    }

    std::uint64_t number() {
        std::uint64_t value = 0;
        const std::string_view bytes = take(sizeof value);
        std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }
    std::string text() { return std::string(take(number())); }
    SharedBlob shared() {
        SharedBlob blob;
        blob.minor = number();
        blob.process_space = text();
        blob.process = static_cast<std::int32_t>(number());
        blob.started = number();
        blob.base = number();
        blob.key = text();
        blob.worker = text();
        return blob;
    }
    void end() const {
        if (!rest_.empty()) {
            refuse();
        }
    }

  private:
    std::string_view take(std::uint64_t bytes) {
        if (bytes > rest_.size()) {
            refuse();
        }
        const std::string_view taken = rest_.substr(0, bytes);
        rest_.remove_prefix(bytes);
        return taken;
    }

    [[noreturn]] void refuse() const {
        throw Error(Status::invalid_argument,
                    "these " + std::to_string(all_.size()) + " bytes are not " +
                        std::string(what_) +
                        " of backend ucx; do all ranks use the same backend and Trefoil version?");
    }

    std::string_view all_;
    std::string_view rest_;
    std::string_view what_;
};

}  // namespace

std::string encode(const MemoryBlob& memory) {
    std::string blob(memory_magic);
    append(blob, memory.id);
    append(blob, memory.bytes);
    append(blob, memory.shared);
    return blob;
}

std::string encode(const AddressBlob& address) {
    std::string blob(address_magic);
    append(blob, address.queue);
    // Nearly always the same worker: say it once.
    append(blob, address.worker == address.queue.worker ? std::string_view() : address.worker);
    return blob;
}

MemoryBlob decode_memory(std::string_view bytes) {
    Reader reader(bytes, memory_magic, "a description of memory");
    MemoryBlob memory;
    memory.id = reader.number();
    memory.bytes = reader.number();
    memory.shared = reader.shared();
    reader.end();
    return memory;
}

AddressBlob decode_address(std::string_view bytes) {
    Reader reader(bytes, address_magic, "a port's address");
    AddressBlob address;
    address.queue = reader.shared();
    address.worker = reader.text();
    reader.end();
    if (address.worker.empty()) {
        address.worker = address.queue.worker;
    }
    return address;
}

}  // namespace trefoil::ucx
