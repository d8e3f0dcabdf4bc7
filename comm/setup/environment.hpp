// SPDX-License-Identifier: BSD-3-Clause
// The one table of environment variables, and the settings of a communicator read through it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/bootstrap/launcher.hpp"
#include "backend/faults/fault_plan.hpp"
#include "comm/setup/cost_settings.hpp"
#include "comm/setup/tuning.hpp"
#include "threads/workers/waiting.hpp"
#include "topo/error.hpp"
#include "topo/log/log_request.hpp"
#include "topo/torus.hpp"

namespace trefoil {

struct Settings;

/// A row of the table: all that there is to know of a variable.
struct EnvironmentVariable {
    std::string_view name;
    std::string_view type;           ///< "count", "seconds", "bytes", "name", "torus", ...
    std::string_view default_value;  ///< as text; what happens when it is not set
    std::string_view help;
    /// Makes it a setting; throws Error(invalid_argument). Null: it is read elsewhere, such as what
    /// says how ranks meet, which is read first.
    void (*read)(const char* name, Settings& settings) = nullptr;
    /// What ranks compare; empty: the default. Null: each rank may have its own, or it is compared
    /// elsewhere, such as the torus.
    std::string (*compared)(const Settings& settings) = nullptr;
};

/// Every variable that Trefoil reads, in the order in which they are explained to users.
std::span<const EnvironmentVariable> environment_variables();

/// Variables ("TREFOIL_...") and options of the command ("--...") that go by another name now.
std::vector<std::string_view> old_names();
/// Throws Error(invalid_argument) that tells the new name of an old one.
void refuse_old_name(std::string_view old_name);

/// One message per TREFOIL_* variable of the environment that does not exist, nor ever did, with
/// the nearest names; and one if the others do not count, as the program must not trust them.
std::vector<std::string> unknown_variables();

/// Who drives the ports: threads that the communicator starts (or the caller, where there are
/// none), threads of the program's OpenMP runtime, or always the caller.
enum class PortThreadsBy : std::uint8_t { dedicated, openmp, caller };

/// What a job knows of the links of its torus: what it was told, what the NICs say besides, or what
/// was measured when the ranks met.
enum class LinksBy : std::uint8_t { given, asked, measured };

/// What a communicator is asked to be. Precedence: the caller's configuration > environment >
/// default.
struct Settings {
    std::optional<Launcher> launcher;  ///< nothing: what the environment indicates
    Rank rank = 0;
    Rank ranks = 0;              ///< 0: not given
    bool place_is_known = true;  ///< false: what was given as rank or ranks makes no sense
    std::string store;
    std::string token;  ///< of the store; a secret
    std::string job = "default";
    std::string torus;                                 ///< "3x3", "2d"; empty: balanced
    std::string torus_source = "balanced by default";  ///< who has said so, for people
    std::string hostfile;                              ///< empty: none. Goes before `torus`
    std::vector<Rank> coordinates;   ///< this rank's, by the caller; goes before `hostfile`
    std::string backend;             ///< empty: memory when all ranks map each other's, else ofi
    std::string provider;            ///< empty: the backend's choice
    std::string algorithm = "auto";  ///< of allreduce, or a list: comm/plan/choices.hpp
    std::optional<CostModel> cost_model;  ///< what auto chooses by; empty: the job's default
    std::string tuning;                   ///< file of what was measured; empty: none
    std::shared_ptr<const TuningFile> tuning_file = {};  ///< read when the ranks meet
    bool learn = false;       ///< calls try algorithms; what they find goes into that file
    Rank ranks_per_node = 0;  ///< the most of any; told when the ranks have met
    bool reproducible = false;
    bool check_calls = false;         ///< all ranks' calls are compared before they run
    bool compare_buffers = true;      ///< of calls in flight
    bool find_node = false;           ///< as TREFOIL_CONFIG_FIND_NODE says
    bool checksums = false;           ///< messages carry the CRC of their bytes
    std::optional<FaultPlan> faults;  ///< injected by this rank, for tests
    bool single_copy = true;  ///< large vectors straight from memory to memory of one host's ranks
    PhaseSync phase_sync = PhaseSync::none;  ///< of alltoall, where the algorithm has it
    std::string nics;
    LinksBy links = LinksBy::given;
    int port_threads = -1;  ///< -1: automatic; 0: the calling thread
    PortThreadsBy port_threads_by = PortThreadsBy::dedicated;
    bool pin = true;
    std::vector<int> pin_cores;  ///< in the order given; empty: any in the mask
    std::chrono::milliseconds timeout{120'000};
    std::chrono::milliseconds stall_warning{10'000};
    bool warns_as_asked = false;                       ///< TREFOIL_STALL_WARN is set
    std::size_t landing_bytes = std::size_t{4} << 20;  ///< per channel, all slots
    std::size_t plan_bytes = std::size_t{16} << 20;    ///< of plans, kept for the next call
    std::size_t segment_bytes = std::size_t{1} << 20;  ///< of the vector
    /// Bytes of the vector from which on messages of persistent calls land in receive buffers.
    /// The largest number: what suits the backend.
    std::size_t direct_from = ~std::size_t{0};
    LogRequest log;
    std::string dump;   ///< a signal that asks what this rank does; empty: none
    std::string tell;   ///< "log" or a file, for the address of who asks; empty: nobody may
    std::string trace;  ///< file of the timeline; empty: none
    std::size_t trace_events = 65536;  ///< that a thread keeps
    Progress progress{};               ///< the caller's
};

/// Reads the environment. Throws Error(invalid_argument) that names variable, value and mend, also
/// for a variable that goes by another name now.
Settings settings_from_environment();
/// The same, but the error is put into `refusal`: a rank that cannot go on has yet to meet the
/// others, who wait for it, and to tell them. What is refused, and what would be read after it, has
/// its default; what says how ranks meet is read first, and each of it.
Settings settings_from_environment(std::optional<Error>& refusal);

/// How a communicator by these settings is to meet the other ranks; `job` names it among the
/// communicators of the process.
LauncherRequest launcher_request(const Settings& settings, const std::string& job = {});

}  // namespace trefoil
