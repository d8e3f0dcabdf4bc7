// SPDX-License-Identifier: BSD-3-Clause
// Where the shadow communicators are: attributes of their communicators, and a list for the end.
#include <mutex>
#include <set>

#include "mpi/allgather.hpp"
#include "mpi/shadow_communicator.hpp"

namespace trefoil::mpi {

std::atomic<std::uint64_t> ended_shadows{0};

namespace {

std::mutex list_mutex;  // nothing else is locked, and MPI is not called, while it is held
std::set<ShadowCommunicator*> list;

/// MPI calls it when a communicator ends, by whatever call and language. It must not wait for other
/// ranks: Open MPI holds a lock of all attributes meanwhile.
int end_shadow(MPI_Comm, int, void* value, void*) {
    auto* const shadow = static_cast<ShadowCommunicator*>(value);
    ended_shadows.fetch_add(1, std::memory_order_acq_rel);
    {
        const std::lock_guard lock(list_mutex);
        list.erase(shadow);
    }
    delete shadow;
    return MPI_SUCCESS;
}

/// A copy of a communicator begins without a shadow.
int& keyval() {
    static int made = [] {
        int value = MPI_KEYVAL_INVALID;
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_shadow, &value, nullptr);
        return value;
    }();
    return made;
}

ShadowCommunicator* find(MPI_Comm comm) {
    void* value = nullptr;
    int found = 0;
    const int code = PMPI_Comm_get_attr(comm, keyval(), &value, &found);
    return code == MPI_SUCCESS && found != 0 ? static_cast<ShadowCommunicator*>(value) : nullptr;
}

}  // namespace

ShadowCommunicator* find_or_make_shadow(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) {
        return nullptr;
    }
    void* value = nullptr;
    int found = 0;
    if (PMPI_Comm_get_attr(comm, keyval(), &value, &found) != MPI_SUCCESS) {
        return nullptr;
    }
    if (found != 0) {
        return static_cast<ShadowCommunicator*>(value);
    }
    auto* const made = new ShadowCommunicator(comm);
    {
        const std::lock_guard lock(list_mutex);
        list.insert(made);
    }
    PMPI_Comm_set_attr(comm, keyval(), made);
    return made;
}

void settle(MPI_Comm comm) {
    const ShadowCommunicator* const shadow = comm == MPI_COMM_NULL ? nullptr : find(comm);
    if (shadow != nullptr && shadow->in_use()) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (PMPI_Ibarrier(comm, &request) == MPI_SUCCESS) {
            complete(request);
        }
    }
}

void end_shadows() {
    std::vector<MPI_Comm> comms;
    std::vector<MPI_Request> requests;
    for (const ShadowCommunicator* shadow : list) {  // MPI_Finalize: no other thread is in MPI
        comms.push_back(shadow->comm());
        if (shadow->in_use()) {
            PMPI_Ibarrier(shadow->comm(), &requests.emplace_back(MPI_REQUEST_NULL));
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
