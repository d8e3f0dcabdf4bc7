// SPDX-License-Identifier: BSD-3-Clause
// Room in which outgoing messages are gathered before they are put.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "backend/ports/port_group.hpp"

namespace trefoil {

/// A buffer per port group, registered with the group where it wants that. Each is used by the
/// group's owner.
class Staging {
  public:
    /// Room for what reserve() gets, for so many groups.
    void resize(std::size_t groups);
    /// At least so many bytes, from the group. By its owner, while nothing is under way. Throws
    /// what the group throws.
    void reserve(std::size_t number, PortGroup& group, std::size_t bytes);
    const LocalMemory& of(int group) const { return buffers_[group]; }
    std::size_t bytes() const;

  private:
    std::vector<LocalMemory> buffers_;
    std::vector<std::vector<std::byte>> unregistered_;  ///< what holds those of `buffers_`
};

}  // namespace trefoil
