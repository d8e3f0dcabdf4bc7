// SPDX-License-Identifier: BSD-3-Clause
// TREFOIL_MPI: which collectives of which sizes Trefoil runs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/collective_kind.hpp"
#include "topo/sizes.hpp"

namespace trefoil::mpi {

class Switches {
  public:
    /// "on", "off", "allreduce,bcast:1Ki-4Mi" or "^barrier,allreduce:-64". Throws
    /// std::invalid_argument that says what is wrong and what is possible.
    explicit Switches(std::string_view text = "on");

    bool on(Kind kind) const { return !of(kind).taken.empty(); }
    /// For a kind whose size is not shared `bytes` does not matter.
    bool on(Kind kind, std::size_t bytes) const {
        const auto contains = [bytes](const SizeRange& range) { return range.contains(bytes); };
        return std::ranges::any_of(of(kind).taken, contains) &&
               std::ranges::none_of(of(kind).left, contains);
    }

  private:
    struct Sizes {
        std::vector<SizeRange> taken, left;
    };
    const Sizes& of(Kind kind) const { return sizes_[index(kind)]; }
    void take_all();
    void add(std::string_view item, bool negated);

    std::array<Sizes, kinds> sizes_;
};

}  // namespace trefoil::mpi
