// SPDX-License-Identifier: BSD-3-Clause
// Rates and times as users type them.
#pragma once

#include <string>
#include <string_view>

namespace trefoil::tool {

/// "400Gbit", "6.8GB", "50mbit" (per second; powers of 1000) in bytes per second. Throws
/// Error(invalid_argument) for anything else, zero and negative rates.
double parse_rate(std::string_view text);

/// "500ns", "1.5us", "2ms", "0", "3s" in seconds. Throws Error(invalid_argument).
double parse_time(std::string_view text);

/// "1.23 us"
std::string time_text(double seconds);
/// "400 Gbit/s"
std::string rate_text(double bytes_per_second);

}  // namespace trefoil::tool
