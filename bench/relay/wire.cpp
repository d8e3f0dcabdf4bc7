// SPDX-License-Identifier: BSD-3-Clause
// The times of frames on a wire.
#include "bench/relay/wire.hpp"

#include <algorithm>

namespace trefoil::relay {

Wire::Passage Wire::enter(Time now, std::size_t bytes) {
    const Time begin = std::max(now, free_at_);
    const double length =
        bits_per_second_ > 0 ? 8e9 * static_cast<double>(bytes) / bits_per_second_ : 0;
    free_at_ = begin + static_cast<Time>(length);
    return {begin + delay_, free_at_ + delay_};
}

}  // namespace trefoil::relay
