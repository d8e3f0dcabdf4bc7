// SPDX-License-Identifier: BSD-3-Clause
// Memory for elements of any type, which grows and is not touched before its user does so.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace trefoil {

/// Where elements lie that are nobody's vector. Nothing is written here, so what is not in use yet
/// takes address space, and no pages.
class AlignedBytes {
  public:
    /// Elements of the user's may be read by instructions that want it.
    static constexpr std::size_t alignment = 64;

    /// At least so many. What was there is lost if it has to grow. Throws bad_alloc, and then there
    /// are none.
    void reserve(std::size_t bytes) {
        if (bytes > bytes_) {
            bytes_ = 0;
            memory_.reset();
            memory_.reset(
                static_cast<std::byte*>(::operator new (bytes, std::align_val_t{alignment})));
            bytes_ = bytes;
        }
    }
    std::byte* data() const noexcept { return memory_.get(); }

  private:
    struct Delete {
        void operator()(std::byte* memory) const noexcept {
            ::operator delete (memory, std::align_val_t{alignment});
        }
    };
    std::unique_ptr<std::byte, Delete> memory_;
    std::size_t bytes_ = 0;
};

}  // namespace trefoil
