// SPDX-License-Identifier: BSD-3-Clause
// The waits, times the factor of the environment.
#include "topo/patience.hpp"

#include "topo/variable.hpp"

#include <charconv>
#include <cstring>

namespace trefoil {

double patience_factor(const char* text) noexcept {
    constexpr double least = 0.1, most = 100;
    double factor = 0;
    const char* const end = text + std::strlen(text);
    const auto [read, error] = std::from_chars(text, end, factor);
    const bool good = error == std::errc() && read == end && factor >= least && factor <= most;
    return good ? factor : 0;
}

const Patience& patience() noexcept {
    // What cannot be read is refused when a communicator is made.
    static const Patience mine([] {
        const auto text = environment_variable("TREFOIL_PATIENCE");
        const double factor = text ? patience_factor(text->c_str()) : 0;
        return factor > 0 ? factor : 1.0;
    }());
    return mine;
}

}  // namespace trefoil
