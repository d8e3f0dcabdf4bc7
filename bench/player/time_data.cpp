// SPDX-License-Identifier: BSD-3-Clause
// Times as whole numbers of ticks, shares as numbers to 127 whose sums stay right.
#include "bench/player/time_data.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "bench/player/byte_text.hpp"

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;

/// Of the whole run; finer than any screen.
constexpr double ticks_of_run = 1 << 20;
constexpr int whole_share = 127;
constexpr std::size_t most_shares = 1500000, least_slices = 60, most_slices = 400;

std::int64_t tick_of(double seconds, double all) {
    return all > 0 ? std::llround(seconds / all * ticks_of_run) : 0;
}

std::string messages_text(const TimeData& data) {
    ByteText text;
    std::int64_t before = 0;
    for (const Flowing& message : data.messages) {
        const std::int64_t begin = tick_of(message.begin, data.seconds);
        const std::int64_t end = tick_of(message.end, data.seconds);
        text.add_signed(begin - before);
        text.add(static_cast<std::uint64_t>(end - begin));
        before = begin;
    }
    return text.base64();
}

std::string completed_text(const TimeData& data) {
    ByteText text;
    std::int64_t before = 0;
    for (const double seconds : data.completed) {
        const std::int64_t tick = tick_of(seconds, data.seconds);
        text.add_signed(tick - before);
        before = tick;
    }
    return text.base64();
}

/// A number for each run of equal shares. What rounding takes from a slice the next one gets.
std::string shares_text(const LinkShares& links) {
    ByteText text;
    for (std::size_t first = 0; first < links.shares.size(); first += links.slices) {
        double rest = 0;
        int value = 0;
        std::uint64_t count = 0;
        const auto end_run = [&] {
            if (count > 0) {
                text.add((count - 1) * (whole_share + 1) + static_cast<std::uint64_t>(value));
            }
        };
        for (std::size_t s = 0; s < links.slices; ++s) {
            const double exact = links.shares[first + s] * whole_share + rest;
            const int rounded = std::clamp(static_cast<int>(std::lround(exact)), 0, whole_share);
            rest = exact - rounded;
            if (rounded != value) {
                end_run();
                count = 0;
            }
            value = rounded;
            ++count;
        }
        end_run();
    }
    return text.base64();
}

Json wirings_json(const TimeData& data) {
    Json all = Json::array();
    for (const DrawnWiring& wiring : data.wirings) {
        Json circuits = Json::array();
        for (const DrawnCircuit& c : wiring.circuits) {
            circuits.insert(circuits.end(), {c.from, c.to, c.count});
        }
        all.push_back({{"name", wiring.name}, {"circuits", std::move(circuits)}});
    }
    return all;
}

Json steps_json(const TimeData& data) {
    Json all = Json::array();
    for (const WiredStep& step : data.steps) {
        Json shares = Json::array();
        for (const double share : step.shares) {
            shares.push_back(std::round(share * 1000) / 1000);
        }
        all.push_back({{"step", step.step},
                       {"wiring", step.wiring},
                       {"change", step.change},
                       {"begin", step.begin},
                       {"flows", step.flowing.begin},
                       {"end", step.flowing.end},
                       {"shares", std::move(shares)}});
    }
    return all;
}

}  // namespace

std::size_t slices_for(std::size_t links) {
    return std::clamp(most_shares / std::max<std::size_t>(1, links), least_slices, most_slices);
}

Json time_json(const TimeData& data) {
    Json all{{"seconds", data.seconds},
             {"words", data.words},
             {"ticks", ticks_of_run},
             {"messages", messages_text(data)},
             {"completed", completed_text(data)}};
    if (data.wirings.empty()) {
        all["slices"] = data.links.slices;
        all["whole_share"] = whole_share;
        all["shares"] = shares_text(data.links);
        all["vector_seconds"] = data.vector_seconds;
    } else {
        all["wirings"] = wirings_json(data);
        all["steps"] = steps_json(data);
    }
    return all;
}

}  // namespace trefoil::tool
