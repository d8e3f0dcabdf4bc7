// SPDX-License-Identifier: BSD-3-Clause
// How a collective call goes: it blocks, or a request stands for it.
#pragma once

#include <cstdint>

#include "trefoil/trefoil.h"

namespace trefoil::mpi {

enum class Way : std::uint8_t { blocking, nonblocking, persistent };
inline constexpr std::size_t ways = 3;

/// The way of a call to Trefoil, and the place of its request, if it has one.
struct Form {
    Way way = Way::blocking;
    trefoil_request_t* request = nullptr;

    /// Calls that of the three functions of a collective which fits.
    template <typename Blocking, typename Nonblocking, typename Persistent, typename... Arguments>
    trefoil_status_t call(Blocking* blocking, Nonblocking* nonblocking, Persistent* persistent,
                          Arguments... arguments) const {
        switch (way) {
            case Way::nonblocking:
                return nonblocking(arguments..., request);
            case Way::persistent:
                return persistent(arguments..., request);
            default:
                return blocking(arguments...);
        }
    }
};

/// The three functions of a collective of Trefoil's. A macro, because it makes names.
#define TREFOIL_MPI_FORMS(name) trefoil_##name, trefoil_i##name, trefoil_##name##_init

}  // namespace trefoil::mpi
