// SPDX-License-Identifier: BSD-3-Clause
// Turns the options of `trefoil perf` into a checked plan of what to measure.
#include "bench/perf_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/names.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

[[noreturn]] void refuse(const std::string& message) {
    throw Error(Status::invalid_argument, message);
}

std::vector<DataType> datatypes(const std::string& text) {
    std::vector<DataType> types;
    for (const std::string& name : split_list(text)) {
        if (name == "all") {
            for (int i = 0; i < datatype_count; ++i) {
                types.push_back(static_cast<DataType>(i));
            }
        } else {
            types.push_back(parse_datatype(name));
        }
    }
    return types;
}

std::vector<Operation> operations(const std::string& text) {
    std::vector<Operation> result;
    for (const std::string& name : split_list(text)) {
        if (name == "all") {
            for (int i = 0; i < operation_count; ++i) {
                result.push_back(static_cast<Operation>(i));
            }
        } else {
            result.push_back(parse_operation(name));
        }
    }
    return result;
}

/// All pairs that make sense. With "all" the others are left out, else they are an error.
std::vector<Campaign::Kind> kinds(const PerfOptions& options) {
    const bool lenient = options.datatypes == "all" || options.operations == "all";
    std::vector<Campaign::Kind> result;
    for (const DataType type : datatypes(options.datatypes)) {
        for (const Operation operation : operations(options.operations)) {
            if (reduce_kernels(type, operation).reduce != nullptr) {
                result.push_back({type, operation});
            } else if (!lenient) {
                throw Error(Status::unsupported,
                            fmt::format("operation {} makes no sense for type {}",
                                        to_string(operation), to_string(type)));
            }
        }
    }
    return result;
}

constexpr std::size_t most_sizes = 10'000;

std::vector<std::size_t> byte_sizes(const PerfOptions& options) {
    const std::size_t first = parse_size(options.min_bytes);
    const std::size_t last = options.max_bytes.empty()
                                 ? std::max<std::size_t>(first, std::size_t{1} << 20)
                                 : parse_size(options.max_bytes);
    const std::size_t step = options.step_bytes.empty() ? 0 : parse_size(options.step_bytes);
    if (last < first) {
        refuse(fmt::format("--maxbytes {} is less than --minbytes {}", options.max_bytes,
                           options.min_bytes));
    }
    if (step == 0 && options.step_factor < 2) {
        refuse("--stepfactor must be at least 2");
    }
    std::vector<std::size_t> sizes;
    std::size_t size = first;
    while (size <= last && sizes.size() < most_sizes) {
        sizes.push_back(size);
        const std::size_t next = step > 0 ? size + step
                                          : std::max<std::size_t>(1, size) *
                                                static_cast<std::size_t>(options.step_factor);
        if (next <= size) {
            break;
        }
        size = next;
    }
    return sizes;
}

std::vector<bool> placements(const std::string& text) {
    if (text == "both") {
        return {false, true};
    }
    if (text == "out" || text == "in") {
        return {text == "in"};
    }
    refuse("--in-place is \"" + text + "\"; give both, out or in");
}

std::vector<std::string> algorithm_names(const PerfOptions& options, Campaign& campaign) {
    std::vector<std::string> names;
    for (const std::string& name : split_list(options.algorithms)) {
        if (name == "all") {
            campaign.all_algorithms = true;
            for (const Algorithm& a : algorithms()) {
                if (a.collective == campaign.collective) {
                    names.emplace_back(a.name);
                }
            }
            continue;
        }
        if (name != "auto") {
            find_algorithm(campaign.collective, name);
        }
        names.push_back(name);
    }
    return names;
}

}  // namespace

std::vector<std::size_t> Campaign::counts_of(DataType type) const {
    if (bytes.empty()) {
        return counts;
    }
    std::vector<std::size_t> result;
    for (const std::size_t b : bytes) {
        const std::size_t count = b == 0 ? 0 : std::max<std::size_t>(1, b / size_of(type));
        if (result.empty() || result.back() != count) {
            result.push_back(count);
        }
    }
    return result;
}

Campaign make_campaign(const PerfOptions& options) {
    Campaign campaign;
    campaign.collective = parse_collective(options.collective);
    campaign.algorithms = algorithm_names(options, campaign);
    if (campaign.collective == Collective::barrier) {
        campaign.kinds = {{DataType::int8, Operation::sum}};
        campaign.counts = {0};
        campaign.in_place = {false};
    } else {
        campaign.kinds = kinds(options);
        campaign.in_place = placements(options.placement);
        if (options.counts.empty()) {
            campaign.bytes = byte_sizes(options);
        } else {
            for (const std::string& count : split_list(options.counts)) {
                campaign.counts.push_back(parse_size(count));
            }
        }
    }
    if (!options.backend.empty()) {
        check_backend(options.backend);
    }
    if (options.launch != "processes" && options.launch != "threads") {
        refuse("--launch is \"" + options.launch + "\"; give processes or threads");
    }
    if (!options.torus.empty()) {
        std::vector<Skipped> ignored;
        suitable_algorithms(campaign, Torus::parse(options.torus), ignored);
    }
    return campaign;
}

std::vector<std::string> suitable_algorithms(const Campaign& campaign, const Torus& torus,
                                             std::vector<Skipped>& skipped) {
    std::vector<std::string> suitable;
    for (const std::string& name : campaign.algorithms) {
        if (name == "auto") {
            suitable.push_back(name);
            continue;
        }
        const std::string reason = find_algorithm(campaign.collective, name).refusal(torus);
        if (reason.empty()) {
            suitable.push_back(name);
        } else if (campaign.all_algorithms) {
            skipped.push_back({name, reason});
        } else {
            find_algorithm(campaign.collective, name, &torus);  // throws with the table's words
        }
    }
    return suitable;
}

Rank asked_ranks(const PerfOptions& options) {
    if (options.torus.empty()) {
        return options.ranks;
    }
    const Torus torus = Torus::parse(options.torus);
    if (options.ranks != 0 && options.ranks != torus.ranks()) {
        refuse(
            fmt::format("--ranks {} does not match --torus {}, which has {} ranks; give one of "
                        "them, or make them agree",
                        options.ranks, torus.name(), torus.ranks()));
    }
    return torus.ranks();
}

}  // namespace trefoil::tool
