// SPDX-License-Identifier: BSD-3-Clause
// The component's beginning and end.
#include "mpi/component/dispatch_jobs.hpp"
#include "mpi/component/shadows.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace trefoil::mpi {

namespace {

#define TREFOIL_NAME_OF_SLOT(name) #name,
constexpr std::string_view slot_names[] = {TREFOIL_COMPONENT_SLOTS(TREFOIL_NAME_OF_SLOT)};
#undef TREFOIL_NAME_OF_SLOT

constexpr bool slots_are_kinds() {
    for (const KindTraits& row : kind_rows) {
        if (slot_names[slot_of(row.kind, Way::blocking)] != row.name) {
            return false;
        }
    }
    return std::size(slot_names) == kinds;
}
static_assert(slots_are_kinds(), "the slots are the collectives, in their order");

/// The collective by the name of MPI's function, which more words may follow, and whether it is the
/// one that blocks. None: it is not looked at.
std::optional<std::pair<Kind, bool>> looked_at(std::string_view function) {
    function = function.substr(0, function.find(':'));
    std::string name(function.substr(std::min(function.find('_') + 1, function.size())));
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    std::string_view rest = name;
    if (rest.ends_with("_init")) {
        rest.remove_suffix(5);
    }
    for (const KindTraits& row : kind_rows) {
        if (layer.looks_at[index(row.kind)] &&
            (rest == row.name || (rest.starts_with('i') && rest.substr(1) == row.name))) {
            return std::pair(row.kind, name == row.name);
        }
    }
    return std::nullopt;
}

}  // namespace

ShadowCommunicator* shadow_of_world() {
    mca_coll_base_module_t* const module = trefoil_component_module(MPI_COMM_WORLD);
    return module == nullptr ? nullptr : static_cast<ShadowCommunicator*>(state_of(module).shadow);
}

}  // namespace trefoil::mpi

using namespace trefoil::mpi;

void trefoil_component_start() {
    layer.is_on_one_host = trefoil_component_is_on_one_host() != 0;
    start();
}

void trefoil_component_end_shadow(void* shadow) {
    end_shadow(static_cast<ShadowCommunicator*>(shadow));
}

void trefoil_component_reports(MPI_Comm comm, int code, const char* function) {
    const auto called = looked_at(function);
    if (is_own_call() || !called) {
        return;
    }
    int error_class = MPI_SUCCESS;
    PMPI_Error_class(code, &error_class);
    if (error_class == MPI_ERR_COMM) {  // reported to MPI_COMM_WORLD
        stray_calls.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    mca_coll_base_module_t* const module = trefoil_component_module(comm);
    if (module == nullptr) {
        return;
    }
    ShadowCommunicator* const shadow = shadow_of(module, comm);
    const auto [kind, blocks] = *called;
    const bool is_mpis =
        shadow->reason() != Reason::none || (blocks && shadow->has_given_back(kind));
    if (!is_mpis && !shadow->has_returned_error()) {
        shadow->count_call();
        shadow->left_alone();
    }
}

/// One series: the structures that components share change between them.
int trefoil_component_fits() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    PMPI_Get_library_version(text, &length);
    const std::string series = "Open MPI v" + std::to_string(OMPI_MAJOR_VERSION) + "." +
                               std::to_string(OMPI_MINOR_VERSION) + ".";
    return std::string_view(text).starts_with(series) ? 1 : 0;
}
