// SPDX-License-Identifier: BSD-3-Clause
// Turns the options of `trefoil perf` into a checked plan of what to measure.
#include "bench/perf/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "algorithms/registry/registry.hpp"
#include "bench/common/names.hpp"
#include "bench/perf/call.hpp"
#include "comm/plan/choices.hpp"
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

/// `none` goes by its name alone: "all" are those that compute something.
std::vector<std::optional<Operation>> operations(const std::string& text) {
    std::vector<std::optional<Operation>> result;
    for (const std::string& name : split_list(text)) {
        if (name == "all") {
            for (int i = 0; i < operation_count; ++i) {
                result.emplace_back(static_cast<Operation>(i));
            }
        } else if (name == no_operation) {
            result.emplace_back(std::nullopt);
        } else {
            result.emplace_back(parse_operation(name));
        }
    }
    return result;
}

/// Of what only moves data.
std::vector<Campaign::Kind> kinds_without_operation(const PerfOptions& options) {
    std::vector<Campaign::Kind> result;
    for (const DataType type : datatypes(options.datatypes)) {
        result.push_back({type, std::nullopt});
    }
    return result;
}

std::string reason_against(Collective collective, DataType type, Operation operation) {
    return operation == Operation::average && traits_of(collective).is_prefix()
               ? fmt::format("avg is not for {}", to_string(collective))
               : refusal(type, operation);
}

/// All pairs that make sense. With "all" the others are left out, else they are an error.
std::vector<Campaign::Kind> kinds(const PerfOptions& options, Collective collective) {
    const std::string asked = options.operations.empty() ? "sum" : options.operations;
    const bool lenient = options.datatypes == "all" || asked == "all";
    std::vector<Campaign::Kind> result;
    for (const DataType type : datatypes(options.datatypes)) {
        for (const std::optional<Operation> operation : operations(asked)) {
            const std::string reason =
                operation ? reason_against(collective, type, *operation) : "";
            if (reason.empty()) {
                result.push_back({type, operation});
            } else if (!lenient) {
                throw Error(Status::unsupported, reason);
            }
        }
    }
    return result;
}

std::vector<std::size_t> sizes_of(const PerfOptions& options) {
    if (!options.sizes.empty()) {
        std::vector<std::size_t> sizes;
        for (const std::string& size : split_list(options.sizes)) {
            sizes.push_back(parse_size(size));
        }
        return sizes;
    }
    const std::size_t step = options.step_bytes.empty() ? 0 : parse_size(options.step_bytes);
    return byte_sizes(options.min_bytes, options.max_bytes, step, options.step_factor);
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

std::vector<bool> placements(const PerfOptions& options, Collective collective) {
    const InPlace allowed = traits_of(collective).in_place;
    if (allowed == InPlace::never) {
        if (placements(options.placement) == std::vector<bool>{true}) {
            refuse(
                fmt::format("{} is never in place; leave --in-place out", to_string(collective)));
        }
        return {false};
    }
    if (allowed != InPlace::always) {
        return placements(options.placement);
    }
    if (placements(options.placement) == std::vector<bool>{false}) {
        refuse(fmt::format("{} has one buffer, which is always in place; leave --in-place out",
                           to_string(collective)));
    }
    return {true};
}

/// What the collective does not have must not be asked for.
void refuse_foreign_options(const PerfOptions& options, Collective collective) {
    if (options.test_every > 0 && !options.overlap) {
        refuse("--test-every belongs to --overlap");
    }
    if (!options.operations.empty() && !traits_of(collective).reduces) {
        refuse(fmt::format("{} reduces nothing; leave --op out", to_string(collective)));
    }
    if (!options.root.empty() && !traits_of(collective).rooted()) {
        refuse(fmt::format("{} has no root; leave --root out", to_string(collective)));
    }
}

std::vector<std::string> algorithm_names(const PerfOptions& options, Campaign& campaign) {
    std::vector<std::string> names;
    if (campaign.schedule) {
        names.emplace_back(campaign.schedule->algorithm().name);
        if (options.algorithms.empty()) {
            return names;
        }
    }
    const std::string asked = options.algorithms.empty() ? "auto" : options.algorithms;
    for (const std::string& name : split_list(asked)) {
        if (name == "all") {
            campaign.all_algorithms = true;
            for (const Algorithm& a : algorithms()) {
                if (a.collective == campaign.collective) {
                    names.emplace_back(a.name);
                }
            }
            continue;
        }
        names.push_back(to_string(parse_choice(campaign.collective, name)));
    }
    return names;
}

}  // namespace

std::vector<std::size_t> byte_sizes(const std::string& smallest, const std::string& largest,
                                    std::size_t step, int factor) {
    constexpr std::size_t most_sizes = 10'000;
    const std::size_t first = parse_size(smallest);
    const std::size_t last =
        largest.empty() ? std::max<std::size_t>(first, std::size_t{1} << 20) : parse_size(largest);
    if (last < first) {
        refuse(fmt::format("--maxbytes {} is less than --minbytes {}", largest, smallest));
    }
    if (step == 0 && factor < 2) {
        refuse("--stepfactor must be at least 2");
    }
    std::vector<std::size_t> sizes;
    std::size_t size = first;
    while (size <= last && sizes.size() < most_sizes) {
        sizes.push_back(size);
        const std::size_t next =
            step > 0 ? size + step
                     : std::max<std::size_t>(1, size) * static_cast<std::size_t>(factor);
        if (next <= size) {
            break;
        }
        size = next;
    }
    return sizes;
}

std::vector<std::size_t> Campaign::counts_of(DataType type, const Torus& torus) const {
    if (bytes.empty()) {
        return counts;
    }
    const std::size_t blocks = std::max<std::size_t>(1, traits_of(collective).blocks(torus));
    std::vector<std::size_t> result;
    for (const std::size_t b : bytes) {
        const std::size_t whole = b / size_of(type);
        const std::size_t rounded = whole / blocks + (whole % blocks * 2 >= blocks ? 1 : 0);
        const std::size_t count = b == 0 ? 0 : std::max<std::size_t>(1, rounded);
        if (result.empty() || result.back() != count) {
            result.push_back(count);
        }
    }
    return result;
}

std::vector<Rank> Campaign::roots_of(Rank ranks) const {
    std::vector<Rank> result;
    for (const std::string& text : roots) {
        if (text == "all") {
            result.insert(result.end(), {0, ranks / 2, ranks - 1});
            continue;
        }
        Rank root = -1;
        const char* end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, root);
        if (error != std::errc() || rest != end || root < 0 || root >= ranks) {
            refuse(fmt::format("--root {} is not a rank; give numbers from 0 to {}, or all", text,
                               ranks - 1));
        }
        result.push_back(root);
    }
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result.empty() ? std::vector<Rank>{0} : result;
}

void load_schedule(PerfOptions& options) {
    if (options.schedule.empty()) {
        return;
    }
    options.schedule_text = read_text_file(options.schedule);
    options.user_schedule =
        read_schedule(find_collective(options.collective), options.schedule, options.schedule_text);
    if (options.torus.empty()) {
        options.torus = options.user_schedule->torus().name();
    }
}

Campaign make_campaign(const PerfOptions& options) {
    Campaign campaign;
    campaign.collective = find_collective(options.collective);
    refuse_foreign_options(options, campaign.collective);
    campaign.schedule = options.user_schedule;
    campaign.algorithms = algorithm_names(options, campaign);
    if (!options.root.empty()) {
        campaign.roots = split_list(options.root);
    } else if (campaign.schedule) {
        campaign.roots = {std::to_string(campaign.schedule->root())};
    }
    if (!traits_of(campaign.collective).has_data()) {
        campaign.kinds = {{DataType::int8, std::nullopt}};
        campaign.counts = {0};
        campaign.in_place = {false};
    } else {
        campaign.kinds = traits_of(campaign.collective).reduces
                             ? kinds(options, campaign.collective)
                             : kinds_without_operation(options);
        campaign.in_place = placements(options, campaign.collective);
        if (options.counts.empty()) {
            campaign.bytes = sizes_of(options);
        } else {
            for (const std::string& count : split_list(options.counts)) {
                campaign.counts.push_back(parse_size(count));
            }
        }
    }
    if (options.late > 0 && campaign.collective != Collective::barrier) {
        refuse("--late belongs to a barrier: trefoil perf barrier --late 5");
    }
    if (options.uneven && campaign.collective != Collective::alltoall) {
        refuse("--uneven belongs to alltoall: trefoil perf alltoall --uneven 1");
    }
    campaign.uneven = options.uneven;
    check_rank_options(options);
    if (!options.torus.empty()) {
        std::vector<Skipped> ignored;
        suitable_algorithms(campaign, Torus::parse(options.torus), ignored);
    }
    if (const Rank ranks = asked_ranks(options); ranks > 0) {
        campaign.roots_of(ranks);
    }
    return campaign;
}

std::vector<std::string> suitable_algorithms(const Campaign& campaign, const Torus& torus,
                                             std::vector<Skipped>& skipped) {
    std::vector<std::string> suitable;
    for (const std::string& name : campaign.algorithms) {
        if (campaign.schedule && name == campaign.schedule->algorithm().name) {
            if (!(campaign.schedule->torus() == torus)) {
                throw Error(Status::unsupported,
                            fmt::format("the schedule was made for the torus {}, not for {}",
                                        campaign.schedule->torus().name(), torus.name()));
            }
            suitable.push_back(name);
            continue;
        }
        const std::string reason = refusal(parse_choice(campaign.collective, name), torus);
        if (reason.empty()) {
            suitable.push_back(name);
        } else if (campaign.all_algorithms) {
            skipped.push_back({name, reason});
        } else {
            parse_choice(campaign.collective, name, torus);  // throws
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
