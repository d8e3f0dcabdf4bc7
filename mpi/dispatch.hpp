// SPDX-License-Identifier: BSD-3-Clause
// The way of every call: its arguments are looked at, then Trefoil runs it, or the MPI library of
// the program does, which the layer calls "the MPI below".
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
Verdict verdict_of(Kind kind, const ShadowCommunicator* shadow, Decide& decide) {
    if (shadow == nullptr) {
        return {Reason::arguments};
    }
    if (shadow->reason() != Reason::none) {
        return {shadow->reason()};
    }
    Verdict verdict = decide(*shadow);
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

/// No codes of MPI's: nothing has moved, and all ranks are told the same.
inline constexpr int unsupported_code = -1, gave_up_code = -2;

/// Runs `run`, whose failures, exceptions among them, go to the communicator's error handler; but
/// what Trefoil finds it cannot do, on all ranks and before anything moves, is left to the caller.
template <typename Run>
int run_by_trefoil(ShadowCommunicator& shadow, Run& run) {
    try {
        const trefoil_status_t status = run(shadow);
        if (status == TREFOIL_SUCCESS) {
            return MPI_SUCCESS;
        }
        if (status == TREFOIL_ERROR_UNSUPPORTED && shadow.goes_on()) {
            return unsupported_code;
        }
        if (shadow.gives_up()) {
            return gave_up_code;
        }
        const bool is_set_up = shadow.failure() == TREFOIL_SUCCESS;
        return is_set_up ? raise(shadow.comm(), status, trefoil_last_error(nullptr))
                         : raise(shadow.comm(), TREFOIL_ERROR_SYSTEM, shadow.failure_text());
    } catch (const MpiFailure& failure) {
        return failure.code;
    } catch (const std::bad_alloc&) {
        return raise(shadow.comm(), TREFOIL_ERROR_OUT_OF_MEMORY, "out of memory");
    } catch (const std::exception& error) {
        return raise(shadow.comm(), TREFOIL_ERROR_INTERNAL, error.what());
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
inline Trial* trial_of(Kind kind, ShadowCommunicator* shadow, Verdict& verdict) {
    if (!layer.tunes || verdict.reason != Reason::none) {
        return nullptr;
    }
    Trial& trial = shadow->trials().of(kind, verdict.bytes);
    if (!trial.is_trefoils()) {
        verdict.reason = Reason::tuning;
    }
    return trial.decided() ? nullptr : &trial;
}

/// One call of MPI's: `decide`(shadow) gives the Verdict on its arguments, `run`(shadow) runs it by
/// Trefoil and gives a trefoil_status_t, `below`() hands it to the MPI library of the program.
template <typename Decide, typename Run, typename Below>
int dispatch(Kind kind, MPI_Comm comm, Decide decide, Run run, Below below) {
    if (!layer.looks_at[index(kind)]) {
        return below();
    }
    ShadowCommunicator* const shadow = shadow_of(comm);
    Verdict verdict = verdict_of(kind, shadow, decide);
    Trial* const trial = trial_of(kind, shadow, verdict);
    return timed(kind, verdict, trial, comm, [&] {
        if (verdict.reason == Reason::none) {
            const int code = run_by_trefoil(*shadow, run);
            if (code != unsupported_code && code != gave_up_code) {
                return code;
            }
            verdict.reason = code == gave_up_code ? shadow->reason() : Reason::unsupported;
        }
        return below();
    });
}

}  // namespace trefoil::mpi
