// SPDX-License-Identifier: BSD-3-Clause
// A number and a unit from a table.
#include "bench/sim/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <span>

#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

struct Unit {
    std::string_view name;  ///< in small letters
    double factor;
};
constexpr Unit rates[] = {
    {"bit", 0.125}, {"kbit", 0.125e3}, {"mbit", 0.125e6}, {"gbit", 0.125e9}, {"tbit", 0.125e12},
    {"b", 1},       {"kb", 1e3},       {"mb", 1e6},       {"gb", 1e9},       {"tb", 1e12}};
constexpr Unit times[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};

/// The value times the unit's factor; NaN: not of this form.
double parse(std::string_view text, std::span<const Unit> units) {
    double value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    std::string unit(end, text.data() + text.size());
    std::ranges::transform(unit, unit.begin(), [](unsigned char c) { return std::tolower(c); });
    if (failed != std::errc() || !std::isfinite(value)) {
        return std::nan("");
    }
    if (unit.empty() && value == 0) {
        return 0;
    }
    const auto found = std::ranges::find(units, std::string_view(unit), &Unit::name);
    return found == units.end() ? std::nan("") : value * found->factor;
}

}  // namespace

double parse_rate(std::string_view text) {
    if (text.ends_with('b') && parse(text, rates) > 0) {  // a byte's, for people a bit's
        throw Error(Status::invalid_argument,
                    fmt::format("\"{}\" may mean bits or bytes; write {}it or {}B", text, text,
                                text.substr(0, text.size() - 1)));
    }
    const double rate = parse(text, rates);
    if (!(rate >= 1 && rate <= 1e18)) {
        throw Error(Status::invalid_argument,
                    fmt::format("\"{}\" is not a rate; give bits or bytes per second, such as "
                                "400Gbit or 6.8GB, from 1B to 1000000TB",
                                text));
    }
    return rate;
}

double parse_time(std::string_view text) {
    const double time = parse(text, times);
    if (!(time >= 0 && time <= 1e6)) {
        throw Error(
            Status::invalid_argument,
            fmt::format("\"{}\" is not a time; give 0 or more with a unit, such as 500ns or "
                        "1.5us, up to 1000000s",
                        text));
    }
    return time;
}

std::string time_text(double seconds) {
    return seconds < 1e-6   ? fmt::format("{:.4g} ns", seconds * 1e9)
           : seconds < 1e-3 ? fmt::format("{:.4g} us", seconds * 1e6)
           : seconds < 1    ? fmt::format("{:.4g} ms", seconds * 1e3)
                            : fmt::format("{:.4g} s", seconds);
}

std::string rate_text(double bytes_per_second) {
    const double bits = bytes_per_second * 8;
    return bits < 1e9 ? fmt::format("{:.4g} Mbit/s", bits / 1e6)
                      : fmt::format("{:.4g} Gbit/s", bits / 1e9);
}

}  // namespace trefoil::tool
