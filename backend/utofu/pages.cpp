// SPDX-License-Identifier: BSD-3-Clause
// Maps and unmaps anonymous pages.
#include "backend/utofu/pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <string>

#include "topo/error.hpp"

namespace trefoil::utofu {

Pages::Pages(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
    void* const address =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) {
        throw Error(Status::out_of_memory,
                    "no memory for " + std::to_string(bytes) +
                        " bytes that peers put into; use fewer ranks per host or smaller segments");
    }
    data_ = static_cast<std::byte*>(address);
}

Pages::~Pages() {
    if (!leaked_) {
        munmap(data_, bytes_);
    }
}

}  // namespace trefoil::utofu
