// SPDX-License-Identifier: BSD-3-Clause
// `trefoil info --job`: what all ranks of a running job do, and whom they wait for in the end.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace trefoil::tool {

/// Asks every rank that the rank at `where` knows: "127.0.0.1:40123/KEY", or a file that has it
/// (TREFOIL_TELL). By rank, what it says (comm/status/report.hpp); of one that does not answer its
/// "rank", "address" and an "error". Takes some seconds at most. Throws Error where not even the
/// first one answers.
nlohmann::ordered_json ask_job(const std::string& where);

/// Of each communicator in which ranks wait: who holds all others up, as far as it can be said.
/// Pure. `answers` as ask_job() returns them. A list of objects: "communicator" (its number),
/// "rank" (of the job; -1: nobody alone), "held_up" (how many ranks wait for it, also by way of
/// others), "text".
nlohmann::ordered_json culprits(const nlohmann::ordered_json& answers);

void print_job(const nlohmann::ordered_json& answers);

}  // namespace trefoil::tool
