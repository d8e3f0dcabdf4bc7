// SPDX-License-Identifier: BSD-3-Clause
// Anonymous pages: zeroed, page-aligned, unmapped on destruction.
#pragma once

#include <cstddef>

namespace trefoil::utofu {

class Pages {
  public:
    /// Throws Error(out_of_memory).
    explicit Pages(std::size_t bytes);
    ~Pages();
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    std::byte* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }
    /// Never unmapped: the network may still write there.
    void leak() { leaked_ = true; }

  private:
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    bool leaked_ = false;
};

}  // namespace trefoil::utofu
