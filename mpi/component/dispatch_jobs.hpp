// SPDX-License-Identifier: BSD-3-Clause
// The way of every call that does not block: as in dispatch.hpp, but the end comes later.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "mpi/allgather.hpp"
#include "mpi/component/job.hpp"
#include "mpi/component_slots.h"
#include "mpi/dispatch.hpp"

namespace trefoil::mpi {

constexpr std::size_t slot_of(Kind kind, Way way) {
    return static_cast<std::size_t>(way) * kinds + index(kind);
}

/// Calls what the communicator would have without the component.
template <typename... Parameters>
int call_below(mca_coll_base_module_t* module, Kind kind, Way way, Parameters... arguments) {
    using Function = int(Parameters..., mca_coll_base_module_t*);
    const trefoil_component_slot& below = trefoil_component_slots(module)[slot_of(kind, way)];
    return reinterpret_cast<Function*>(below.function)(arguments..., below.module);
}

/// The program frees datatypes and operations when it likes. MPI keeps those of a call in flight,
/// but of an alltoallw on a communicator with a topology only as many as there are neighbours;
/// those of a persistent call nobody would.
class Handles {
  public:
    Handles() = default;
    Handles(const Handles&) = delete;
    Handles& operator=(const Handles&) = delete;
    ~Handles() {
        trefoil_component_drop_op(op_);
        std::ranges::for_each(types_, trefoil_component_drop_type);
    }
    template <typename Call>
    void hold(const Call& call) {
        if constexpr (requires { call.op; }) {
            trefoil_component_hold_op(op_ = call.op);
        }
        if constexpr (requires { call.type; }) {
            types_ = {call.type};
        } else if constexpr (requires { call.send_type; }) {
            types_ = {call.send_type, call.recv_type};
        } else if constexpr (requires { call.send_types; }) {
            types_.assign(call.recv_types.data(), call.recv_types + call.peers);
            if (!call.in_place()) {
                types_.insert(types_.end(), call.send_types.data(), call.send_types + call.peers);
            }
        }
        std::ranges::for_each(types_, trefoil_component_hold_type);
    }

  private:
    MPI_Op op_ = nullptr;
    std::vector<MPI_Datatype> types_;
};

template <typename Call, typename Below>
class NonblockingJob final : public Job {
  public:
    NonblockingJob(ShadowCommunicator& its_shadow, const Verdict& its_verdict, Call&& its_call,
                   Below&& its_below)
        : Job(its_shadow, Call::kind, Way::nonblocking, its_verdict),
          call_(std::move(its_call)),
          below_(std::move(its_below)),
          tag_(trefoil_component_reserve_tag(its_shadow.comm())) {
        if constexpr (Call::kind == Kind::alltoallw) {
            handles_.hold(call_);
        }
    }

    bool serial() const override { return call_.serial(); }
    trefoil_status_t begin() override {
        trefoil_comm_t const comm = shadow.communicator(serial());
        if (comm == nullptr) {
            return shadow.failure();
        }
        call_.stage(shadow, lists_);
        return call_.run(shadow, comm, {Way::nonblocking, &call});
    }
    void finish() override { call_.finish(); }
    int begin_below(MPI_Request* place) override {
        MPI_Comm const comm = shadow.comm();
        const int next = trefoil_component_next_tag(comm);
        trefoil_component_set_next_tag(comm, tag_);
        const int code = below_(place);
        trefoil_component_set_next_tag(comm, next);
        return code;
    }

  private:
    Call call_;
    Below below_;
    /// Of the MPI below, should it run the call: MPI numbers such calls of a communicator, alike on
    /// all ranks, but this one may begin earlier on one rank than on another.
    int tag_;
    Handles handles_;
    BlockLists lists_;
};

/// Of one that was counted already, and whose arguments are to be looked at.
template <typename Call, typename Below, typename... Arguments>
[[gnu::noinline]] int look_at_nonblocking(ShadowCommunicator* shadow, MPI_Request* request,
                                          Below below, Arguments... arguments) {
    Call call{{}, arguments...};
    const Verdict verdict = verdict_of(call, shadow, Way::nonblocking);
    if (verdict.reason != Reason::none) {
        if (layer.reports) {
            count_call(Call::kind, Way::nonblocking, verdict, {});
        }
        keep_call(*shadow, call, verdict, Way::nonblocking, true, arguments...);
        return below(request);
    }
    const int result = guarded_by(call.comm, [&] {
        call.keep(*shadow);
        call.decide(*shadow);
        return issue(std::make_unique<NonblockingJob<Call, Below>>(
                         *shadow, verdict, std::move(call), std::move(below)),
                     request);
    });
    if (result != MPI_SUCCESS) {
        shadow->returns_error();
    }
    return result;
}

/// One call of the program's that does not block: `below`(request) hands it to the MPI library of
/// the program, at once, in the program's order; but later if Trefoil is to run it and cannot.
template <typename Call, typename Below, typename... Arguments>
int dispatch_nonblocking(ShadowCommunicator* shadow, MPI_Request* request, Below below,
                         Arguments... arguments) {
    shadow->count_call();
    if (is_left_unseen<Call>(*shadow, Way::nonblocking, arguments...)) {
        return below(request);
    }
    return look_at_nonblocking<Call>(shadow, request, below, arguments...);
}

/// It has a communicator of Trefoil's for itself: MPI lets ranks start their persistent calls in
/// different orders.
template <typename Call>
class PersistentJob final : public Job {
  public:
    PersistentJob(ShadowCommunicator& its_shadow, const Verdict& its_verdict, Call&& its_call)
        : Job(its_shadow, Call::kind, Way::persistent, its_verdict), call_(std::move(its_call)) {}
    ~PersistentJob() override {
        trefoil_request_free(&call);
        if (comm_ != nullptr) {
            leave(comm_);
        }
    }

    bool serial() const override { return call_.serial(); }
    const Call& its_call() const { return call_; }
    bool is_prepared() const { return comm_ != nullptr; }
    /// Collective. Once, before all else.
    trefoil_status_t prepare() {
        trefoil_comm_t const all = shadow.prepare(serial());
        if (all == nullptr) {
            return shadow.failure();
        }
        // A rank that is in another call would be waited for; here all notice.
        std::int16_t alike[3] = {};
        trefoil_status_t status =
            trefoil_allreduce(TREFOIL_IN_PLACE, alike, 3, TREFOIL_INT16, TREFOIL_MAX, all);
        if (status == TREFOIL_SUCCESS) {
            status = trefoil_comm_dup(all, &comm_);
        }
        if (status != TREFOIL_SUCCESS) {
            return status;
        }
        handles_.hold(call_);
        call_.stage(shadow, lists_);
        return call_.run(shadow, comm_, {Way::persistent, &call});
    }
    trefoil_status_t begin() override {
        call_.stage(shadow, lists_);
        return trefoil_start(&call);
    }
    void finish() override { call_.finish(); }
    int begin_below(MPI_Request*) override { return MPI_ERR_INTERN; }

  private:
    Call call_;
    Handles handles_;
    BlockLists lists_;
    trefoil_comm_t comm_ = nullptr;
};

/// One persistent call's _init function, which is collective.
template <typename Call, typename Below>
int dispatch_persistent(Call call, ShadowCommunicator* shadow, MPI_Request* request, Below below) {
    shadow->count_call();
    Verdict verdict = verdict_of(call, shadow, Way::persistent);
    const MPI_Comm comm = call.comm;
    const auto leave_it = [&] {
        if (layer.reports) {
            count_call(Call::kind, Way::persistent, verdict, {});
        }
        return below();
    };
    if (verdict.reason != Reason::none) {
        return leave_it();
    }
    shadow->let_earlier_calls_begin();
    const int result = guarded_by(comm, [&] {
        call.keep(*shadow);
        call.decide(*shadow);
        auto job = std::make_unique<PersistentJob<Call>>(*shadow, verdict, std::move(call));
        const auto prepare = [&] {
            return code_of(*shadow, job->prepare(),
                           goes_on_after_finding(*shadow, job->its_call()));
        };
        try {
            const int code = run_or_meet(*shadow, job->its_call(), verdict, prepare, leave_it);
            if (code == unsupported_code || code == gave_up_code) {
                verdict.reason = code == gave_up_code ? shadow->reason() : Reason::unsupported;
                return leave_it();
            }
            if (code != MPI_SUCCESS || verdict.reason != Reason::none) {
                return code;
            }
            return job->is_prepared()
                       ? give_persistent(std::move(job), request)
                       : raise(comm, TREFOIL_ERROR_MISMATCH, "the other ranks are in later calls");
        } catch (const LeftToMpi&) {
            return below();
        }
    });
    if (result != MPI_SUCCESS) {
        shadow->returns_error();
    }
    return result;
}

}  // namespace trefoil::mpi
