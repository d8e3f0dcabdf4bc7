// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking collectives of the MPI below, because a blocking one would wait for ever for a rank
// that has failed. They stand in the place of the user's call, so their order is that of the calls.
#include "mpi/allgather.hpp"

#include <sched.h>

#include <cstring>
#include <memory>

#include "mpi/layer.hpp"

namespace trefoil::mpi {

namespace {

[[gnu::tls_model("initial-exec")]] thread_local bool own_call = false;

/// What `begin()` returns.
template <typename Begin>
int begin_own(Begin&& begin) {
    own_call = true;
    const int code = begin();
    own_call = false;
    return code;
}

}  // namespace

bool is_own_call() {
    return own_call;
}

bool wait_until(const std::function<bool()>& over, const std::function<void()>& when_late) {
    constexpr std::chrono::milliseconds soon{200};
    const auto begin = std::chrono::steady_clock::now();
    const auto deadline = begin + layer.patience;
    bool late = false;
    while (!over()) {
        const auto now = std::chrono::steady_clock::now();
        if (!late && when_late && now > begin + soon) {
            late = true;
            when_late();
        }
        if (now > deadline) {
            return false;
        }
        sched_yield();
    }
    return true;
}

bool complete(MPI_Request& request, const std::function<void()>& when_late) {
    bool good = true;
    const auto over = [&] {
        int done = 0;
        good = PMPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS;
        return !good || done != 0;
    };
    return wait_until(over, when_late) && good;
}

bool greatest(MPI_Comm comm, std::span<std::uint64_t> numbers) {
    const std::size_t bytes = numbers.size_bytes();
    // Both halves live on the heap: after a time-out MPI still knows them, and they are given up.
    auto buffers = std::make_unique<std::uint64_t[]>(2 * numbers.size());
    std::memcpy(buffers.get(), numbers.data(), bytes);
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = begin_own([&] {
        return PMPI_Iallreduce(buffers.get(), buffers.get() + numbers.size(),
                               static_cast<int>(numbers.size()), MPI_UINT64_T, MPI_MAX, comm,
                               &request);
    });
    const bool done = code == MPI_SUCCESS && complete(request);
    if (!done) {
        static_cast<void>(buffers.release());
        return false;
    }
    std::memcpy(numbers.data(), buffers.get() + numbers.size(), bytes);
    return true;
}

}  // namespace trefoil::mpi
