// SPDX-License-Identifier: BSD-3-Clause
// A call that does not block, from MPI's function to the end of its request.
#pragma once

#include <chrono>
#include <memory>

#include "mpi/api.hpp"
#include "mpi/collective_kind.hpp"
#include "mpi/form.hpp"
#include "mpi/shadow_communicator.hpp"

namespace trefoil::mpi {

/// What a job knows of its call. Jobs are used under the turn of jobs.cpp alone.
class Job {
  public:
    Job(ShadowCommunicator& its_shadow, Kind its_kind, Way its_way, const Verdict& its_verdict)
        : shadow(its_shadow), kind(its_kind), way(its_way), verdict(its_verdict) {}
    virtual ~Job() = default;
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    virtual bool serial() const = 0;
    /// By Trefoil: what has gaps is packed, and `call` becomes the request. May throw.
    virtual trefoil_status_t begin() = 0;
    /// After success: unpacks. May throw.
    virtual void finish() = 0;
    /// By the MPI below; a code of MPI's.
    virtual int begin_below(MPI_Request* request) = 0;

    ShadowCommunicator& shadow;
    const Kind kind;
    const Way way;
    Verdict verdict;
    MPI_Request request = MPI_REQUEST_NULL;  ///< the program's
    trefoil_request_t call = TREFOIL_REQUEST_NULL;
    MPI_Request below = MPI_REQUEST_NULL;  ///< where the MPI below runs the call
    bool is_below = false;
    std::chrono::steady_clock::time_point began{};  ///< for the report
};

/// Begins the call of `job`, or has it begin once all before it have, and gives its request.
/// Returns a code of MPI's.
int issue(std::unique_ptr<Job> job, MPI_Request* request);

/// A persistent call: trefoil_component_start_job() begins it, again and again. It is prepared, and
/// takes part in its communicator's life until it is freed.
int give_persistent(std::unique_ptr<Job> job, MPI_Request* request);

/// Lets go of a communicator of Trefoil's that one persistent call alone has used.
void leave(trefoil_comm_t comm);

}  // namespace trefoil::mpi
