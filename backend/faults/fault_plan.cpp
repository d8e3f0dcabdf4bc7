// SPDX-License-Identifier: BSD-3-Clause
// Reads TREFOIL_FAULTS.
#include "backend/faults/fault_plan.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "topo/error.hpp"

namespace trefoil {

namespace {

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Status::invalid_argument,
                what +
                    "; faults are seed:KIND=VALUE,... with delay=MICROSECONDS, again=TIMES, "
                    "stall=PUTS, close=PUTS, fail=CHANCE, drop=CHANCE, twice=CHANCE, flip=CHANCE "
                    "and rank=RANK, for example 7:delay=200,drop=0.01");
}

template <typename Number>
std::optional<Number> number_in(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole ? std::optional(value) : std::nullopt;
}

std::uint32_t count_of(std::string_view kind, std::string_view value) {
    const auto count = number_in<std::uint32_t>(value);
    if (!count || *count == 0 || *count > 1'000'000'000) {
        refuse(std::string(kind) + " takes a number from 1 on, not \"" + std::string(value) + "\"");
    }
    return *count;
}

double chance_of(std::string_view kind, std::string_view value) {
    const auto chance = number_in<double>(value);
    if (!chance || !(*chance >= 0 && *chance <= 1)) {
        refuse(std::string(kind) + " takes a chance from 0 to 1, not \"" + std::string(value) +
               "\"");
    }
    return *chance;
}

void read_fault(FaultPlan& plan, std::string_view kind, std::string_view value) {
    if (kind == "delay") {
        plan.delay = std::chrono::microseconds(count_of(kind, value));
    } else if (kind == "again") {
        plan.again = count_of(kind, value);
    } else if (kind == "stall") {
        plan.stall = count_of(kind, value);
    } else if (kind == "close") {
        plan.close = count_of(kind, value);
    } else if (kind == "fail") {
        plan.fail = chance_of(kind, value);
    } else if (kind == "drop") {
        plan.drop = chance_of(kind, value);
    } else if (kind == "twice") {
        plan.twice = chance_of(kind, value);
    } else if (kind == "flip") {
        plan.flip = chance_of(kind, value);
    } else if (kind == "rank") {
        const auto rank = number_in<Rank>(value);
        if (!rank || *rank < 0) {
            refuse("rank takes a rank, not \"" + std::string(value) + "\"");
        }
        plan.ranks.push_back(*rank);
    } else {
        refuse("there is no fault \"" + std::string(kind) + "\"");
    }
}

}  // namespace

bool FaultPlan::concerns(Rank rank) const {
    return ranks.empty() || std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

FaultPlan parse_faults(std::string_view text) {
    const std::size_t colon = text.find(':');
    const auto seed = number_in<std::uint64_t>(text.substr(0, colon));
    if (colon == std::string_view::npos || !seed) {
        refuse("\"" + std::string(text) + "\" does not begin with a seed and a colon");
    }
    FaultPlan plan;
    plan.seed = *seed;
    std::string_view rest = text.substr(colon + 1);
    if (rest.empty()) {
        refuse("\"" + std::string(text) + "\" names no fault");
    }
    while (true) {
        const std::size_t comma = rest.find(',');
        const std::string_view item = rest.substr(0, comma);
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos) {
            refuse("\"" + std::string(item) + "\" is not KIND=VALUE");
        }
        read_fault(plan, item.substr(0, equals), item.substr(equals + 1));
        if (comma == std::string_view::npos) {
            return plan;
        }
        rest = rest.substr(comma + 1);
    }
}

}  // namespace trefoil
