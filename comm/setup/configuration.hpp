// SPDX-License-Identifier: BSD-3-Clause
// The settings of a job: compared among its ranks, and completed where they leave something open.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "comm/setup/environment.hpp"
#include "comm/setup/job.hpp"
#include "comm/setup/torus_map.hpp"
#include "topo/host_file.hpp"

namespace trefoil {

/// The settings that must be equal on all ranks, in words. Throws what torus_named() throws.
std::string text_to_compare(const Settings& settings, const std::optional<HostFile>& host_file,
                            Rank ranks);

/// Whether the places of the nodes in the machine may decide about the torus. Alike on all ranks;
/// loads no library.
bool asks_for_places(const Settings& settings, const Job& job);
/// Where this process's node lies, as a blob; empty where no transport knows it.
std::string place_in_machine(const Settings& settings);
std::vector<Rank> decode_place(const std::string& bytes);

/// In the documented order: the caller, a host file, TREFOIL_TORUS, what the transport knows of the
/// machine, a balanced torus. Throws what coordinates_by_host() throws.
TorusRequest torus_request(const Settings& settings, const std::optional<HostFile>& host_file,
                           const Job& job);

/// Which entry of a tuning file is for a torus of this job, once its settings are complete.
TuningKey tuning_key(const Settings& settings, const Torus& torus);
/// The entry of the tuning file for a torus of this job; null: there is no file, or none in it.
const TuningEntry* tuned_for(const Settings& settings, const Torus& torus);

/// Decides what nobody asked for: the backend, and the model that `auto` goes by, from the tuning
/// file where it has an entry for the job on this torus. Alike on all ranks.
void complete(Settings& settings, const Job& job, const Torus& torus);

/// Whether the backend may let ranks get at each other's memory; the port groups tell of whom.
bool offers_single_copy(const Settings& settings);

}  // namespace trefoil
