// SPDX-License-Identifier: BSD-3-Clause
// An image of a group's (Images) that grows, and is given back in the end.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "backend/ports/powers.hpp"

namespace trefoil {

class ShownImage {
  public:
    ShownImage() = default;
    ~ShownImage() { give_back(); }
    ShownImage(const ShownImage&) = delete;
    ShownImage& operator=(const ShownImage&) = delete;

    /// At least so many bytes, from the group. While no peer reads it. Throws what the group
    /// throws; then there is none.
    void reserve(const std::shared_ptr<PortGroup>& group, std::size_t bytes) {
        if (bytes > bytes_) {
            give_back();
            data_ = group->images()->take_image(bytes);
            bytes_ = bytes;
            group_ = group;
        }
    }
    std::byte* data() const { return data_; }

  private:
    void give_back() noexcept {
        if (group_ != nullptr) {
            std::exchange(group_, nullptr)
                ->images()
                ->give_back_image(std::exchange(data_, nullptr));
            bytes_ = 0;
        }
    }

    std::shared_ptr<PortGroup> group_;
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace trefoil
