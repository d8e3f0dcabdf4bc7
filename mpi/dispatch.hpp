// SPDX-License-Identifier: BSD-3-Clause
// The way of every call: looked at, then run by Trefoil or passed to the MPI below.
#pragma once

#include <exception>
#include <new>

#include "mpi/buffers.hpp"
#include "mpi/errors.hpp"
#include "mpi/layer.hpp"
#include "mpi/report.hpp"
#include "mpi/shadow_communicator.hpp"

namespace trefoil::mpi {

/// What the arguments alone say, then what the settings say.
template <typename Decide>
Verdict verdict_of(Kind kind, const ShadowCommunicator* shadow_communicator, Decide& decide) {
    if (shadow_communicator == nullptr) {
        return {Reason::arguments};
    }
    if (shadow_communicator->reason() != Reason::none) {
        return {shadow_communicator->reason()};
    }
    Verdict verdict = decide(*shadow_communicator);
    if (verdict.reason != Reason::none) {
        return verdict;
    }
    if (!layer.switches.on(kind)) {
        verdict.reason = Reason::switched_off;
    } else if (verdict.bytes == 0) {
        verdict.reason = Reason::nothing_to_do;
    } else if (!layer.switches.on(kind, verdict.bytes)) {
        verdict.reason = Reason::size;
    }
    return verdict;
}

/// No code of MPI's: nothing has moved, and all ranks are told the same.
inline constexpr int unsupported_code = -1;

/// Runs `run`, whose failures, exceptions among them, go to the communicator's error handler; but
/// what Trefoil finds it cannot do, on all ranks and before anything moves, is left to the caller.
template <typename Run>
int run_by_trefoil(ShadowCommunicator& shadow_communicator, Run& run) {
    try {
        const trefoil_status_t status = run(shadow_communicator);
        if (status == TREFOIL_SUCCESS) {
            return MPI_SUCCESS;
        }
        if (status == TREFOIL_ERROR_UNSUPPORTED && shadow_communicator.goes_on()) {
            return unsupported_code;
        }
        const bool is_set_up = shadow_communicator.failure() == TREFOIL_SUCCESS;
        return raise(shadow_communicator.comm(), status,
                     is_set_up ? trefoil_last_error(nullptr) : shadow_communicator.failure_text());
    } catch (const MpiFailure& failure) {
        return failure.code;
    } catch (const std::bad_alloc&) {
        return raise(shadow_communicator.comm(), TREFOIL_ERROR_OUT_OF_MEMORY, "out of memory");
    } catch (const std::exception& error) {
        return raise(shadow_communicator.comm(), TREFOIL_ERROR_INTERNAL, error.what());
    }
}

/// `trial` is null, or not yet decided.
template <typename Work>
int timed(Kind kind, const Verdict& verdict, Trial* trial, MPI_Comm comm, Work&& work) {
    if (!layer.reports && trial == nullptr) {
        return work();
    }
    const auto begin = std::chrono::steady_clock::now();
    const int code = work();
    const auto took = std::chrono::steady_clock::now() - begin;
    if (layer.reports) {
        count_call(kind, verdict, took);
    }
    if (trial != nullptr) {
        trial->note(took, comm);
    }
    return code;
}

/// The trial that the call takes part in; its verdict changes if it is MPI's turn, or MPI has won.
inline Trial* trial_of(Kind kind, ShadowCommunicator* shadow_communicator, Verdict& verdict) {
    if (!layer.tunes || verdict.reason != Reason::none) {
        return nullptr;
    }
    Trial& trial = shadow_communicator->trials().of(kind, verdict.bytes);
    if (!trial.is_trefoils()) {
        verdict.reason = Reason::tuning;
    }
    return trial.decided() ? nullptr : &trial;
}

/// `decide`(shadow_communicator) gives the Verdict on the arguments, `run`(shadow_communicator) a
/// trefoil_status_t, `below`() is the call of the MPI below.
template <typename Decide, typename Run, typename Below>
int dispatch(Kind kind, MPI_Comm comm, Decide decide, Run run, Below below) {
    if (!layer.looks_at[index(kind)]) {
        return below();
    }
    ShadowCommunicator* const shadow_communicator = shadow_of(comm);
    Verdict verdict = verdict_of(kind, shadow_communicator, decide);
    Trial* const trial = trial_of(kind, shadow_communicator, verdict);
    return timed(kind, verdict, trial, comm, [&] {
        if (verdict.reason == Reason::none) {
            const int code = run_by_trefoil(*shadow_communicator, run);
            if (code != unsupported_code) {
                return code;
            }
            verdict.reason = Reason::unsupported;
        }
        return below();
    });
}

/// What an intercepted function looks like from outside the library.
#define TREFOIL_MPI_CALL extern "C" [[gnu::visibility("default")]] int

}  // namespace trefoil::mpi
