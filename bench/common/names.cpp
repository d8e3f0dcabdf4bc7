// SPDX-License-Identifier: BSD-3-Clause
// Names that users type, and the offers when there is no such name.
#include "bench/common/names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "algorithms/schedule/nearest_names.hpp"
#include "backend/registry/transports.hpp"
#include "topo/error.hpp"
#include "topo/sizes.hpp"

namespace trefoil::tool {

namespace {

[[noreturn]] void refuse(std::string_view kind, std::string_view name,
                         const std::vector<std::string>& known) {
    const std::vector<std::string> near = nearest_names(name, known);
    throw Error(Status::not_found,
                fmt::format("there is no {} \"{}\"; {}{}", kind, name,
                            near.empty() ? "there are " : "did you mean ",
                            fmt::join(near.empty() ? known : near, near.empty() ? ", " : " or ")) +
                    (near.empty() ? "" : "?"));
}

/// The value in [0, count) whose to_string is `name`.
template <typename Value>
Value find(std::string_view kind, std::string_view name, int count) {
    std::vector<std::string> known;
    for (int i = 0; i < count; ++i) {
        const auto value = static_cast<Value>(i);
        if (to_string(value) == name) {
            return value;
        }
        known.emplace_back(to_string(value));
    }
    refuse(kind, name, known);
}

}  // namespace

DataType parse_datatype(std::string_view name) {
    std::string hyphenated(name);  // complex_float and float_int, as in C
    std::replace(hyphenated.begin(), hyphenated.end(), '_', '-');
    for (int i = 0; i < datatype_count; ++i) {
        const DataTypeTraits& row = traits_of(static_cast<DataType>(i));
        for (const std::string_view other : row.other_names) {
            if (other == hyphenated && !other.empty()) {
                return row.type;
            }
        }
    }
    return find<DataType>("datatype", hyphenated, datatype_count);
}

Operation parse_operation(std::string_view name) {
    return find<Operation>("operation", name, operation_count);
}

void check_backend(std::string_view name) {
    std::vector<std::string> known;
    for (const Transport& b : transports()) {
        if (b.name == name && !b.built()) {
            throw Error(Status::unsupported,
                        fmt::format("backend \"{}\" is not in this build: {}", name, b.absence));
        }
        if (b.name == name) {
            return;
        }
        known.emplace_back(b.name);
    }
    refuse("backend", name, known);
}

std::string backend_names() {
    std::vector<std::string_view> names;
    for (const Transport& each : transports()) {
        names.push_back(each.name);
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

std::size_t parse_size(std::string_view text) {
    const auto bytes = parse_bytes(text);
    if (!bytes) {
        throw Error(Status::invalid_argument,
                    fmt::format("\"{}\" is not a size; give {}", text, size_syntax));
    }
    return *bytes;
}

std::string size_text(std::size_t size) {
    constexpr std::string_view units[] = {"", "K", "M", "G"};
    std::size_t unit = 0;
    while (size != 0 && size % 1024 == 0 && unit < 3) {
        size /= 1024;
        ++unit;
    }
    return fmt::format("{}{}", size, units[unit]);
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> entries;
    while (true) {
        const std::size_t comma = text.find(',');
        const std::string_view entry = text.substr(0, comma);
        if (entry.empty()) {
            throw Error(Status::invalid_argument, "a list has an empty entry; write a,b,c");
        }
        entries.emplace_back(entry);
        if (comma == std::string_view::npos) {
            return entries;
        }
        text.remove_prefix(comma + 1);
    }
}

std::string traits_text(const Algorithm& algorithm) {
    const Traits& traits = algorithm.traits;
    const bool rooted = traits_of(algorithm.collective).rooted();
    return fmt::format(
        "{}, {}{}{}{}",
        traits.cost_class == CostClass::latency ? "for small vectors" : "for large vectors",
        traits.identical_results ? "identical results on all ranks"
                                 : "ranks may differ in the last bit of a float",
        traits.order_preserving ? ", keeps the order of ranks" : "",
        !traits.vector_variant ? ""
        : rooted               ? ", also where the root alone knows all counts"
                               : ", takes blocks of any sizes",
        traits.by_image      ? ", needs ranks that map each other's shared memory"
        : traits.reads_peers ? ", needs ranks that reach each other's memory"
                             : "");
}

}  // namespace trefoil::tool
