// SPDX-License-Identifier: BSD-3-Clause
// Reading and writing the parameters of the cost model.
#include "comm/setup/cost_settings.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <span>

#include "topo/decimals.hpp"
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
                "\"" + std::string(entry) + "\" is not a parameter of the cost model: " + why +
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

struct Parameter {
    std::string_view name;
    double CostModel::*value;
};
/// A link's rate is written in bits per second, and known by the time of a byte.
constexpr Parameter parameters[] = {{"step", &CostModel::alpha},
                                    {"hop", &CostModel::tau},
                                    {"rate", &CostModel::beta},
                                    {"wait", &CostModel::wait},
                                    {"message", &CostModel::message},
                                    {"forward", &CostModel::forward},
                                    {"busiest", &CostModel::busiest},
                                    {"byte", &CostModel::byte},
                                    {"copy", &CostModel::copy},
                                    {"pull", &CostModel::pull},
                                    {"reduce", &CostModel::reduce},
                                    {"inside-step", &CostModel::inside_step},
                                    {"inside-message", &CostModel::inside_message},
                                    {"inside-byte", &CostModel::inside_byte}};
constexpr bool is_rate(const Parameter& parameter) {
    return parameter.value == &CostModel::beta;
}

void take(CostModel& model, std::string_view entry) {
    const std::size_t equals = entry.find('=');
    const std::string_view name = entry.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : entry.substr(equals + 1);
    const Parameter* const parameter = std::ranges::find(parameters, name, &Parameter::name);
    if (parameter == std::end(parameters)) {
        std::string names;
        for (const Parameter& each : parameters) {
            names += &each == std::begin(parameters)     ? ""
                     : &each == std::end(parameters) - 1 ? " and "
                                                         : ", ";
            names += each.name;
        }
        refuse_cost(entry, "the names are " + names);
    }
    double& number = model.*parameter->value;
    if (!is_rate(*parameter)) {
        number = quantity(entry, value, times);
        return;
    }
    const double bits = quantity(entry, value, rates);
    if (bits < 1) {
        refuse_cost(entry, "a link that carries nothing gives no choice");
    }
    number = 8.0 / bits;
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
        // Cores that also forward for others have something to do while a rank waits.
        const bool forwards = model.forward > 0;
        model.wait = ranks_per_core * (in_memory ? 0.6e-6 : forwards ? 0.7e-6 : 3e-6);
        model.message = ranks_per_core * (in_memory ? 0.03e-6 : 5e-6);
        model.forward *= ranks_per_core;
        model.byte = ranks_per_core * (in_memory ? 0.15e-9 : 0.5e-9);
        model.busiest = 0;  // others work meanwhile
        model.reduce = 0;   // it is part of byte
        model.copy *= ranks_per_core;
        model.pull *= ranks_per_core;
        model.inside_message = ranks_per_core * 0.4e-6;
        model.inside_byte *= ranks_per_core;
    }
    return model;
}

std::string to_string(const CostModel& model) {
    std::string text;
    for (const Parameter& parameter : parameters) {
        const double number = model.*parameter.value;
        text += text.empty() ? "" : ",";
        text += std::string(parameter.name) + "=" +
                (is_rate(parameter) ? short_decimal(8.0 / number / 1e9, 6) + "gbit"
                                    : short_decimal(number * 1e6, 6) + "us");
    }
    return text;
}

}  // namespace trefoil
