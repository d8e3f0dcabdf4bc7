// SPDX-License-Identifier: BSD-3-Clause
// The Trefoil side of an MPI communicator: made at its first call, gone with it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpi/api.hpp"
#include "mpi/block_list.hpp"
#include "mpi/collective_kind.hpp"
#include "mpi/creation.hpp"
#include "mpi/kept_calls.hpp"
#include "mpi/layer.hpp"
#include "mpi/tuning.hpp"
#include "trefoil/trefoil.h"

namespace trefoil::mpi {

/// The calls of a communicator that do not block, where the layer takes such.
class CallsInFlight {
  public:
    virtual ~CallsInFlight() = default;
    /// Waits until all calls that were made before have begun, so that what comes now comes after
    /// them.
    virtual void let_begin() = 0;
    /// No call is under way, and none can be started again; `none_starts`: MPI is ending, so
    /// persistent calls that were not freed are not started any more.
    virtual bool all_over(bool none_starts) const = 0;
};

/// This rank's calls on what is no communicator, since ranks have come together last: which one was
/// meant nobody knew.
extern std::atomic<std::uint64_t> stray_calls;

/// What ranks tell each other of the calls in which they come together.
struct Meeting {
    std::uint64_t kind;   ///< and the root: equal wherever ranks are in one call
    std::uint64_t bytes;  ///< likewise
    bool keeps;           ///< what this rank gives to it has not been overwritten
    bool serial;
};

/// Used by one thread at a time, as MPI wants it of the collectives of a communicator.
class ShadowCommunicator {
  public:
    /// Local. Finds out whether Trefoil can serve this communicator.
    /// `record`: of its calls, where the host keeps that; else null.
    ShadowCommunicator(MPI_Comm comm, CallRecord* record);
    /// Of no communicator: no call is Trefoil's.
    explicit ShadowCommunicator(Reason reason)
        : comm_(MPI_COMM_NULL),
          reason_(reason),
          own_record_(std::make_unique<CallRecord>()),
          record_(own_record_.get()) {}
    /// Local: peers must not need this rank any more.
    ~ShadowCommunicator();
    ShadowCommunicator(const ShadowCommunicator&) = delete;
    ShadowCommunicator& operator=(const ShadowCommunicator&) = delete;

    MPI_Comm comm() const { return comm_; }
    int rank() const { return rank_; }
    std::size_t ranks() const { return ranks_; }
    /// Where reason() has none so far: its ranks are all of one MPI_COMM_WORLD. It takes a while to
    /// find out, so it is asked last; reason() knows it then.
    bool is_of_this_world();
    /// Why no call of this communicator can be Trefoil's, alike on all its ranks; or none.
    Reason reason() const { return reason_.load(std::memory_order_relaxed); }
    /// Of a Cartesian communicator that is a torus, each dimension of size 3 or more: two for each;
    /// else 0. Alike on all ranks.
    std::size_t neighbours() const;
    /// `comm` has that torus.
    bool has_torus_of(trefoil_comm_t comm) const;
    /// A call that failed has ended neither communicator.
    bool goes_on() const {
        return failure_ == TREFOIL_SUCCESS && lives(threaded_) && lives(serial_);
    }
    /// After a call that failed. True: something was found lacking when this communicator was made,
    /// such as descriptors or memory; all ranks leave this call, and all later ones, to MPI.
    bool gives_up() const { return reason() == Reason::not_set_up; }
    /// The host's record goes with its communicator, which this outlives.
    void keep_own_record() {
        if (own_record_ == nullptr) {
            own_record_ = std::make_unique<CallRecord>(*record_);
            record_ = own_record_.get();
        }
    }
    bool in_use() const { return threaded_ != nullptr || serial_ != nullptr; }

    /// Its MPI communicator is going, and nobody may wait: once no call is in flight any more, a
    /// barrier of Trefoil's own begins. True: it is over, peers need this rank no more, and it may
    /// be destroyed. In no haste that is said a little later, when it takes no time; at the end of
    /// MPI persistent calls that were not freed hold up nothing.
    enum class End : std::uint8_t { in_no_haste, soon, of_mpi };
    bool has_ended(End end);

    void let_earlier_calls_begin() {
        if (in_flight != nullptr) {
            in_flight->let_begin();
        }
    }

    /// Collective at first. `serial`: for what must stay in the calling thread. Null: it cannot be,
    /// on any rank, and failure() and failure_text() say why.
    trefoil_comm_t prepare(bool serial) {
        trefoil_comm_t const made = communicator(serial);
        return made != nullptr ? made : create_now(serial);
    }
    /// Null: it was not prepared.
    trefoil_comm_t communicator(bool serial) const { return serial ? serial_ : threaded_; }
    /// Of MPI_COMM_WORLD: what is duplicated for its duplicates; null where there is none, or a
    /// call that failed may have ended what they share.
    trefoil_comm_t original() const { return goes_on() && lives(original_) ? original_ : nullptr; }
    /// The three parts of prepare(), for who does not wait. The first and the last belong to a
    /// thread that may call MPI; the second is create().
    /// `waits`: no other call of this thread's comes before the creation is complete.
    Creation plan_creation(bool serial, bool waits);
    void adopt(const Created& created, const Creation& creation);
    /// While it lives, Trefoil's calls in this thread do not let MPI go on: it may not call MPI, or
    /// has in its hands what MPI would lead back to.
    class NoProgress {
      public:
        NoProgress() : outer_(std::exchange(here, true)) {}
        ~NoProgress() { here = outer_; }
        NoProgress(const NoProgress&) = delete;
        NoProgress& operator=(const NoProgress&) = delete;

      private:
        friend class ShadowCommunicator;
        static thread_local bool here;
        bool outer_;
    };
    /// This thread is in a call of Trefoil's that waits, and MPI goes on meanwhile. It may test
    /// requests and begin calls on other communicators, and no more.
    static bool waits_in_trefoil() { return waits_; }
    /// Lets MPI's own messages, and what else waits for progress, go on.
    void progress() { progress(this); }

    /// Each call of the program's on the communicator, whoever runs it.
    void count_call() { ++record_->number; }
    /// How many there have been, the present one among them.
    std::uint64_t calls() const { return record_->number; }
    /// The MPI below has reported an error in a call that was left to it. The others may have their
    /// arguments right, and wait for this rank in Trefoil.
    void left_alone() { left_ = left_ * 31 + calls(); }
    /// The MPI below is going to report this call's error, which is known here.
    void returns_error() { returned_ = calls(); }
    /// That is what it reports now; else it has found wrong arguments, and did not call.
    bool has_returned_error() {
        const std::uint64_t last = std::exchange(returned_, 0);
        return last != 0 && last == calls();
    }

    /// What a call's failure says about the ranks' calls: nothing; or they differ, and this rank
    /// has found that out; or it was only told, and has done nothing wrong in this call.
    enum class Finding : std::uint8_t { none, found, told };
    Finding finding_of(trefoil_status_t status);
    bool is_in_doubt() const { return left_ != 0 || disagrees_; }
    bool has_left() const { return left_ != 0 || stray_calls.load() != 0; }
    /// In doubt about calls that this rank has left alone, and nothing else.
    bool may_be_together() const { return !disagrees_; }
    /// All ranks are in the same call, as its end has shown.
    void is_together() { left_ = 0; }
    /// `behind`: the others have gone on to later calls.
    enum class Standing : std::uint8_t { by_trefoil, by_mpi, behind, failed };
    /// Where is_in_doubt(), in a call that Trefoil would run: who runs it.
    Standing meet(const Meeting& call);

    trefoil_status_t failure() const { return failure_; }
    const std::string& failure_text() const { return failure_text_; }

    /// Before a call that blocks: where it is time, the ranks agree on what has been tried out.
    void end_trials() {
        if (trials_ != nullptr && calls() >= record_->next_agreement) {
            agree_on_trials();
        }
    }
    bool has_lost_trials(Kind kind) const { return trials_ != nullptr && trials_->are_lost(kind); }
    /// Calls of the kind that block are MPI's, and do not come here any more.
    bool has_given_back(Kind kind) const { return (given_back_ >> index(kind) & 1) != 0; }
    Trials& trials() {
        if (!trials_) {
            trials_ = std::make_unique<Trials>();
            record_->next_agreement = trials_->next_agreement();
        }
        return *trials_;
    }

    /// Calls like the one with that `mark` are MPI's until the `until`-th.
    void keep(const CallMark& mark, std::uint64_t until) { record_->kept.keep(mark, until); }
    bool keeps(const CallMark& mark) const { return record_->kept.has(mark, calls()); }

    std::uint64_t refused() const { return record_->refused; }
    /// Before a call that blocks and comes after the early ones: Trefoil may run it. At first the
    /// ranks ask each other whether they can afford the set-up, if there was none; if not, they ask
    /// again after twice as many calls.
    bool is_adopted() { return is_adopted_ || ask_for_adoption(); }
    /// For a call that does not block, and so cannot ask.
    bool is_adopted_already() const { return is_adopted_; }

    /// Room for the blocks of the present call that blocks.
    BlockLists lists;
    /// Null until the first call that does not block.
    std::unique_ptr<CallsInFlight> in_flight;

  private:
    static bool lives(trefoil_comm_t comm) {
        const char* failure = "";
        return comm == nullptr ||
               (trefoil_comm_failure(comm, &failure) == TREFOIL_SUCCESS && *failure == '\0');
    }
    static void progress_callback(void* self);
    static thread_local bool waits_;
    trefoil_comm_t create_now(bool serial);
    static void progress(ShadowCommunicator* self);
    void leave_to_mpi();
    void agree_on_trials();
    bool ask_for_adoption();

    MPI_Comm comm_;
    int rank_ = 0;
    std::size_t ranks_ = 0;
    std::atomic<Reason> reason_{Reason::none};
    std::optional<bool> of_this_world_;
    trefoil_comm_t threaded_ = nullptr, serial_ = nullptr;
    trefoil_comm_t original_ = nullptr;     ///< of MPI_COMM_WORLD: for duplicates
    MPI_Request never_ = MPI_REQUEST_NULL;  ///< a receive that waits for ever
    bool is_adopted_ = !layer.asks;
    std::uint64_t adopted_at_ = layer.early_calls;  ///< call
    std::unique_ptr<Trials> trials_;
    std::uint32_t given_back_ = 0;  ///< kinds, as bits
    std::unique_ptr<CallRecord> own_record_;
    CallRecord* record_;
    std::string torus_source_;
    mutable std::optional<std::vector<int>> cartesian_;  ///< sizes; none: not a torus
    std::uint64_t left_ = 0;      ///< tells which calls this rank has left alone; 0: none
    std::uint64_t returned_ = 0;  ///< the last call that has failed here
    static constexpr int most_meetings = 8;
    int meetings_ = 0;         ///< in which ranks were in different calls, or left one to MPI
    bool has_parted_ = false;  ///< in one of them without knowing who was behind
    bool disagrees_ = false;   ///< Trefoil's communicator has failed so
    bool ending_ = false;
    static constexpr int looks_at_the_end = 256;
    int last_looks_ = 0;
    trefoil_request_t ends_[2] = {TREFOIL_REQUEST_NULL, TREFOIL_REQUEST_NULL};
    trefoil_status_t failure_ = TREFOIL_SUCCESS;
    std::string failure_text_;
};

/// Of `comm`, to which it will belong until end_shadow().
ShadowCommunicator* make_shadow(MPI_Comm comm, CallRecord* record);
/// Its communicator goes, by whatever call and language. Does not wait for other ranks: the thread
/// may have a lock of MPI's.
void end_shadow(ShadowCommunicator* shadow);
/// MPI_COMM_WORLD's, where it has one; local.
ShadowCommunicator* shadow_of_world();
/// Some wait for their peers since their communicators have gone.
extern std::atomic<bool> any_shadow_parked;
/// Destroys those of them whose peers are done. Any thread that is in no lock of the layer's.
void reap_shadows();
/// Before MPI's end: the end of all that are left.
void end_shadows();

}  // namespace trefoil::mpi
