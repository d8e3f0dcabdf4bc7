// SPDX-License-Identifier: BSD-3-Clause
// Allocates through UCX, and asks UCX whether loads and stores reach a peer's memory.
#include "backend/ucx/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "backend/system/room_to_map.hpp"
#include "topo/process_state.hpp"

namespace trefoil::ucx {

namespace {
constexpr std::size_t page = 4096;
constexpr std::size_t large = std::size_t{1} << 20;
/// What UCX takes for itself when it maps memory, generously.
constexpr std::size_t room_besides = std::size_t{1} << 20;

/// As a rule UCX allocates fresh pages, which are zero without being touched; touching those of a
/// landing zone would make the system provide them all. Those that are there may be used ones.
void clear(std::byte* data, std::size_t bytes) {
    std::vector<unsigned char> present((bytes + page - 1) / page, 1);
    if (bytes >= large && mincore(data, bytes, present.data()) != 0) {
        std::fill(present.begin(), present.end(), 1);
    }
    for (std::size_t i = 0; i < present.size(); ++i) {
        if ((present[i] & 1) != 0) {
            std::memset(data + i * page, 0, std::min(page, bytes - i * page));
        }
    }
}
}  // namespace

Memory::Memory(ucp_context_h context, std::size_t bytes) : context_(context), bytes_(bytes) {
    ucp_mem_map_params_t parameters{};
    parameters.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                            UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    parameters.length = bytes + page;  // not every way in which UCX allocates gives whole pages
    parameters.flags = UCP_MEM_MAP_ALLOCATE;
    if (library().mem_map(context, &parameters, &handle_) != UCS_OK) {
        throw Error(
            Status::out_of_memory,
            "UCX has no memory for a landing zone of " + std::to_string(bytes) +
                " bytes; use fewer ranks per host or smaller segments, or enlarge /dev/shm");
    }
    ucp_mem_attr_t attributes{};
    attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
    const ucs_status_t status = library().mem_query(handle_, &attributes);
    if (status != UCS_OK) {
        library().mem_unmap(context_, handle_);
        check(status, "get the address of its memory");
    }
    const auto address = reinterpret_cast<std::uintptr_t>(attributes.address);
    data_ = static_cast<std::byte*>(attributes.address) + (page - address % page) % page;
    clear(data_, bytes);
}

Memory::Memory(ucp_context_h context, void* data, std::size_t bytes)
    : context_(context), data_(static_cast<std::byte*>(data)), bytes_(bytes) {
    ucp_mem_map_params_t parameters{};
    parameters.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
    parameters.address = data;
    parameters.length = bytes;
    check(library().mem_map(context, &parameters, &handle_),
          "register " + std::to_string(bytes) + " bytes of the program (is `ulimit -l` too low?)");
}

Memory::~Memory() {
    library().mem_unmap(context_, handle_);
}

SharedBlob Memory::share() const {
    void* packed = nullptr;
    std::size_t bytes = 0;
    check(library().rkey_pack(context_, handle_, &packed, &bytes), "pack the key of its memory");
    SharedBlob blob;
    blob.base = reinterpret_cast<std::uint64_t>(data_);
    blob.key.assign(static_cast<const char*>(packed), bytes);
    library().rkey_buffer_release(packed);
    return blob;
}

// One that ends after this look is mapped by UCX within microseconds, or crashes it.
void require_owner(const SharedBlob& memory) {
    if (process_state(memory.process, memory.started).ended()) {
        throw Error(Status::peer_lost, "process " + std::to_string(memory.process) +
                                           ", whose memory was to be mapped, has ended");
    }
}

Mapping open_shared(ucp_ep_h peer, const SharedBlob& memory, std::size_t bytes) {
    // UCX 1.13 crashes where it cannot open or map a peer's memory.
    require_room_to_map(bytes + room_besides);
    ucp_rkey_h key = nullptr;
    // As there is room here, an error comes from the peer: it may have ended.
    check(library().ep_rkey_unpack(peer, memory.key.data(), &key), "read a peer's memory key",
          Status::peer_lost);
    Mapping mapping{RemoteKey(key), nullptr};
    void* mapped = nullptr;
    if (library().rkey_ptr(key, memory.base, &mapped) == UCS_OK) {
        mapping.data = static_cast<std::byte*>(mapped);
    }
    return mapping;
}

}  // namespace trefoil::ucx
