// SPDX-License-Identifier: BSD-3-Clause
// Making room to gather messages in.
#include "threads/executor/staging.hpp"

#include <algorithm>

namespace trefoil {

void Staging::reserve(const std::vector<std::unique_ptr<PortGroup>>& groups,
                      const std::vector<std::size_t>& bytes) {
    buffers_.resize(groups.size());
    unregistered_.resize(groups.size());
    for (std::size_t g = 0; g < bytes.size(); ++g) {
        if (buffers_[g].bytes >= bytes[g]) {
            continue;
        }
        // Doubling keeps what outgrown registered buffers hold below twice the largest.
        const std::size_t wanted = std::max(bytes[g], 2 * buffers_[g].bytes);
        if (groups[g]->needs_registered_source()) {
            buffers_[g] = groups[g]->allocate(wanted);
        } else {
            unregistered_[g].resize(wanted);
            buffers_[g] = {unregistered_[g].data(), wanted, nullptr};
        }
    }
}

std::size_t Staging::bytes() const {
    std::size_t sum = 0;
    for (const LocalMemory& buffer : buffers_) {
        sum += buffer.bytes;
    }
    return sum;
}

}  // namespace trefoil
