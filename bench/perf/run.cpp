// SPDX-License-Identifier: BSD-3-Clause
// The measurements of one rank: sizes, then algorithms, so that neighbouring rows compare.
#include "bench/perf/run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/common/command.hpp"
#include "bench/common/model_variable.hpp"
#include "bench/perf/late.hpp"
#include "bench/perf/report.hpp"
#include "comm/setup/environment.hpp"
#include "topo/error.hpp"
#include "topo/host.hpp"
#include "topo/variable.hpp"

namespace trefoil::tool {

namespace {

/// As it was described: the communicator tells the sizes of its torus, not what is unlike one.
Torus network_of(const PerfOptions& options, const Settings& given, const Session& session) {
    const std::string text = options.torus.empty() ? given.torus : options.torus;
    const Torus described = text.empty() ? session.torus() : Torus::parse(text);
    return described.ranks() == session.torus().ranks() ? described : session.torus();
}

Setting setting_of(const PerfOptions& options, const Session& session) {
    const Settings given = settings_from_environment();
    const auto named = names_in_model_variable();
    const bool has_rate = std::ranges::count(named, "rate") > 0;
    return {.machine = host_name() + ", " + machine_text(),
            .torus_source = options.torus.empty() ? session.torus_source() : "--torus",
            .backend = session.backend(),
            .provider = session.provider(),
            .launch = options.launch,
            .torus = network_of(options, given, session),
            .seconds_per_byte = has_rate ? std::optional(given.cost_model->beta) : std::nullopt};
}

/// The cases in the order of the table; a new group for each type, operation and size.
std::vector<std::vector<Case>> cases_of(const Campaign& campaign,
                                        const std::vector<std::string>& algorithms,
                                        const Torus& torus) {
    const std::vector<Rank> roots = campaign.roots_of(torus.ranks());
    std::vector<std::vector<Case>> groups;
    for (const Campaign::Kind& kind : campaign.kinds) {
        for (const std::size_t count : campaign.counts_of(kind.type, torus)) {
            groups.emplace_back();
            for (const std::string& algorithm : algorithms) {
                for (const Rank root : roots) {
                    for (const bool in_place : campaign.in_place) {
                        groups.back().push_back({campaign.collective, algorithm, kind.type,
                                                 kind.operation, count, in_place, root,
                                                 campaign.uneven});
                    }
                }
            }
        }
    }
    return groups;
}

/// Adds a row; with `all`, an algorithm that cannot take this vector is skipped with its reason,
/// once. All ranks find a call unsupported alike, before anything has moved.
void measure(const Case& what, bool lenient, Meter& meter, Report& report,
             std::vector<Skipped>& skipped) {
    try {
        report.add(meter.measure(what));
    } catch (const Error& error) {
        if (error.status() != Status::unsupported || !lenient) {
            throw;
        }
        const Skipped one{what.algorithm, error.what()};
        if (std::find(skipped.begin(), skipped.end(), one) == skipped.end()) {
            skipped.push_back(one);
        }
    }
}

}  // namespace

trefoil_config_t configuration(const PerfOptions& options) {
    const auto given = [](const std::string& text) {
        return text.empty() ? nullptr : text.c_str();
    };
    trefoil_config_t config = TREFOIL_CONFIG_INITIALIZER;
    config.torus = given(options.torus);
    config.backend = given(options.backend);
    config.provider = given(options.provider);
    config.nics = given(options.nics);
    // Each measurement sets its own; auto is what the user's variable makes of it.
    config.algorithm =
        options.algorithms.empty() && environment_variable("TREFOIL_ALGORITHM") ? nullptr : "auto";
    if (options.port_threads) {
        config.port_threads = *options.port_threads == 0 ? -1 : *options.port_threads;
    }
    config.timeout_seconds = options.timeout;
    return config;
}

trefoil_config_t configuration(const PerfOptions& options, const ThreadRank& me) {
    trefoil_config_t config = configuration(options);
    config.rank = me.rank;
    config.ranks = me.ranks;
    config.allgather = me.allgather;
    config.context = me.context;
    return config;
}

int perf_rank(const PerfOptions& options, const Campaign& campaign,
              const trefoil_config_t& config) {
    const ProcessUse before = process_use();
    Session session(config);
    std::vector<Skipped> skipped;
    const auto algorithms = suitable_algorithms(campaign, session.torus(), skipped);
    const auto groups = cases_of(campaign, algorithms, session.torus());
    Report report(setting_of(options, session), options, session.rank() != 0);
    if (campaign.schedule) {
        session.set_schedule(campaign.collective, options.schedule_text);
    }
    Meter meter(session, options, campaign.schedule.get());
    const std::size_t all = groups.empty() ? 0 : groups.size() * groups.front().size();
    std::size_t done = 0;
    for (const std::vector<Case>& group : groups) {
        if (done > 0 && group.size() > 2) {
            report.gap();
        }
        for (const Case& what : group) {
            report.announce(what, ++done, all);
            measure(what, campaign.all_algorithms, meter, report, skipped);
        }
    }
    if (options.resources) {
        report.add(gather_resources(session, before));
    }
    if (options.late > 0) {
        report.add(late_barrier(session, options.late, options.launch == "threads"));
    }
    report.finish(skipped);
    session.barrier();
    return report.wrong() == 0 ? exit_success : exit_wrong;
}

}  // namespace trefoil::tool
