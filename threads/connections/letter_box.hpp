// SPDX-License-Identifier: BSD-3-Clause
// Where letters to peers are posted.
#pragma once

#include <cstdint>
#include <string_view>

#include "topo/torus.hpp"

namespace trefoil {

/// What is to happen where the peer has not taken earlier words yet.
enum class Urgency : std::uint8_t {
    waits,    ///< the letter waits for them
    dropped,  ///< it is not sent
    urgent    ///< it goes past them, if it is short and the first such one
};

/// Of one port group; by its owner.
class LetterBox {
  public:
    virtual ~LetterBox() = default;
    /// To `to` (as the cards number ranks) through the own port. False: it was not taken, or the
    /// peer cannot be reached.
    virtual bool letter(Rank to, Port own, std::uint64_t tag, std::string_view text,
                        Urgency urgency) noexcept = 0;
};

}  // namespace trefoil
