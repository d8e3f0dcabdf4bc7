// SPDX-License-Identifier: BSD-3-Clause
// What ranks tell each other about memory and virtual control queues, as bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trefoil::utofu {

/// Memory as the peers' puts name it. A put through the port that is opposite to `port` uses the
/// stadd of `port`: registrations belong to one virtual control queue each.
struct MemoryBlob {
    struct PortAddress {
        std::int32_t port = 0;
        std::uint64_t stadd = 0;
    };
    std::uint64_t bytes = 0;
    std::uint64_t registration = 0;  ///< of the user's memory, else 0
    std::vector<PortAddress> ports;
};

struct AddressBlob {
    std::uint64_t queue = 0;    ///< its vcq_id
    std::uint64_t control = 0;  ///< stadd of its control block
    std::int32_t port = 0;
    std::uint32_t streams = 0;  ///< peers that it serves at most
    std::uint32_t window = 0;   ///< units that each of them may have under way
};

std::string encode(const MemoryBlob& memory);
std::string encode(const AddressBlob& address);
/// Both throw Error(invalid_argument) when the bytes are not of this kind.
MemoryBlob decode_memory(std::string_view bytes);
AddressBlob decode_address(std::string_view bytes);

}  // namespace trefoil::utofu
