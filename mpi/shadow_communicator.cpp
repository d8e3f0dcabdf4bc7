// SPDX-License-Identifier: BSD-3-Clause
// Making a Trefoil communicator out of an MPI communicator.
#include "mpi/shadow_communicator.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "mpi/allgather.hpp"
#include "mpi/component_slots.h"
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

/// Where several threads may call MPI, calls on several duplicates may begin at the same time.
bool several_threads() {
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    return level >= MPI_THREAD_MULTIPLE;
}

trefoil_comm_t original_of_world() {
    const ShadowCommunicator* const world = shadow_of_world();
    return world != nullptr ? world->original() : nullptr;
}

}  // namespace

ShadowCommunicator::ShadowCommunicator(MPI_Comm comm, CallRecord* record)
    : comm_(comm),
      own_record_(record == nullptr ? std::make_unique<CallRecord>() : nullptr),
      record_(record == nullptr ? own_record_.get() : record) {
    record_->next_agreement = ~std::uint64_t{0};
    int between = 0, ranks = 0;
    PMPI_Comm_test_inter(comm, &between);
    PMPI_Comm_size(comm, &ranks);
    PMPI_Comm_rank(comm, &rank_);
    ranks_ = static_cast<std::size_t>(ranks);
    if (between != 0) {
        reason_ = Reason::intercommunicator;
    } else if (ranks == 1) {
        reason_ = Reason::one_rank;
    }
}

bool ShadowCommunicator::is_of_this_world() {
    if (!of_this_world_) {
        of_this_world_ = within_this_world(comm_, static_cast<int>(ranks_));
        if (!*of_this_world_) {
            reason_ = Reason::several_worlds;
        }
    }
    return *of_this_world_;
}

ShadowCommunicator::~ShadowCommunicator() {
    trefoil_comm_destroy(original_);
    trefoil_comm_destroy(threaded_);
    trefoil_comm_destroy(serial_);
    if (never_ != MPI_REQUEST_NULL) {
        PMPI_Cancel(&never_);
        PMPI_Wait(&never_, MPI_STATUS_IGNORE);
    }
}

std::size_t ShadowCommunicator::neighbours() const {
    if (!cartesian_) {
        const std::vector<int> sizes = periodic_sizes(comm_);
        // Where both neighbours of a dimension are one rank, the MPIs differ in which of its two
        // messages is which, and Open MPI's calls that block from those that do not.
        const bool none = std::ranges::any_of(sizes, [](int size) { return size < 3; });
        cartesian_ = none ? std::vector<int>() : sizes;
    }
    return 2 * cartesian_->size();
}

bool ShadowCommunicator::has_torus_of(trefoil_comm_t comm) const {
    std::array<int, 64> sizes{};
    int dimensions = 0;
    trefoil_comm_torus(comm, &dimensions, sizes.data(), static_cast<int>(sizes.size()));
    return std::ranges::equal(std::span(sizes).first(neighbours() / 2), *cartesian_) &&
           2 * static_cast<std::size_t>(dimensions) == neighbours();
}

/// An error, of a peer that is lost, is an end, too.
bool ShadowCommunicator::has_ended(End end) {
    if (in_flight != nullptr && !in_flight->all_over(end == End::of_mpi)) {
        return false;
    }
    if (!ending_) {
        ending_ = true;
        bool under_way = false;
        const trefoil_comm_t made[2] = {threaded_, serial_};
        for (int i = 0; i < 2; ++i) {
            if (made[i] != nullptr && trefoil_ibarrier(made[i], &ends_[i]) == TREFOIL_SUCCESS) {
                under_way = true;
            }
        }
        return !under_way;
    }
    int done = 0;
    if (trefoil_testall(2, ends_, &done) == TREFOIL_SUCCESS && done == 0) {
        return false;
    }
    // Peers may still owe an answer to this rank's last words, or wait for one. A few more looks on
    // both sides give them; destroying without would wait for them, for 50 ms at most.
    for (const trefoil_comm_t comm : {threaded_, serial_}) {
        if (comm != nullptr) {
            trefoil_progress(comm);
        }
    }
    return end != End::in_no_haste || ++last_looks_ >= looks_at_the_end;
}

thread_local bool ShadowCommunicator::NoProgress::here = false;
thread_local bool ShadowCommunicator::waits_ = false;

namespace {

#if defined(TREFOIL_MPI_COMPONENT)
void let_mpi_go_on(MPI_Request*) {
    trefoil_component_let_mpi_go_on();
}
#else
// Testing a request that cannot complete lets MPI work, where no function of its own is at hand;
// probing for a message would not, while there is one. An MPI call that waits here could be what a
// peer needs to come to the collective.
void let_mpi_go_on(MPI_Request* never) {
    int done = 0;
    PMPI_Test(never, &done, MPI_STATUS_IGNORE);
}
#endif

// Where a look after a sleep takes longer than one in vain, MPI has had something to do, and more
// may follow: a peer that sends, puts or gets waits for each answer before it goes on, perhaps on
// this core. Trefoil would sleep between two of them. MPI itself does not tell.
void serve_mpi(MPI_Request* never) {
    using Clock = std::chrono::steady_clock;
    using std::chrono::microseconds;
    constexpr microseconds sleep(50), longest(500);
    constexpr int most_in_vain = 8;
    thread_local Clock::time_point last_look;
    thread_local Clock::duration look_in_vain = microseconds(1);
    const Clock::time_point begin = Clock::now();
    if (begin - std::exchange(last_look, begin) < sleep) {
        let_mpi_go_on(never);
        return;
    }
    int in_vain = most_in_vain - 1;
    while (in_vain < most_in_vain && last_look - begin < longest) {
        let_mpi_go_on(never);
        const auto took = Clock::now() - last_look;
        look_in_vain = std::min(look_in_vain + std::chrono::nanoseconds(1), took);
        if (took > 4 * look_in_vain) {
            in_vain = 0;
        } else if (++in_vain < most_in_vain) {
            sched_yield();
        }
        last_look = Clock::now();
    }
}

}  // namespace

// Under the component that of MPI_COMM_WORLD, whose duplicates it serves too, may have gone before
// them.
void ShadowCommunicator::progress(ShadowCommunicator* self) {
    serve_mpi(is_component ? nullptr : &self->never_);
}

void ShadowCommunicator::progress_callback(void* self) {
    if (!NoProgress::here) {
        const bool outer = std::exchange(waits_, true);
        progress(static_cast<ShadowCommunicator*>(self));
        waits_ = outer;
    }
}

/// Alike on all ranks, as failure_ is; but where ranks have waited for each other in vain, it is
/// not.
void ShadowCommunicator::leave_to_mpi() {
    if (failure_ == TREFOIL_ERROR_TIMEOUT || failure_ == TREFOIL_ERROR_PEER_LOST) {
        return;
    }
    reason_ = Reason::not_set_up;
    static std::atomic_flag said;
    const bool first = rank_ == 0 && !said.test_and_set();
    say(first ? TREFOIL_LOG_WARNING : TREFOIL_LOG_INFO,
        "MPI runs the collectives of a communicator of " + std::to_string(ranks_) +
            " ranks, as Trefoil cannot: " + failure_text_ +
            (first ? "; TREFOIL_LOG=info,mpi shows further ones" : ""));
}

/// Where a rank is missing, the trials go on.
void ShadowCommunicator::agree_on_trials() {
    const bool is_due = trials_->is_due(calls(), adopted_at_);
    record_->next_agreement = trials_->next_agreement();
    if (!is_due || is_in_doubt()) {
        return;
    }
    std::array<std::uint64_t, 2 * Trials::cells> times{};
    trials_->tell(times);
    if (!greatest(comm_, times)) {
        return;
    }
    trials_->decide(times);
#if defined(TREFOIL_MPI_COMPONENT)
    for (const KindTraits& row : kind_rows) {
        if (!layer.reports && !goes_by_size(row.kind) && trials_->are_lost(row.kind) &&
            trefoil_component_give_back(comm_, index(row.kind)) != 0) {  // slots of blocking calls
            given_back_ |= 1U << index(row.kind);
        }
    }
#endif
}

/// A rank that does not come in time is waited for once more in the set-up, which reports it.
bool ShadowCommunicator::ask_for_adoption() {
    const bool affords = in_use() || layer.budget.affords_another(Budget::Clock::now());
    std::array<std::uint64_t, 1> refusals{affords ? 0U : 1U};
    if (greatest(comm_, refusals) && refusals[0] != 0) {
        record_->refused = 2 * calls();
        return false;
    }
    is_adopted_ = true;
    adopted_at_ = std::max(calls(), layer.early_calls);
    record_->refused = 0;
    record_->kept = {};  // the early calls are over, and a rank may have marks that another lacks
    return true;
}

Creation ShadowCommunicator::plan_creation(bool serial, bool waits) {
    if (!is_component && never_ == MPI_REQUEST_NULL) {
        PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, 0, layer.alone, &never_);
    }
    TorusChoice choice = torus_of(comm_);
    torus_source_ = std::move(choice.source);
    const bool is_of_world = is_component && !serial && choice.is_of_world;
    const bool may_duplicate = is_of_world && comm_ != MPI_COMM_WORLD;
    // After a wrong call some ranks may wait, and others not. Those alone who wait can be sure that
    // all of a rank's creations are in one order.
    const bool duplicates = may_duplicate && waits && !several_threads();
    return {.rank = rank_,
            .ranks = static_cast<int>(ranks_),
            .torus = std::move(choice.torus),
            .find_node = choice.cartesian,
            .serial = serial,
            .of_world = is_of_world && comm_ == MPI_COMM_WORLD,
            .may_duplicate = may_duplicate,
            .original = duplicates ? original_of_world() : nullptr,
            .progress = &progress_callback,
            .context = this};
}

void ShadowCommunicator::adopt(const Created& created, const Creation& creation) {
    (creation.serial ? serial_ : threaded_) = created.comm;
    original_ = original_ != nullptr ? original_ : created.original;
    if (created.comm == nullptr) {
        failure_ = created.outcome.status;
        failure_text_ = created.outcome.text;
        leave_to_mpi();
    } else if (layer.reports && !creation.serial) {
        note_shadow(created.comm, torus_source_);
    }
}

trefoil_comm_t ShadowCommunicator::create_now(bool serial) {
    if (failure_ != TREFOIL_SUCCESS) {
        return nullptr;
    }
    const auto begin = Budget::Clock::now();
    const Creation creation = plan_creation(serial, true);
    const auto purpose = serial ? Purpose::serial_creation : Purpose::threaded_creation;
    adopt(create(creation,
                 [&](const void* mine, void* all, std::size_t bytes) {
                     return allgather(comm_, purpose, mine, all, bytes);
                 }),
          creation);
    // What takes longer has waited for a rank that was late.
    constexpr Budget::Clock::duration longest = std::chrono::milliseconds(100);
    layer.budget.spend(std::min(Budget::Clock::now() - begin, longest));
    return communicator(serial);
}

}  // namespace trefoil::mpi
