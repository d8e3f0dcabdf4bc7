// SPDX-License-Identifier: BSD-3-Clause
// Where letters to peers are posted.
#pragma once

#include <cstdint>
#include <string_view>

#include "topo/torus.hpp"

namespace trefoil {

/// Of one port group; by its owner.
class LetterBox {
  public:
    virtual ~LetterBox() = default;
    /// To `to` (as the cards number ranks) through the own port. `only_if_idle`: not where earlier
    /// words wait for the peer still. False: it was not taken, or the peer cannot be reached.
    virtual bool letter(Rank to, Port own, std::uint64_t tag, std::string_view text,
                        bool only_if_idle) noexcept = 0;
};

}  // namespace trefoil
