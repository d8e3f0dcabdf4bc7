// SPDX-License-Identifier: BSD-3-Clause
// Asks the library's own rules what they would choose.
#include "bench/info/choices.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "backend/registry/transports.hpp"
#include "backend/system/kernel_access.hpp"
#include "backend/system/kernel_copies.hpp"
#include "bench/common/names.hpp"
#include "comm/plan/select.hpp"
#include "comm/plan/single_copy.hpp"
#include "comm/setup/torus_map.hpp"
#include "topo/error.hpp"
#include "topo/host_file.hpp"

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;

/// Pricing all algorithms of all collectives takes seconds beyond.
constexpr Rank most_ranks_for_all = 256;

void override_with(const char* variable, const std::string& value, std::string& target,
                   std::vector<std::string>& command_line) {
    if (!value.empty()) {
        target = value;
        command_line.emplace_back(variable);
    }
}

std::string microseconds(std::optional<double> seconds) {
    return seconds ? fmt::format("{:.1f}", *seconds * 1e6) : "-";
}

}  // namespace

InfoSettings info_settings(const InfoRequest& request) {
    InfoSettings result;
    result.warnings = unknown_variables();
    try {
        result.settings = settings_from_environment();
    } catch (const Error& error) {
        result.warnings.push_back(std::string(error.what()) +
                                  "; what is shown is without the environment");
    }
    Settings& s = result.settings;
    override_with("TREFOIL_TORUS", request.torus, s.torus, result.command_line);
    override_with("TREFOIL_BACKEND", request.backend, s.backend, result.command_line);
    override_with("TREFOIL_PROVIDER", request.provider, s.provider, result.command_line);
    override_with("TREFOIL_NICS", request.nics, s.nics, result.command_line);
    return result;
}

std::optional<ChosenTorus> choose_torus(const InfoRequest& request, const Settings& settings) {
    TorusRequest wanted{
        request.torus.empty() ? settings.torus_source : "--torus", settings.torus, {}};
    Rank ranks = request.ranks != 0 ? request.ranks : settings.ranks;
    if (request.torus.empty() && !settings.hostfile.empty()) {
        const HostFile file = read_host_file(settings.hostfile);
        wanted = {"host file " + settings.hostfile, file.torus ? file.torus->name() : "", {}};
        for (const HostFile::Line& line : file.lines) {
            wanted.coordinates.push_back(line.coordinates);
        }
        ranks = static_cast<Rank>(file.lines.size());
    } else if (!wanted.torus.empty() && wanted.torus.back() != 'd') {
        const Torus torus = Torus::parse(wanted.torus);
        ranks = request.ranks != 0 ? request.ranks : torus.ranks();
    }
    if (ranks == 0) {
        return std::nullopt;
    }
    return ChosenTorus{make_torus_map(wanted, ranks).torus, wanted.source};
}

Json launcher_choice(const Settings& settings) {
    const LauncherChoice choice = choose_launcher(launcher_request(settings));
    return {{"name", to_string(choice.launcher)},
            {"reason", choice.reason},
            {"pmix_refusal", pmix_refusal()}};
}

Json automatic_algorithms(const Torus& torus, const Settings& settings) {
    Json rows = Json::array();
    const bool on_one_host =
        settings.single_copy && transport_for(settings.backend, true).single_copy;
    const PeerAccess access{
        on_one_host && why_no_kernel_access().empty() && kernel_copies_are_fast(), on_one_host};
    for (const Collective collective : collectives()) {
        const bool slow = torus.ranks() > most_ranks_for_all && collective != Collective::allreduce;
        if (torus.ranks() == 1 || !traits_of(collective).has_data() || slow) {
            continue;
        }
        for (const char* size : {"8", "64", "512", "4K", "32K", "256K", "1M", "4M", "16M", "64M"}) {
            std::vector<Considered> all;  // asked for, so that the second best is priced, too
            const AlgorithmChoice made = choose_algorithm(collective, torus, parse_size(size),
                                                          {.rank_order = settings.reproducible},
                                                          selection_basis(settings), &all);
            const bool alone = made.next.algorithm == nullptr;
            const Algorithm* const single_copy = gaining_reader(
                collective, parse_size(size), torus.ranks(), access, CopiesBy::kernel);
            if (single_copy != nullptr) {
                rows.push_back({{"collective", to_string(collective)},
                                {"bytes", size},
                                {"algorithm", single_copy->name},
                                {"modelled_us", microseconds(std::nullopt)},
                                {"next", to_string(made.choice)},
                                {"next_us", microseconds(made.seconds)}});
                continue;
            }
            rows.push_back({{"collective", to_string(collective)},
                            {"bytes", size},
                            {"algorithm", to_string(made.choice)},
                            {"modelled_us", microseconds(made.seconds)},
                            {"next", alone ? "-" : to_string(made.next)},
                            {"next_us", microseconds(made.next_seconds)}});
        }
    }
    return rows;
}

}  // namespace trefoil::tool
