// SPDX-License-Identifier: BSD-3-Clause
// Making a Trefoil communicator out of an MPI communicator.
#include "mpi/shadow_communicator.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "mpi/allgather.hpp"
#include "mpi/layer.hpp"
#include "mpi/report.hpp"
#include "mpi/torus_choice.hpp"
#include "mpi/words.hpp"

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

bool ShadowCommunicator::begin_end() {
    if (settled_) {
        return true;
    }
    bool under_way = false;
    const trefoil_comm_t made[2] = {threaded_, serial_};
    for (int i = 0; i < 2; ++i) {
        if (made[i] != nullptr && trefoil_ibarrier(made[i], &ends_[i]) == TREFOIL_SUCCESS) {
            under_way = true;
        }
    }
    return !under_way;
}

/// An error, of a peer that is lost, is an end, too.
bool ShadowCommunicator::has_ended() {
    int done = 0;
    return (trefoil_testall(2, ends_, &done) != TREFOIL_SUCCESS) || done != 0;
}

// Testing a request that cannot complete lets MPI work; probing for a message would not, while
// there is one. An MPI call that waits here could be what a peer needs to come to the collective.
void ShadowCommunicator::progress_callback(void* self) {
    int done = 0;
    PMPI_Test(&static_cast<ShadowCommunicator*>(self)->never_, &done, MPI_STATUS_IGNORE);
}

/// Before each allgather of a creation, and after the last, all ranks tell whether they still go
/// on: a rank that failed on its own would leave the others waiting for it. If one does not go on,
/// all learn from it why: failure_ and failure_text_ are then alike on all ranks.
bool ShadowCommunicator::all_succeed(const Outcome& mine) {
    std::array<std::uint64_t, 1> failed{mine.status == TREFOIL_SUCCESS ? 0U : 1U};
    if (!greatest(comm_, failed)) {
        failure_ = TREFOIL_ERROR_TIMEOUT;
        failure_text_ = "not all ranks of this communicator came to set up Trefoil in time";
        return false;
    }
    if (failed[0] == 0) {
        return true;
    }
    struct Told {
        trefoil_status_t status;
        std::array<char, 508> text;
    };
    Told told{mine.status, {}};
    mine.text.copy(told.text.data(), told.text.size() - 1);
    std::vector<Told> all(ranks_);
    failure_ = TREFOIL_ERROR_TIMEOUT;
    failure_text_ = "a rank could not tell the others why it cannot set up Trefoil";
    if (allgather(comm_, &told, all.data(), sizeof told) != MPI_SUCCESS) {
        return false;
    }
    const auto failing =
        std::ranges::find_if(all, [](const Told& one) { return one.status != TREFOIL_SUCCESS; });
    // Who waited for it in vain is not who has failed.
    auto first = std::ranges::find_if(all, [](const Told& one) {
        return one.status != TREFOIL_SUCCESS && one.status != TREFOIL_ERROR_TIMEOUT &&
               one.status != TREFOIL_ERROR_PEER_LOST;
    });
    first = first == all.end() ? failing : first;
    failure_ = first->status;
    failure_text_ = "rank " + std::to_string(first - all.begin()) +
                    " cannot set up its part of this communicator: " + first->text.data();
    return false;
}

/// Only for what a rank lacks: what the user has asked for, and cannot have, stays an error. Alike
/// on all ranks, as failure_ is.
bool ShadowCommunicator::leave_to_mpi() {
    if (failure_ != TREFOIL_ERROR_OUT_OF_MEMORY && failure_ != TREFOIL_ERROR_SYSTEM &&
        failure_ != TREFOIL_ERROR_UNSUPPORTED) {
        return false;
    }
    reason_ = Reason::not_set_up;
    static std::atomic_flag said;
    const bool first = rank_ == 0 && !said.test_and_set();
    say(first ? TREFOIL_LOG_WARNING : TREFOIL_LOG_INFO,
        "MPI runs the collectives of a communicator of " + std::to_string(ranks_) +
            " ranks, as Trefoil cannot: " + failure_text_ +
            (first ? "; further ones are told under TREFOIL_LOG=info,mpi" : ""));
    return true;
}

int ShadowCommunicator::gather_callback(const void* mine, void* all, std::size_t bytes,
                                        void* self) {
    auto* const me = static_cast<ShadowCommunicator*>(self);
    if (me->creating_ && !me->all_succeed({})) {
        return MPI_ERR_OTHER;
    }
    return allgather(me->comm_, mine, all, bytes);
}

/// The program, and the MPI below, get by without Trefoil as long as it leaves them descriptors.
ShadowCommunicator::Outcome ShadowCommunicator::look_at_descriptors() {
    rlimit limit{};
    const int lowest_free = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (lowest_free >= 0) {
        close(lowest_free);
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        (lowest_free >= 0 && static_cast<rlim_t>(lowest_free) < limit.rlim_cur / 4 * 3)) {
        return {};
    }
    return {TREFOIL_ERROR_SYSTEM, "of the descriptors that this process may have (ulimit -n: " +
                                      std::to_string(limit.rlim_cur) +
                                      ") three quarters are in use"};
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
    Outcome mine = look_at_descriptors();
    if (mine.status == TREFOIL_SUCCESS) {
        creating_ = true;
        mine.status = trefoil_comm_create(&config, &made);
        creating_ = false;
        mine.text = mine.status == TREFOIL_SUCCESS ? "" : trefoil_last_error(nullptr);
    }
    if (failure_ == TREFOIL_SUCCESS) {  // else an allgather has told already
        all_succeed(mine);
    }
    if (failure_ != TREFOIL_SUCCESS) {
        trefoil_comm_destroy(made);
        made = nullptr;
        leave_to_mpi();
    } else if (layer.reports && !serial) {
        note_shadow(made, choice.source);
    }
    return made;
}

}  // namespace trefoil::mpi
