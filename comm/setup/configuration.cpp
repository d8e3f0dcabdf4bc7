// SPDX-License-Identifier: BSD-3-Clause
// What of the settings is compared, and what follows from the job where nothing is asked for.
#include "comm/setup/configuration.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "backend/registry/transports.hpp"
#include "comm/setup/cost_settings.hpp"
#include "comm/setup/nodes.hpp"
#include "topo/blob.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

std::string text_to_compare(const Settings& settings, const std::optional<HostFile>& host_file,
                            Rank ranks) {
    std::string torus =
        settings.torus.empty() ? "automatic" : torus_named(settings.torus, ranks).name();
    if (host_file) {
        torus = "of host file " + settings.hostfile + " (" +
                std::to_string(host_file->lines.size()) + " lines, checksum " +
                std::to_string(host_file->checksum) + ")";
    }
    std::string text =
        "torus " + torus + ", " + std::to_string(settings.coordinates.size()) + " coordinates";
    for (const EnvironmentVariable& each : environment_variables()) {
        const std::string value = each.compared == nullptr ? "" : each.compared(settings);
        if (!value.empty()) {
            text += ", " + std::string(each.name) + "=" + value;
        }
    }
    return text;
}

namespace {

bool may_be_taken(const Transport& transport, const Settings& settings) {
    return settings.backend.empty() || settings.backend == transport.name;
}

}  // namespace

bool asks_for_places(const Settings& settings, const Job& job) {
    const bool open =
        settings.torus.empty() && settings.hostfile.empty() && settings.coordinates.empty();
    // Of one host nobody takes such a transport by itself.
    return open && !(settings.backend.empty() && job.shares_memory()) &&
           std::any_of(transports().begin(), transports().end(), [&](const Transport& each) {
               return each.place != nullptr && may_be_taken(each, settings);
           });
}

std::string place_in_machine(const Settings& settings) {
    BlobWriter blob;
    for (const Transport& each : transports()) {
        if (each.place != nullptr && may_be_taken(each, settings) && each.usable()) {
            for (const Rank coordinate : each.place()) {
                blob.number(coordinate);
            }
            break;
        }
    }
    return blob.bytes();
}

std::vector<Rank> decode_place(const std::string& bytes) {
    std::vector<Rank> place;
    for (BlobReader blob(bytes); !blob.empty();) {
        place.push_back(blob.number<Rank>());
    }
    return place;
}

namespace {

/// Leaves the request as it is where the machine tells none.
void take_torus_of_machine(TorusRequest& request, const Settings& settings, const Job& job) {
    const Transport* const transport = settings.backend.empty()
                                           ? &default_transport(job.shares_memory())
                                           : registered_transport(settings.backend);
    std::vector<std::vector<Rank>> places;
    for (const RankProcess& process : job.processes()) {
        places.push_back(process.place);
    }
    if (transport == nullptr || transport->torus_of == nullptr ||
        std::any_of(places.begin(), places.end(), [](const auto& p) { return p.empty(); })) {
        return;
    }
    MachineTorus torus = transport->torus_of(places);
    if (torus.coordinates.empty()) {
        log_info(LogTopic::setup, [&] {
            return "the job makes no torus of the machine's, because " + torus.why_not +
                   "; TREFOIL_TORUS says what it is";
        });
        return;
    }
    request = {"the machine's coordinates", "", std::move(torus.coordinates),
               std::move(torus.lines)};
}

}  // namespace

TorusRequest torus_request(const Settings& settings, const std::optional<HostFile>& host_file,
                           const Job& job) {
    TorusRequest request{settings.torus_source, settings.torus, {}, {}, settings.find_node};
    if (!settings.coordinates.empty()) {
        request.source = "the caller's coordinates";
        for (const RankProcess& process : job.processes()) {
            request.coordinates.push_back(process.coordinates);
        }
    } else if (host_file) {
        std::vector<std::string> hosts;
        for (const RankProcess& process : job.processes()) {
            hosts.push_back(process.host);
        }
        request.source = "host file " + settings.hostfile;
        request.torus = host_file->torus ? host_file->torus->name() : "";
        request.coordinates = coordinates_by_host(*host_file, hosts);
    } else if (request.torus.empty()) {
        take_torus_of_machine(request, settings, job);
    }
    return with_nodes(std::move(request), job);
}

TuningKey tuning_key(const Settings& settings, const Torus& torus) {
    return {torus.name(), settings.ranks_per_node, torus.ports(), settings.backend};
}

const TuningEntry* tuned_for(const Settings& settings, const Torus& torus) {
    return settings.tuning_file == nullptr
               ? nullptr
               : settings.tuning_file->find(tuning_key(settings, torus));
}

namespace {

/// Takes the numbers of the model from the tuning file, if TREFOIL_MODEL does not tell them; says
/// so if the file has nothing for the job.
void tune(Settings& settings, const Job& job, const Torus& torus) {
    std::map<Rank, Rank> ranks_of;
    for (const Rank host : job.hosts()) {
        settings.ranks_per_node = std::max(settings.ranks_per_node, ++ranks_of[host]);
    }
    const TuningEntry* const entry = tuned_for(settings, torus);
    if (entry != nullptr && !settings.cost_model) {
        settings.cost_model = entry->model;
    }
    if (entry == nullptr && settings.tuning_file != nullptr && job.rank() == 0 && job.ranks() > 1) {
        log_warning(LogTopic::choice, [&] {
            return "the tuning file " + settings.tuning + " is not for this job (" +
                   tuning_key(settings, torus).text() +
                   "), so the cost model chooses; it has: " + settings.tuning_file->keys_text();
        });
    }
}

}  // namespace

void complete(Settings& settings, const Job& job, const Torus& torus) {
    if (settings.backend.empty()) {
        settings.backend = default_transport(job.shares_memory()).name;
    }
    tune(settings, job, torus);
    const Transport* const transport = registered_transport(settings.backend);
    if (settings.direct_from == ~std::size_t{0} && transport != nullptr) {
        settings.direct_from = transport->direct_from;
    }
    const bool by_stores = transport != nullptr && transport->puts_by_stores;
    settings.cost_model = model_of_job(settings.cost_model, by_stores, job.most_ranks_per_core());
}

bool offers_single_copy(const Settings& settings) {
    const Transport* const transport = registered_transport(settings.backend);
    return transport != nullptr && transport->single_copy;
}

}  // namespace trefoil
