// SPDX-License-Identifier: BSD-3-Clause
// What ranks tell each other at start-up about memory and workers, as bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trefoil::ucx {

/// How a peer of the same host may map a piece of memory; empty: not at all.
struct SharedBlob {
    std::uint64_t minor = 0;  ///< of the owner's UCX 1.minor; there unless it is registered memory
    std::string process_space;  ///< where the number of the owner's process is known
    std::int32_t process = 0;   ///< that number
    std::uint64_t started = 0;  ///< when it began: numbers are used again; 0: not known
    std::uint64_t base = 0;     ///< the owner's address of the first byte
    std::string key;            ///< as ucp_rkey_pack gave it
    std::string worker;         ///< address of the worker that the key belongs to
};

struct MemoryBlob {
    std::uint64_t id = 0;  ///< the owner's number for it: active messages name it
    std::uint64_t bytes = 0;
    SharedBlob shared;
};

struct AddressBlob {
    std::string worker;  ///< takes the port's messages
    SharedBlob queue;    ///< the notification queue of the group
};

std::string encode(const MemoryBlob& memory);
std::string encode(const AddressBlob& address);
/// Both throw Error(invalid_argument) when the bytes are not of this kind.
MemoryBlob decode_memory(std::string_view bytes);
AddressBlob decode_address(std::string_view bytes);

}  // namespace trefoil::ucx
