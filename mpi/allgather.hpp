// SPDX-License-Identifier: BSD-3-Clause
// The few collectives of the MPI below by which ranks set up Trefoil. Every wait has a deadline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "mpi/api.hpp"

namespace trefoil::mpi {

/// This thread is in one of these functions: its call is not the program's.
bool is_own_call();

/// Waits for `request`, letting MPI go on; false when the layer's patience is at an end. The
/// request and its buffers must be left alone then.
bool complete(MPI_Request& request);
/// `when_late` is called once if that takes longer than ranks need that are in the same call.
bool complete(MPI_Request& request, const std::function<void()>& when_late);

/// The greatest of all ranks' numbers, place by place. False: not all ranks came in time.
bool greatest(MPI_Comm comm, std::span<std::uint64_t> numbers);

/// As trefoil_allgather_fn wants it.
int allgather(MPI_Comm comm, const void* mine, void* all, std::size_t bytes,
              const std::function<void()>& when_late = {});

}  // namespace trefoil::mpi
