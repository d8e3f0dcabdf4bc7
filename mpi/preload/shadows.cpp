// SPDX-License-Identifier: BSD-3-Clause
// The shadow communicators' attribute, and communicators whose deletion is under way.
#include "mpi/preload/shadows.hpp"

namespace trefoil::mpi {

std::atomic<std::uint64_t> changed_shadows{0};

namespace {

thread_local const Dying* dying = nullptr;

void note_change() {
    changed_shadows.fetch_add(1, std::memory_order_acq_rel);
}

/// MPI calls it when a communicator ends, by whatever call and language.
int delete_attribute(MPI_Comm, int, void* value, void*) {
    note_change();
    end_shadow(static_cast<ShadowCommunicator*>(value));
    return MPI_SUCCESS;
}

/// A copy of a communicator begins without a shadow.
int& shadow_keyval() {
    static int made = [] {
        int value = MPI_KEYVAL_INVALID;
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &value, nullptr);
        return value;
    }();
    return made;
}

ShadowCommunicator* find(MPI_Comm comm) {
    void* value = nullptr;
    int found = 0;
    const int code = PMPI_Comm_get_attr(comm, shadow_keyval(), &value, &found);
    return code == MPI_SUCCESS && found != 0 ? static_cast<ShadowCommunicator*>(value) : nullptr;
}

}  // namespace

ShadowCommunicator* shadow_of_world() {
    return find(MPI_COMM_WORLD);
}

ShadowCommunicator* find_or_make_shadow(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) {
        return nullptr;
    }
    if (Dying::is(comm)) {
        static thread_local ShadowCommunicator of_all_that_die(Reason::going);
        return &of_all_that_die;
    }
    void* value = nullptr;
    int found = 0;
    if (PMPI_Comm_get_attr(comm, shadow_keyval(), &value, &found) != MPI_SUCCESS) {
        return nullptr;
    }
    if (found != 0) {
        return static_cast<ShadowCommunicator*>(value);
    }
    ShadowCommunicator* const made = make_shadow(comm, nullptr);
    PMPI_Comm_set_attr(comm, shadow_keyval(), made);
    return made;
}

Dying::Dying(MPI_Comm comm) : comm_(comm), outer_(dying) {
    dying = this;
    note_change();
}

Dying::~Dying() {
    dying = outer_;
    note_change();
}

bool Dying::is(MPI_Comm comm) {
    const Dying* one = dying;
    while (one != nullptr && one->comm_ != comm) {
        one = one->outer_;
    }
    return one != nullptr;
}

}  // namespace trefoil::mpi
