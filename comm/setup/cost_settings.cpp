// SPDX-License-Identifier: BSD-3-Clause
// Reading and writing the parameters of the cost model.
#include "comm/setup/cost_settings.hpp"

#include <charconv>
#include <cstdio>
#include <span>

#include "topo/error.hpp"

namespace trefoil {

namespace {

struct Unit {
    std::string_view name;
    double factor;
};
constexpr Unit times[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
constexpr Unit rates[] = {{"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}, {"tbit", 1e12}};

[[noreturn]] void refuse_cost(std::string_view entry, const std::string& why) {
    throw Error(Status::invalid_argument,
                "\"" + std::string(entry) + "\" is no parameter of the cost model: " + why +
                    "; write, for example, step=2us,hop=200ns,rate=25gbit");
}

double quantity(std::string_view entry, std::string_view text, std::span<const Unit> units) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || !(number >= 0 && number <= 1e12)) {
        refuse_cost(entry, "it needs a number of 0 or more");
    }
    std::string names;
    for (const Unit& unit : units) {
        if (unit.name == std::string_view(stop, static_cast<std::size_t>(end - stop))) {
            return number * unit.factor;
        }
        names += names.empty() ? "" : ", ";
        names += unit.name;
    }
    refuse_cost(entry, "its unit must be one of " + names);
}

void take(CostModel& model, std::string_view entry) {
    const std::size_t equals = entry.find('=');
    const std::string_view name = entry.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : entry.substr(equals + 1);
    if (name == "step") {
        model.alpha = quantity(entry, value, times);
    } else if (name == "hop") {
        model.tau = quantity(entry, value, times);
    } else if (name == "rate") {
        const double bits = quantity(entry, value, rates);
        if (bits < 1) {
            refuse_cost(entry, "a link that carries nothing gives no choice");
        }
        model.beta = 8.0 / bits;
    } else if (name == "wait") {
        model.wait = quantity(entry, value, times);
    } else if (name == "message") {
        model.message = quantity(entry, value, times);
    } else if (name == "busiest") {
        model.busiest = quantity(entry, value, times);
    } else if (name == "byte") {
        model.byte = quantity(entry, value, times);
    } else if (name == "copy") {
        model.copy = quantity(entry, value, times);
    } else if (name == "pull") {
        model.pull = quantity(entry, value, times);
    } else if (name == "inside-step") {
        model.inside_step = quantity(entry, value, times);
    } else if (name == "inside-message") {
        model.inside_message = quantity(entry, value, times);
    } else if (name == "inside-byte") {
        model.inside_byte = quantity(entry, value, times);
    } else {
        refuse_cost(entry,
                    "the names are step, hop, rate, wait, message, busiest, byte, copy, pull, "
                    "inside-step, inside-message and inside-byte");
    }
}

}  // namespace

CostModel parse_cost_model(std::string_view text) {
    CostModel model = default_cost_model;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        take(model, text.substr(0, comma));
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return model;
}

CostModel model_of_job(const std::optional<CostModel>& asked, bool in_memory,
                       double ranks_per_core) {
    CostModel model = asked.value_or(in_memory ? memory_cost_model : default_cost_model);
    const bool tells_processors = model.wait + model.message + model.byte > 0;
    if (ranks_per_core > 1 && !tells_processors) {
        model.wait = ranks_per_core * (in_memory ? 0.6e-6 : 3e-6);
        model.message = ranks_per_core * (in_memory ? 0.03e-6 : 5e-6);
        model.byte = ranks_per_core * (in_memory ? 0.15e-9 : 0.5e-9);
        model.busiest = 0;  // others work meanwhile
        model.copy *= ranks_per_core;
        model.pull *= ranks_per_core;
        model.inside_message = ranks_per_core * 0.4e-6;
        model.inside_byte *= ranks_per_core;
    }
    return model;
}

std::string to_string(const CostModel& model) {
    const auto microseconds = [](double seconds) { return seconds * 1e6; };
    char text[384];
    std::snprintf(text, sizeof text,
                  "step=%.6gus,hop=%.6gus,rate=%.6ggbit,wait=%.6gus,message=%.6gus,busiest=%.6gus,"
                  "byte=%.6gus,"
                  "copy=%.6gus,pull=%.6gus,inside-step=%.6gus,inside-message=%.6gus,"
                  "inside-byte=%.6gus",
                  microseconds(model.alpha), microseconds(model.tau), 8.0 / model.beta / 1e9,
                  microseconds(model.wait), microseconds(model.message),
                  microseconds(model.busiest), microseconds(model.byte), microseconds(model.copy),
                  microseconds(model.pull), microseconds(model.inside_step),
                  microseconds(model.inside_message), microseconds(model.inside_byte));
    return text;
}

}  // namespace trefoil
