// SPDX-License-Identifier: BSD-3-Clause
// Where the component keeps shadow communicators: in its modules, one of which each communicator
// has, to its very end. Calls that are MPI's are counted there, too, and need no more than that.
#pragma once

#include <algorithm>
#include <type_traits>

#include "mpi/component_slots.h"
#include "mpi/dispatch.hpp"
#include "mpi/shadow_communicator.hpp"

namespace trefoil::mpi {

using State = struct trefoil_component_state;

inline State& state_of(mca_coll_base_module_t* module) {
    return *trefoil_component_state(module);
}

inline CallRecord& record_of(State& state) {
    static_assert(sizeof(CallRecord) == sizeof state.record && std::is_trivial_v<CallRecord>);
    return *reinterpret_cast<CallRecord*>(state.record);
}

inline void reap_if_parked() {
    if (any_shadow_parked.load(std::memory_order_relaxed)) [[unlikely]] {
        reap_shadows();
    }
}

inline ShadowCommunicator* shadow_of(mca_coll_base_module_t* module, MPI_Comm comm) {
    State& state = state_of(module);
    if (state.shadow == nullptr) {
        state.shadow = make_shadow(comm, &record_of(state));
    }
    return static_cast<ShadowCommunicator*>(state.shadow);
}

/// What a call that needed no shadow has returned to MPI, which is going to report it.
inline int returned(mca_coll_base_module_t* module, MPI_Comm comm, int code) {
    if (code != MPI_SUCCESS) [[unlikely]] {
        shadow_of(module, comm)->returns_error();
    }
    return code;
}

/// A call is MPI's and needs no shadow: one of the first ones, or one like those that were left to
/// MPI before, here or, as many communicators live for a call or two, on others. True: it is
/// counted.
template <typename Call, typename... Arguments>
bool needs_no_shadow(State& state, MPI_Comm comm, Way way, Arguments... arguments) {
    reap_if_parked();
    CallRecord& record = record_of(state);
    const std::uint64_t number = record.number + 1;
    const bool has_shadow = state.shadow != nullptr;
    if (way == Way::blocking && has_shadow && number >= record.next_agreement) {
        return false;
    }
    constexpr bool by_size = goes_by_size(Call::kind);
    const std::uint64_t early =
        std::max(layer.early_calls, way == Way::blocking ? record.refused : 0);
    bool is_mpis = (way == Way::nonblocking || !by_size) && !layer.reports && number <= early;
    if constexpr (has_mark<Call::kind, Arguments...>) {
        if (!is_mpis && (way == Way::nonblocking || by_size)) {
            const auto marked = [&](std::size_t ranks) {
                return mark_of<Call::kind>(way, ranks, arguments...);
            };
            is_mpis = record.kept.has(marked(0), number);
            if (!is_mpis && !has_shadow) {
                const auto ranks = static_cast<std::size_t>(trefoil_component_ranks(comm));
                is_mpis = KeptByArguments::has(marked(ranks), number);
            }
        }
    }
    record.number += is_mpis ? 1 : 0;
    return is_mpis;
}

}  // namespace trefoil::mpi
