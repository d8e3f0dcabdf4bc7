// SPDX-License-Identifier: BSD-3-Clause
// Page-aligned zeroed memory with its registration.
#pragma once

#include <rdma/fi_domain.h>

#include <cstddef>
#include <memory>

#include "backend/ofi/handle.hpp"

namespace trefoil::ofi {

/// Anonymous pages, unmapped on destruction.
class Pages {
  public:
    /// Throws Error(out_of_memory).
    explicit Pages(std::size_t bytes);
    ~Pages();
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    std::byte* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

  private:
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

/// Pages that peers may write into and that puts may read from. The registration ends first.
struct RegisteredMemory {
    std::unique_ptr<Pages> pages;
    Handle<fid_mr> registration;
};

}  // namespace trefoil::ofi
