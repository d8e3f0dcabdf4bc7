// SPDX-License-Identifier: BSD-3-Clause
// Maps and unmaps anonymous pages.
#include "backend/ofi/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <string>

namespace trefoil::ofi {

Pages::Pages(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
    void* address =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) {
        throw Error(Status::out_of_memory,
                    "no memory for a landing zone of " + std::to_string(bytes) +
                        " bytes; use fewer ranks per host or smaller segments");
    }
    data_ = static_cast<std::byte*>(address);
}

Pages::~Pages() {
    munmap(data_, bytes_);
}

}  // namespace trefoil::ofi
