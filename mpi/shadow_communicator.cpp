// SPDX-License-Identifier: BSD-3-Clause
// Making a Trefoil communicator out of an MPI communicator.
#include "mpi/shadow_communicator.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "mpi/allgather.hpp"
#include "mpi/layer.hpp"
#include "mpi/report.hpp"
#include "mpi/torus_choice.hpp"

namespace trefoil::mpi {

namespace {

/// Only the ranks of one MPI_COMM_WORLD have compared their settings, and surely have the layer.
/// All ranks see the same: each sees those of the other world, if there are two.
bool within_this_world(MPI_Comm comm, int ranks) {
    MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    std::vector<int> here(static_cast<std::size_t>(ranks)), there(here);
    std::iota(here.begin(), here.end(), 0);
    PMPI_Group_translate_ranks(group, ranks, here.data(), world, there.data());
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return std::find(there.begin(), there.end(), MPI_UNDEFINED) == there.end();
}

}  // namespace

ShadowCommunicator::ShadowCommunicator(MPI_Comm comm) : comm_(comm) {
    int between = 0, ranks = 0;
    PMPI_Comm_test_inter(comm, &between);
    PMPI_Comm_size(comm, &ranks);
    PMPI_Comm_rank(comm, &rank_);
    ranks_ = static_cast<std::size_t>(ranks);
    if (between != 0) {
        reason_ = Reason::intercommunicator;
    } else if (ranks == 1) {
        reason_ = Reason::one_rank;
    } else if (!within_this_world(comm, ranks)) {
        reason_ = Reason::several_worlds;
    }
}

ShadowCommunicator::~ShadowCommunicator() {
    trefoil_comm_destroy(threaded_);
    trefoil_comm_destroy(serial_);
    if (never_ != MPI_REQUEST_NULL) {
        PMPI_Cancel(&never_);
        PMPI_Wait(&never_, MPI_STATUS_IGNORE);
    }
}

// Testing a request that cannot complete lets MPI work; probing for a message would not, while
// there is one. An MPI call that waits here could be what a peer needs to come to the collective.
void ShadowCommunicator::progress_callback(void* self) {
    int done = 0;
    PMPI_Test(&static_cast<ShadowCommunicator*>(self)->never_, &done, MPI_STATUS_IGNORE);
}

/// Before each allgather of a creation, and after the last, all ranks tell whether they still go
/// on: a rank that failed on its own would leave the others waiting for it. If one does not go on,
/// all learn from it why.
bool ShadowCommunicator::all_succeed(const char* own_failure) {
    std::array<std::uint64_t, 1> failed{own_failure == nullptr ? 0U : 1U};
    if (!greatest(comm_, failed)) {
        failure_text_ = "not all ranks of this communicator came to set up Trefoil in time";
        return false;
    }
    if (failed[0] == 0) {
        return true;
    }
    constexpr std::size_t length = 256;
    std::vector<char> mine(length), all(length * ranks_);
    std::strncpy(mine.data(), own_failure == nullptr ? "" : own_failure, length - 1);
    allgather(comm_, mine.data(), all.data(), length);
    for (std::size_t r = 0; r < ranks_; ++r) {
        if (all[r * length] != '\0') {
            failure_text_ = "rank " + std::to_string(r) +
                            " cannot set up its part of this "
                            "communicator: " +
                            &all[r * length];
            break;
        }
    }
    return false;
}

int ShadowCommunicator::gather_callback(const void* mine, void* all, std::size_t bytes,
                                        void* self) {
    auto* const me = static_cast<ShadowCommunicator*>(self);
    if (me->creating_ && !me->all_succeed(nullptr)) {
        me->failure_ = TREFOIL_ERROR_SYSTEM;
        return MPI_ERR_OTHER;
    }
    return allgather(me->comm_, mine, all, bytes);
}

trefoil_comm_t ShadowCommunicator::create(bool serial, trefoil_comm_t& made) {
    if (failure_ != TREFOIL_SUCCESS) {
        return nullptr;
    }
    if (never_ == MPI_REQUEST_NULL) {
        PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, 0, layer.alone, &never_);
    }
    const TorusChoice choice = torus_of(comm_);
    trefoil_config_t config = TREFOIL_CONFIG_INITIALIZER;
    config.rank = rank_;
    config.ranks = static_cast<int>(ranks_);
    config.allgather = &gather_callback;
    config.progress = &progress_callback;
    config.context = this;
    config.torus = choice.torus.empty() ? nullptr : choice.torus.c_str();
    config.port_threads = serial ? -1 : 0;
    creating_ = true;
    const trefoil_status_t status = trefoil_comm_create(&config, &made);
    creating_ = false;
    // Unless an allgather has told already.
    if (failure_ == TREFOIL_SUCCESS &&
        !all_succeed(status == TREFOIL_SUCCESS ? nullptr : trefoil_last_error(nullptr))) {
        failure_ = TREFOIL_ERROR_SYSTEM;
    }
    if (failure_ != TREFOIL_SUCCESS) {
        trefoil_comm_destroy(made);
        made = nullptr;
    } else if (layer.reports && !serial) {
        note_shadow(made, choice.source);
    }
    return made;
}

}  // namespace trefoil::mpi
