// SPDX-License-Identifier: BSD-3-Clause
// Reads TREFOIL_MPI and its like.
#include "mpi/settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "mpi/component_slots.h"
#include "mpi/layer.hpp"
#include "mpi/operations.hpp"
#include "mpi/types.hpp"

namespace trefoil::mpi {

Layer layer;

std::string variable(const char* name) {
    const char* const value = secure_getenv(name);  // null in a set-uid program, as in Trefoil
    return value == nullptr ? "" : value;
}

namespace {

struct TuningRow {
    std::string_view text;
    Tuning tuning;
};
/// In the order of the enumeration.
constexpr std::array<TuningRow, 3> tunings{
    {{"off", Tuning::off}, {"exact", Tuning::exact}, {"all", Tuning::all}}};

/// A variable that is 0 or 1; `problem` says if it is neither.
bool flag(const char* name, std::string& problem) {
    const std::string value = variable(name);
    if (!value.empty() && value != "0" && value != "1") {
        problem = name + ("=" + value) + " is not valid: give 0 or 1";
    }
    return value == "1";
}

}  // namespace

namespace {

/// The packed form that mpi/buffers.cpp relies on.
bool plain_packing() {
    const int numbers[3] = {1, -2, 0x01020304};
    char packed[2 * sizeof numbers] = {};
    int position = 0;
    PMPI_Pack(numbers, 3, MPI_INT, packed, sizeof packed, &position, MPI_COMM_SELF);
    return position == static_cast<int>(sizeof numbers) &&
           std::memcmp(packed, numbers, sizeof numbers) == 0;
}

#if defined(TREFOIL_MPI_COMPONENT)
bool shows_callers() {
    return trefoil_component_sees_callers() != 0;
}
#else
bool shows_callers() {
    return true;
}
#endif

}  // namespace

std::string what_mpi_lacks() {
    return !plain_packing()   ? "its packed form of data has more than the data"
           : !shows_callers() ? "its functions do not show that they call the component"
                              : "";
}

std::string read_settings() {
    std::string problem;
    layer.reports = flag("TREFOIL_MPI_REPORT", problem);
    if (!problem.empty()) {
        return problem;
    }
    const std::string tuning = variable("TREFOIL_MPI_TUNE");
    const auto* const row = std::ranges::find(tunings, tuning, &TuningRow::text);
    if (row == tunings.end() && !tuning.empty()) {
        return "TREFOIL_MPI_TUNE=" + tuning + " is not valid: give off, exact or all";
    }
    layer.tuning = row == tunings.end() ? Tuning::exact : row->tuning;
    const std::string early = variable("TREFOIL_MPI_EARLY");
    layer.asks = early.empty() || early == "auto";
    if (!layer.asks) {
        const auto [end, error] =
            std::from_chars(early.data(), early.data() + early.size(), layer.early_calls);
        if (error != std::errc() || end != early.data() + early.size()) {
            return "TREFOIL_MPI_EARLY=" + early +
                   " is not valid: give auto, or how many small calls of each " +
                   "communicator are left to MPI first, such as 0";
        }
    }
    const double seconds = std::atof(variable("TREFOIL_TIMEOUT").c_str());
    if (seconds > 0 && seconds < 1e6) {  // what is wrong with it Trefoil itself says
        layer.patience = std::chrono::milliseconds(static_cast<long long>(seconds * 1000) + 1);
        layer.has_time_out = true;
    }
    const std::string text = variable("TREFOIL_MPI");
    try {
        layer.switches = Switches(text);
    } catch (const std::invalid_argument& error) {
        return "TREFOIL_MPI=" + text + " is not valid: " + error.what();
    }
    return {};
}

std::string settings_text() {
    const std::string mpi = variable("TREFOIL_MPI");
    return "TREFOIL_MPI=" + (mpi.empty() ? "on" : mpi) +
           " TREFOIL_MPI_REPORT=" + std::to_string(layer.reports) + " TREFOIL_MPI_TUNE=" +
           std::string(tunings[static_cast<std::size_t>(layer.tuning)].text) +
           " TREFOIL_MPI_EARLY=" + (layer.asks ? "auto" : std::to_string(layer.early_calls)) +
           " on one host=" + std::to_string(layer.is_on_one_host) + " version " +
           trefoil_version_string();
}

bool look_at_calls() {
    bool any = false;
    for (std::size_t k = 0; k < kinds; ++k) {
        layer.looks_at[k] = layer.reports || layer.switches.on(static_cast<Kind>(k));
        any = any || layer.looks_at[k];
    }
    if (any) {
        learn_types();
        learn_operations();
    }
    return any;
}

}  // namespace trefoil::mpi
