// SPDX-License-Identifier: BSD-3-Clause
// Where the counterparts are: attributes of their communicators, and a list for the end.
#include <mutex>
#include <set>

#include "mpi/counterpart.hpp"
#include "mpi/exchange.hpp"

namespace trefoil::mpi {

std::atomic<std::uint64_t> ended_counterparts{0};

namespace {

std::mutex list_mutex;  // nothing else is locked, and MPI is not called, while it is held
std::set<Counterpart*> list;

/// MPI calls it when a communicator ends, by whatever call and language. It must not wait for other
/// ranks: Open MPI holds a lock of all attributes meanwhile.
int end_counterpart(MPI_Comm, int, void* value, void*) {
    auto* const counterpart = static_cast<Counterpart*>(value);
    ended_counterparts.fetch_add(1, std::memory_order_acq_rel);
    {
        const std::lock_guard lock(list_mutex);
        list.erase(counterpart);
    }
    delete counterpart;
    return MPI_SUCCESS;
}

/// A copy of a communicator begins without a counterpart.
int& keyval() {
    static int made = [] {
        int value = MPI_KEYVAL_INVALID;
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_counterpart, &value, nullptr);
        return value;
    }();
    return made;
}

Counterpart* find(MPI_Comm comm) {
    void* value = nullptr;
    int found = 0;
    const int code = PMPI_Comm_get_attr(comm, keyval(), &value, &found);
    return code == MPI_SUCCESS && found != 0 ? static_cast<Counterpart*>(value) : nullptr;
}

}  // namespace

Counterpart* find_or_make_counterpart(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) {
        return nullptr;
    }
    void* value = nullptr;
    int found = 0;
    if (PMPI_Comm_get_attr(comm, keyval(), &value, &found) != MPI_SUCCESS) {
        return nullptr;
    }
    if (found != 0) {
        return static_cast<Counterpart*>(value);
    }
    auto* const made = new Counterpart(comm);
    {
        const std::lock_guard lock(list_mutex);
        list.insert(made);
    }
    PMPI_Comm_set_attr(comm, keyval(), made);
    return made;
}

void settle(MPI_Comm comm) {
    const Counterpart* const counterpart = comm == MPI_COMM_NULL ? nullptr : find(comm);
    if (counterpart != nullptr && counterpart->in_use()) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (PMPI_Ibarrier(comm, &request) == MPI_SUCCESS) {
            complete(request);
        }
    }
}

void end_counterparts() {
    std::vector<MPI_Comm> comms;
    std::vector<MPI_Request> requests;
    for (const Counterpart* counterpart : list) {  // MPI_Finalize: no other thread is in MPI
        comms.push_back(counterpart->comm());
        if (counterpart->in_use()) {
            PMPI_Ibarrier(counterpart->comm(), &requests.emplace_back(MPI_REQUEST_NULL));
        }
    }
    // All are under way before one is waited for: ranks may have them in different orders.
    for (MPI_Request& request : requests) {
        if (!complete(request)) {
            break;
        }
    }
    for (const MPI_Comm comm : comms) {
        PMPI_Comm_delete_attr(comm, keyval());
    }
    PMPI_Comm_free_keyval(&keyval());
}

}  // namespace trefoil::mpi
