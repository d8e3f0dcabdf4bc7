// SPDX-License-Identifier: BSD-3-Clause
// Memory that UCX allocates, so that peers may be able to map it; and memory of the user's.
#pragma once

#include <cstddef>

#include "backend/ucx/blob.hpp"
#include "backend/ucx/handle.hpp"

namespace trefoil::ucx {

/// Zeroed and page-aligned; freed on destruction. The context must outlive it.
class Memory {
  public:
    /// Throws Error(out_of_memory).
    Memory(ucp_context_h context, std::size_t bytes);
    /// Registers what is there; it is left as it is, also on destruction. Throws Error.
    Memory(ucp_context_h context, void* data, std::size_t bytes);
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    std::byte* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }
    /// What open_shared() needs, but for host, process and worker.
    SharedBlob share() const;

  private:
    ucp_context_h context_;
    ucp_mem_h handle_ = nullptr;
    std::byte* data_ = nullptr;
    std::size_t bytes_;
};

/// A peer's memory in our address space.
struct Mapping {
    RemoteKey key;              ///< the mapping lasts as long as this
    std::byte* data = nullptr;  ///< null: it can be reached by messages only
};
/// Throws Error(peer_lost) where the process that the memory belongs to has ended. UCX 1.13 opens
/// it through that process's descriptors, and crashes where they are gone.
void require_owner(const SharedBlob& memory);
/// `bytes` of it. Throws Error where this process has no descriptor or address space for it.
Mapping open_shared(ucp_ep_h peer, const SharedBlob& memory, std::size_t bytes);

}  // namespace trefoil::ucx
