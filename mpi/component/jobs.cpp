// SPDX-License-Identifier: BSD-3-Clause
// The calls that do not block, of all communicators. They go on whenever MPI looks after its own
// messages: in every call of the program's that waits or tests, and while Trefoil waits in a call
// that blocks.
#include "mpi/component/job.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "mpi/allgather.hpp"
#include "mpi/component/opening.hpp"
#include "mpi/component_slots.h"
#include "mpi/dispatch.hpp"

namespace trefoil::mpi {

namespace {

/// Jobs are one thread's at a time. Where others have the turn, who need not wait does nothing.
/// Whoever has it does not let MPI go on, which would lead here again; where MPI goes on all the
/// same, and makes a call of its own, the turn is this thread's already.
class Turn {
  public:
    enum class Wait : bool { no, yes };
    explicit Turn(Wait wait) {
        if (mine) {
            return;
        }
        while (!(has_ = !taken.exchange(true, std::memory_order_acquire)) && wait == Wait::yes) {
            sched_yield();
        }
        mine = has_;
    }
    ~Turn() {
        if (has_) {
            mine = false;
            taken.store(false, std::memory_order_release);
        }
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    /// It was free, and now is this thread's.
    explicit operator bool() const { return has_; }

  private:
    static std::atomic<bool> taken;
    static thread_local bool mine;
    bool has_ = false;
    ShadowCommunicator::NoProgress no_progress_;
};
std::atomic<bool> Turn::taken{false};
thread_local bool Turn::mine = false;

class Queue;

/// Under the turn.
struct UnderWay {
    std::vector<Job*> jobs;      ///< in the order of their beginnings
    std::vector<Queue*> queues;  ///< in which jobs wait for their beginning
};
UnderWay under_way;

/// Communicators of persistent calls that were freed.
struct Departure {
    trefoil_comm_t comm;
    trefoil_request_t last;  ///< a barrier
};
std::mutex departures_mutex;
std::vector<Departure> departures;
/// Of all in it. Read without the turn.
std::atomic<int> pending{0};

void watch() {
    static std::atomic_flag watched;
    if (!watched.test_and_set()) {
        trefoil_component_watch();
    }
}

/// Those of one communicator.
class Queue final : public CallsInFlight {
  public:
    explicit Queue(ShadowCommunicator& shadow) : shadow_(shadow) {}

    void let_begin() override {
        while (waits()) {
            trefoil_component_advance();
            if (waits()) {
                shadow_.progress();
                sched_yield();
            }
        }
    }
    /// False as well while anybody has the turn, and may be here.
    bool all_over(bool none_starts) const override {
        const Turn turn(Turn::Wait::no);
        return turn && jobs.load(std::memory_order_relaxed) == 0 &&
               (none_starts || persistent.load(std::memory_order_relaxed) == 0);
    }
    bool waits() const { return waiting_count_.load(std::memory_order_acquire) != 0; }

    /// `job` can begin at once, if all before it have.
    bool is_open_for(const Job& job) const {
        return shadow_.reason() != Reason::none || shadow_.failure() != TREFOIL_SUCCESS ||
               shadow_.communicator(job.serial());
    }
    /// All ranks come here in the same call.
    void open_for(const Job& job) {
        std::unique_ptr<Opening>& opening = openings_[job.serial() ? 1 : 0];
        if (opening == nullptr && !is_open_for(job)) {
            opening = std::make_unique<Opening>(shadow_.comm(),
                                                shadow_.plan_creation(job.serial(), false));
        }
    }
    void push(std::unique_ptr<Job> job) {
        if (waiting_.empty()) {
            under_way.queues.push_back(this);
        }
        waiting_.push_back(std::move(job));
        waiting_count_.fetch_add(1, std::memory_order_release);
    }
    /// Begins those that can; how many have ended, with an error, at once.
    int advance();

    std::atomic<int> jobs{0};        ///< that wait or are under way
    std::atomic<int> persistent{0};  ///< that can be started

  private:
    ShadowCommunicator& shadow_;
    std::deque<std::unique_ptr<Job>> waiting_;
    std::atomic<int> waiting_count_{0};
    std::unique_ptr<Opening> openings_[2];  ///< of the threaded communicator, of the serial one
};

/// Under the turn.
Queue& queue_of(ShadowCommunicator& shadow) {
    if (shadow.in_flight == nullptr) {
        shadow.in_flight = std::make_unique<Queue>(shadow);
    }
    return static_cast<Queue&>(*shadow.in_flight);
}

void note(const Job& job) {
    if (layer.reports) {
        const bool counts_time = !job.is_below;
        count_call(job.kind, job.way, job.verdict,
                   counts_time ? std::chrono::steady_clock::now() - job.began
                               : std::chrono::nanoseconds{0});
    }
}

int raise_disagreement(const Job& job) {
    return raise(job.shadow.comm(), TREFOIL_ERROR_MISMATCH, trefoil_last_error(nullptr));
}

/// Begins `job` by Trefoil, or by the MPI below; a code of MPI's.
int begin(Job& job) {
    if (layer.reports) {
        job.began = std::chrono::steady_clock::now();
    }
    const bool is_prepared = job.way == Way::persistent;
    if (!is_prepared && job.shadow.reason() != Reason::none) {
        job.verdict.reason = job.shadow.reason();
    }
    if (job.verdict.reason == Reason::none) {
        const int code = guarded_by(job.shadow.comm(), [&] {
            try {
                return code_of(job.shadow, job.begin());
            } catch (const LeftToMpi&) {
                return raise(job.shadow.comm(), TREFOIL_ERROR_INVALID_ARGUMENT,
                             "a count, a displacement or a datatype is wrong");
            }
        });
        if (code == disagreement_code) {
            return raise_disagreement(job);  // it cannot wait for the other ranks
        }
        if (code != unsupported_code && code != gave_up_code) {
            return code;
        }
        job.verdict.reason = code == gave_up_code ? job.shadow.reason() : Reason::unsupported;
    }
    job.is_below = true;
    return job.begin_below(&job.below);
}

/// The call of `job` has ended. What is not persistent is gone afterwards.
void end(Job* job, int code) {
    note(*job);
    MPI_Request const request = job->request;
    queue_of(job->shadow).jobs.fetch_sub(1, std::memory_order_relaxed);
    if (job->way != Way::persistent) {
        delete job;
    }
    pending.fetch_sub(1, std::memory_order_relaxed);
    trefoil_component_complete(request, code);
}

/// True: over, with `code`.
bool is_over(Job& job, int& code) {
    if (job.is_below) {
        return trefoil_component_has_ended(&job.below, &code) != 0;
    }
    int done = 0;
    const trefoil_status_t status = trefoil_test(&job.call, &done);
    if (status == TREFOIL_SUCCESS && done == 0) {
        return false;
    }
    code = guarded_by(job.shadow.comm(), [&] {
        if (status != TREFOIL_SUCCESS) {
            const bool differ = job.shadow.finding_of(status) != ShadowCommunicator::Finding::none;
            return differ ? raise_disagreement(job)
                          : raise(job.shadow.comm(), status, trefoil_last_error(nullptr));
        }
        job.finish();
        return MPI_SUCCESS;
    });
    return true;
}

int Queue::advance() {
    for (std::unique_ptr<Opening>& opening : openings_) {
        if (opening != nullptr && opening->advance()) {
            shadow_.adopt(opening->created(), opening->creation());
            opening.reset();
        }
    }
    int ended = 0;
    while (!waiting_.empty()) {
        if (!is_open_for(*waiting_.front())) {
            return ended;
        }
        std::unique_ptr<Job> job = std::move(waiting_.front());
        waiting_.pop_front();
        const int code = begin(*job);
        if (code == MPI_SUCCESS) {
            under_way.jobs.push_back(job.release());
        } else {
            end(job.release(), code);
            ++ended;
        }
        // Only now: whoever sees that nothing waits makes calls on this communicator.
        waiting_count_.fetch_sub(1, std::memory_order_release);
    }
    return ended;
}

/// Ends the job at `i` of those under way, if its call is over.
bool end_if_over(std::size_t i) {
    int code = MPI_SUCCESS;
    Job* const job = under_way.jobs[i];
    if (!is_over(*job, code)) {
        return false;
    }
    under_way.jobs.erase(under_way.jobs.begin() + static_cast<std::ptrdiff_t>(i));
    end(job, code);
    return true;
}

/// Most calls end in the order of their beginnings. So the first ones are looked at, and of the
/// others one each time, in turns: with many in flight a look at each would take long.
int end_those_over() {
    int ended = 0;
    while (!under_way.jobs.empty() && end_if_over(0)) {
        ++ended;
    }
    static std::size_t turn = 0;
    if (under_way.jobs.size() > 1) {
        turn = turn + 1 < under_way.jobs.size() ? turn + 1 : 1;
        ended += end_if_over(turn) ? 1 : 0;
    }
    return ended;
}

void advance_departures() {
    if (ShadowCommunicator::waits_in_trefoil()) {
        return;  // in a communicator, perhaps, that shares what this one would have to take down
    }
    const std::lock_guard lock(departures_mutex);
    const auto departed = std::erase_if(departures, [](Departure& one) {
        int done = 0;
        // An error, of a peer that is lost, is an end, too.
        if (trefoil_test(&one.last, &done) == TREFOIL_SUCCESS && done == 0) {
            return false;
        }
        trefoil_comm_destroy(one.comm);
        return true;
    });
    pending.fetch_sub(static_cast<int>(departed), std::memory_order_relaxed);
}

}  // namespace

int issue(std::unique_ptr<Job> job, MPI_Request* request) {
    watch();
    const Turn turn(Turn::Wait::yes);
    Queue& queue = queue_of(job->shadow);
    const bool at_once = !queue.waits() && queue.is_open_for(*job);
    if (at_once) {
        const int code = begin(*job);
        if (code != MPI_SUCCESS || job->is_below) {
            if (job->is_below) {
                note(*job);
                *request = job->below;
            }
            return code;
        }
    } else {
        queue.open_for(*job);
    }
    MPI_Request const made = trefoil_component_new_request(job->shadow.comm(), job.get(), 0);
    if (made == nullptr) {
        if (at_once) {
            trefoil_request_free(&job->call);
        }
        return MPI_ERR_NO_MEM;
    }
    *request = job->request = made;
    queue.jobs.fetch_add(1, std::memory_order_relaxed);
    pending.fetch_add(1, std::memory_order_relaxed);
    if (at_once) {
        under_way.jobs.push_back(job.release());
    } else {
        queue.push(std::move(job));
    }
    return MPI_SUCCESS;
}

int give_persistent(std::unique_ptr<Job> job, MPI_Request* request) {
    watch();
    MPI_Request const made = trefoil_component_new_request(job->shadow.comm(), job.get(), 1);
    if (made == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    const Turn turn(Turn::Wait::yes);
    *request = job->request = made;
    queue_of(job->shadow).persistent.fetch_add(1, std::memory_order_relaxed);
    job.release();  // the request's
    return MPI_SUCCESS;
}

void leave(trefoil_comm_t comm) {
    trefoil_request_t last = TREFOIL_REQUEST_NULL;
    if (trefoil_ibarrier(comm, &last) != TREFOIL_SUCCESS) {
        trefoil_comm_destroy(comm);
        return;
    }
    const std::lock_guard lock(departures_mutex);
    departures.push_back({comm, last});
    pending.fetch_add(1, std::memory_order_relaxed);
}

/// First all ranks come here: nobody starts a persistent call any more. A rank that has never freed
/// one does not take part in its departure, so that is not waited for long.
void finish_jobs() {
    using std::chrono::steady_clock;
    std::uint64_t nothing[1] = {0};
    greatest(MPI_COMM_WORLD, nothing);
    const auto begin = steady_clock::now();
    const auto wait_for = [&](std::chrono::milliseconds time, auto&& over) {
        const auto deadline = begin + time;
        while (!over() && steady_clock::now() < deadline) {
            trefoil_component_advance();
            sched_yield();
        }
    };
    wait_for(std::min(layer.patience, default_patience), [] {
        const std::lock_guard lock(departures_mutex);
        return pending.load(std::memory_order_relaxed) <= static_cast<int>(departures.size());
    });
    wait_for(std::chrono::milliseconds(500),
             [] { return pending.load(std::memory_order_relaxed) == 0; });
    pending.store(0, std::memory_order_relaxed);  // what is left over nobody touches any more
}

}  // namespace trefoil::mpi

using namespace trefoil::mpi;

int trefoil_component_advance() {
    if (pending.load(std::memory_order_relaxed) == 0) {
        return 0;
    }
    const Turn turn(Turn::Wait::no);
    if (!turn) {
        return 0;
    }
    int ended = 0;
    for (std::size_t i = 0; i < under_way.queues.size(); ++i) {  // there may come more meanwhile
        ended += under_way.queues[i]->advance();
    }
    std::erase_if(under_way.queues, [](const Queue* queue) { return !queue->waits(); });
    ended += end_those_over();
    advance_departures();
    return ended;
}

int trefoil_component_start_job(void* job) {
    const Turn turn(Turn::Wait::yes);
    auto& persistent = *static_cast<Job*>(job);
    const int code = begin(persistent);
    if (code == MPI_SUCCESS) {
        queue_of(persistent.shadow).jobs.fetch_add(1, std::memory_order_relaxed);
        pending.fetch_add(1, std::memory_order_relaxed);
        under_way.jobs.push_back(&persistent);
    }
    return code;
}

void trefoil_component_free_job(void* job) {
    const Turn turn(Turn::Wait::yes);
    auto* const persistent = static_cast<Job*>(job);
    queue_of(persistent->shadow).persistent.fetch_sub(1, std::memory_order_relaxed);
    delete persistent;
}
