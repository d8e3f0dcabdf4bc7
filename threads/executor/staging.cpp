// SPDX-License-Identifier: BSD-3-Clause
// Making room to gather messages in.
#include "threads/executor/staging.hpp"

#include <algorithm>

namespace trefoil {

void Staging::resize(std::size_t groups) {
    buffers_.resize(groups);
    unregistered_.resize(groups);
}

void Staging::reserve(std::size_t number, PortGroup& group, std::size_t bytes) {
    LocalMemory& buffer = buffers_[number];
    if (buffer.bytes >= bytes) {
        return;
    }
    // Doubling keeps what outgrown registered buffers hold below twice the largest.
    const std::size_t wanted = std::max(bytes, 2 * buffer.bytes);
    if (group.traits().needs_registered_source) {
        buffer = group.allocate(wanted);
    } else {
        unregistered_[number].resize(wanted);
        buffer = {unregistered_[number].data(), wanted, nullptr};
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
