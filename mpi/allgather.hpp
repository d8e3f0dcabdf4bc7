// SPDX-License-Identifier: BSD-3-Clause
// The few exchanges of the MPI below by which ranks set up Trefoil, and come together after they
// have made different calls. Every wait has a deadline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "mpi/api.hpp"

namespace trefoil::mpi {

/// This thread is in one of these functions: its call is not the program's.
bool is_own_call();

/// Waits until `over`(), which lets MPI go on, is true; false when the layer's patience is at an
/// end. `when_late` is called once if that takes longer than ranks need that are in the same call.
bool wait_until(const std::function<bool()>& over, const std::function<void()>& when_late = {});

/// Waits for `request`; false: it has failed, or takes too long. The request and its buffers must
/// be left alone then.
bool complete(MPI_Request& request, const std::function<void()>& when_late = {});

/// The greatest of all ranks' numbers, place by place. False: not all ranks came in time.
bool greatest(MPI_Comm comm, std::span<std::uint64_t> numbers);

/// What ranks exchange something for. The component's messages of one purpose never meet those of
/// another: there a rank may be in a call more, or less, than the others.
enum class Purpose : std::uint8_t { threaded_creation, serial_creation, meeting, presence };

/// As trefoil_allgather_fn wants it. By a collective of MPI's under a layer, by messages in the
/// component.
int allgather(MPI_Comm comm, Purpose purpose, const void* mine, void* all, std::size_t bytes,
              const std::function<void()>& when_late = {});

/// How many calls that do not block the MPI below has had on `comm`, where it tells calls apart by
/// that; else 0. A rank that has made one more alone would never find the others again.
std::int64_t calls_of_mpi(MPI_Comm comm);
void set_calls_of_mpi(MPI_Comm comm, std::int64_t calls);

}  // namespace trefoil::mpi
