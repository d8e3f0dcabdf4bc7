// SPDX-License-Identifier: BSD-3-Clause
// The way of every call: its arguments are looked at, then Trefoil runs it, or the MPI library of
// the program does, which the layer calls "the MPI below".
#pragma once

#include <algorithm>
#include <exception>
#include <new>

#include "mpi/buffers.hpp"
#include "mpi/errors.hpp"
#include "mpi/form.hpp"
#include "mpi/kept_calls.hpp"
#include "mpi/kept_list.hpp"
#include "mpi/layer.hpp"
#include "mpi/operations.hpp"
#include "mpi/report.hpp"
#include "mpi/shadow_communicator.hpp"

namespace trefoil::mpi {

/// What each collective call has, besides the arguments of MPI's function in their order, its
/// communicator `comm` among them, and its `kind`:
///
///     Verdict decide(const ShadowCommunicator&)   what the arguments alone say
///     trefoil_status_t run(ShadowCommunicator&, trefoil_comm_t, const Form&)
///
/// and what stands here, where it differs. A call may outlive the function that made it. It may be
/// moved until it is staged; a persistent one is staged again before each start.
struct CollectiveCall {
    /// Must stay in the calling thread.
    bool serial() const { return false; }
    /// Trefoil's result has the same bits as MPI's.
    bool exact(const ShadowCommunicator&) const { return true; }
    /// After Trefoil has run it, the MPI below is to report what is wrong with it.
    bool reports() const { return false; }
    /// MPI would not need the other ranks to end this one's part.
    bool only_sends(const ShadowCommunicator&) const { return false; }
    /// Trefoil writes nowhere into what this rank gives, so the call can be made again.
    bool keeps() const { return true; }
    /// Makes lists among the arguments its own; then decide() comes again.
    void keep(const ShadowCommunicator&) {}
    /// Readies the buffers: packs what has gaps. `lists` lives as long as the call.
    void stage(const ShadowCommunicator&, BlockLists&) {}
    /// After success: unpacks.
    void finish() {}
};

/// Thrown by run() of a call that the MPI below is to report, and in which nobody waits for this
/// rank.
struct LeftToMpi {};

inline constexpr Verdict wrong_arguments{Reason::arguments};

/// Its bits depend on who runs it, and the user has not said that this is all right.
template <typename Call>
bool is_inexact(const Call& call, const ShadowCommunicator& shadow) {
    return layer.tuning != Tuning::all && !call.exact(shadow);
}

/// The last call of a communicator, counted from 1 on, that is left to MPI if it is like this one.
/// Long calls count as several small ones, and persistent ones, whose program says that they come
/// often, as enough. A function of what all ranks know alike: calls that block go by what the ranks
/// have agreed on, `refused`. Two kinds cannot ask, wait for longer, and go by the number of the
/// call alone: calls that do not block, and sums whose bits depend on who runs them, as those must
/// not depend on the time.
template <typename Call>
std::uint64_t last_early_call(const Call& call, const ShadowCommunicator& shadow, Way way,
                              std::size_t bytes, std::uint64_t refused) {
    constexpr std::size_t small = 4096;
    constexpr std::uint64_t sums = 16, nonblocking = 64;
    if (way == Way::persistent) {
        return 0;
    }
    const bool counts_bytes =
        way == Way::blocking && bytes != unknown_bytes && goes_by_size(Call::kind);
    const std::uint64_t first = layer.early_calls / (1 + (counts_bytes ? bytes / small : 0));
    if (!layer.asks) {
        return first;
    }
    if (is_inexact(call, shadow)) {
        return sums * first;
    }
    if (way == Way::nonblocking) {
        return shadow.is_adopted_already() ? first : nonblocking * first;
    }
    return std::max(first, refused);
}

/// Calls that do not block cannot be tried out: when they end, and what they cost until then, shows
/// only in the program's time. Among ranks of one host a message takes a fraction of a microsecond,
/// and what Trefoil adds for a request is more than its schedules can save in a small call, or in
/// one whose size ranks do not share; only where three ranks or more reduce for all MPI takes
/// several steps. Alike on all ranks.
constexpr bool can_gain(Kind kind, Way way, std::size_t bytes, std::size_t ranks) {
    constexpr std::size_t small = 4096;
    const bool reduces_for_all = kind == Kind::allreduce || kind == Kind::reduce_scatter ||
                                 kind == Kind::reduce_scatter_block;
    return way == Way::blocking || (reduces_for_all && ranks > 2) ||
           (goes_by_size(kind) && bytes > small && bytes != unknown_bytes);
}

/// What the arguments alone say, then what the settings say, then whether it can pay yet.
template <typename Call>
Verdict verdict_of(Call& call, ShadowCommunicator* shadow, Way way) {
    if (shadow == nullptr) {
        return wrong_arguments;
    }
    if (shadow->reason() != Reason::none) {
        return {shadow->reason()};
    }
    Verdict verdict = call.decide(*shadow);
    if (verdict.reason != Reason::none) {
        return verdict;
    }
    if (!layer.switches.on(Call::kind)) {
        verdict.reason = Reason::switched_off;
    } else if (verdict.bytes == 0) {
        verdict.reason = Reason::nothing_to_do;
    } else if (!layer.switches.on(Call::kind, verdict.bytes)) {
        verdict.reason = Reason::size;
    } else if (layer.is_on_one_host && layer.tuning != Tuning::off &&
               !can_gain(Call::kind, way, verdict.bytes, shadow->ranks())) {
        verdict.reason = Reason::no_gain;
    } else if (shadow->calls() <=
               last_early_call(call, *shadow, way, verdict.bytes, shadow->refused())) {
        verdict.reason = Reason::early;
    } else if (!shadow->is_of_this_world()) {
        verdict.reason = Reason::several_worlds;
    } else if (way == Way::blocking && !is_inexact(call, *shadow) && !shadow->is_adopted()) {
        verdict.reason = Reason::early;
    }
    return verdict;
}

/// What `work`() returns; an exception becomes a code of MPI's, by the error handler of `comm`.
template <typename Work>
int guarded_by(MPI_Comm comm, Work&& work) {
    try {
        return work();
    } catch (const MpiFailure& failure) {
        return failure.code;
    } catch (const std::bad_alloc&) {
        return raise(comm, TREFOIL_ERROR_OUT_OF_MEMORY, "out of memory");
    } catch (const std::exception& error) {
        return raise(comm, TREFOIL_ERROR_INTERNAL, error.what());
    }
}

/// No codes of MPI's: nothing has moved, and all ranks are told the same; of the last, nothing has
/// come to an end here.
inline constexpr int unsupported_code = -1, gave_up_code = -2, disagreement_code = -3;

/// What a call's status means to MPI: a code, or one of those above where Trefoil cannot run it.
/// `goes_on`: that ranks' calls differ is no error of this rank's, even if it has found that out.
inline int code_of(ShadowCommunicator& shadow, trefoil_status_t status, bool goes_on = false) {
    if (status == TREFOIL_SUCCESS) {
        return MPI_SUCCESS;
    }
    if (status == TREFOIL_ERROR_UNSUPPORTED && shadow.goes_on()) {
        return unsupported_code;
    }
    if (shadow.gives_up()) {
        return gave_up_code;
    }
    switch (shadow.finding_of(status)) {
        case ShadowCommunicator::Finding::told:
            return disagreement_code;
        case ShadowCommunicator::Finding::found:
            if (goes_on) {
                return disagreement_code;
            }
            break;
        case ShadowCommunicator::Finding::none:
            break;
    }
    const bool is_set_up = shadow.failure() == TREFOIL_SUCCESS;
    return is_set_up ? raise(shadow.comm(), status, trefoil_last_error(nullptr))
                     : raise(shadow.comm(), TREFOIL_ERROR_SYSTEM, shadow.failure_text());
}

/// Whether `call` can still be right, or its part done, though this rank has found that others make
/// another one: they may have missed a call.
template <typename Call>
bool goes_on_after_finding(const ShadowCommunicator& shadow, const Call& call) {
    return synchronises(Call::kind) || call.only_sends(shadow) || shadow.has_left();
}

/// Runs `call`, whose failures go to the communicator's error handler; but what Trefoil finds it
/// cannot do, on all ranks and before anything moves, is left to the caller.
template <typename Call, typename Below>
int run_by_trefoil(ShadowCommunicator& shadow, Call& call, Below& below) {
    return guarded_by(shadow.comm(), [&] {
        trefoil_comm_t const comm = shadow.prepare(call.serial());
        if (comm == nullptr) {
            return code_of(shadow, shadow.failure());
        }
        try {
            call.stage(shadow, shadow.lists);
            const trefoil_status_t status = call.run(shadow, comm, {});
            if (status != TREFOIL_SUCCESS) {
                return code_of(shadow, status, goes_on_after_finding(shadow, call));
            }
        } catch (const LeftToMpi&) {
            return below();
        }
        call.finish();
        return call.reports() ? below() : MPI_SUCCESS;
    });
}

template <typename Call>
Meeting meeting_of(const Call& call, const Verdict& verdict) {
    std::uint64_t root = 0;
    if constexpr (requires { call.root; }) {
        root = static_cast<std::uint64_t>(call.root) + 1;
    }
    return {root * kinds + index(Call::kind), verdict.bytes, call.keeps(), call.serial()};
}

/// Runs a call by `run`(), and where ranks may not be in the same call any more, agrees with them
/// on who runs it.
template <typename Call, typename Run, typename Below>
int run_or_meet(ShadowCommunicator& shadow, Call& call, Verdict& verdict, Run&& run,
                Below&& below) {
    using enum ShadowCommunicator::Standing;
    int code = disagreement_code;
    if (!shadow.is_in_doubt()) {
        code = run();
    } else if (synchronises(Call::kind) && shadow.may_be_together()) {
        // A rank that has left a call alone may find the others in this one, and if they are not,
        // all notice.
        code = run();
        if (code == MPI_SUCCESS) {
            shadow.is_together();
        }
    }
    if (code != disagreement_code) {
        return code;
    }
    ShadowCommunicator::Standing standing = shadow.meet(meeting_of(call, verdict));
    if (standing == by_trefoil) {
        code = run();
        if (code != disagreement_code) {
            return code;
        }
        standing = shadow.meet(meeting_of(call, verdict));
    }
    if (standing != by_mpi) {
        return standing == behind && call.only_sends(shadow)
                   ? MPI_SUCCESS
                   : raise(shadow.comm(), TREFOIL_ERROR_MISMATCH,
                           "the ranks have made different calls on this communicator before");
    }
    verdict.reason = shadow.reason();
    return below();
}

/// What `work()` returns. `trials` is null, or those in which the call is one.
template <typename Work>
int timed(Kind kind, const Verdict& verdict, Trials* trials, std::uint64_t number, Work&& work) {
    if (!layer.reports && trials == nullptr) {
        return work();
    }
    const auto begin = std::chrono::steady_clock::now();
    const int code = work();
    const auto took = std::chrono::steady_clock::now() - begin;
    if (layer.reports) {
        count_call(kind, Way::blocking, verdict, took);
    }
    if (trials != nullptr) {
        trials->note(kind, verdict.bytes, number, verdict.reason == Reason::none, took);
    }
    return code;
}

/// The trials in which the call is one; its verdict changes if it is MPI's turn, or MPI has won.
template <typename Call>
Trials* trials_of(const Call& call, ShadowCommunicator* shadow, Verdict& verdict) {
    if (layer.tuning == Tuning::off || verdict.reason != Reason::none ||
        (layer.tuning == Tuning::exact && !call.exact(*shadow))) {
        return nullptr;
    }
    Trials& trials = shadow->trials();
    if (!trials.is_trefoils(Call::kind, verdict.bytes, shadow->calls())) {
        verdict.reason = Reason::tuning;
    }
    return trials.is_open(Call::kind, verdict.bytes) ? &trials : nullptr;
}

template <typename Below>
int run_below(ShadowCommunicator* shadow, Below& below) {
    const int code = below();
    if (!is_component && code != MPI_SUCCESS && shadow != nullptr) {
        shadow->left_alone();
    }
    return code;
}

/// MPI's without a look at the arguments: whatever they say, or because the call is like one that
/// was left to MPI.
template <typename Call, typename... Arguments>
bool is_left_unseen(const ShadowCommunicator& shadow, Way way, Arguments... arguments) {
    if (layer.reports) {
        return false;
    }
    if (shadow.reason() != Reason::none) {
        return true;
    }
    if (way == Way::blocking && !goes_by_size(Call::kind)) {
        return shadow.calls() <= std::max(layer.early_calls, shadow.refused()) ||
               shadow.has_lost_trials(Call::kind);
    }
    if constexpr (has_mark<Call::kind, Arguments...>) {
        return shadow.keeps(mark_of<Call::kind>(way, 0, arguments...));
    }
    return false;
}

/// All handles of `call` are predefined, so that they mean the same for ever.
template <typename Call>
bool has_lasting_handles(const Call& call) {
    bool lasting = true;
    if constexpr (requires { call.type; }) {
        lasting = find_type(call.type) != nullptr;
    } else if constexpr (requires { call.send_type; }) {
        lasting = find_type(call.send_type) != nullptr && find_type(call.recv_type) != nullptr;
    }
    if constexpr (requires { call.op; }) {
        lasting = lasting && is_predefined(call.op);
    }
    return lasting;
}

/// If `call` was left to MPI, and calls like it will be, too. `decided`: it is not on trial.
template <typename Call, typename... Arguments>
void keep_call(ShadowCommunicator& shadow, const Call& call, const Verdict& verdict, Way way,
               bool decided, Arguments... arguments) {
    if constexpr (has_mark<Call::kind, Arguments...>) {
        if (way == Way::blocking && !goes_by_size(Call::kind)) {
            return;  // is_left_unseen() needs no mark
        }
        constexpr std::uint64_t for_ever = ~std::uint64_t{0};
        std::uint64_t here = 0, anywhere = 0;  // until when, on this communicator and on all
        const auto early = [&](std::uint64_t refused) {
            return last_early_call(call, shadow, way, verdict.bytes, refused);
        };
        switch (verdict.reason) {
            case Reason::early:
                here = early(shadow.refused());
                anywhere = early(0);
                break;
            case Reason::size:
            case Reason::nothing_to_do:
            case Reason::datatype:
            case Reason::operation:
            case Reason::no_gain:
                here = anywhere = for_ever;
                break;
            case Reason::tuning:
                here = decided ? for_ever : 0;
                break;
            default:
                break;
        }
        if (layer.reports || here <= shadow.calls() || !has_lasting_handles(call)) {
            return;
        }
        shadow.keep(mark_of<Call::kind>(way, 0, arguments...), here);
        if (is_component && anywhere > 0) {
            KeptByArguments::keep(mark_of<Call::kind>(way, shadow.ranks(), arguments...), anywhere);
        }
    }
}

/// A blocking call that was counted already, and whose arguments are to be looked at.
template <typename Call, typename Below, typename... Arguments>
[[gnu::noinline]] int look_at(ShadowCommunicator* shadow, Below below, Arguments... arguments) {
    Call call{{}, arguments...};
    Verdict verdict = verdict_of(call, shadow, Way::blocking);
    Trials* const trials = trials_of(call, shadow, verdict);
    if (verdict.reason == Reason::none) {
        shadow->let_earlier_calls_begin();
    } else if (shadow != nullptr) {
        keep_call(*shadow, call, verdict, Way::blocking, trials == nullptr, arguments...);
    }
    const std::uint64_t number = shadow == nullptr ? 0 : shadow->calls();
    return timed(Call::kind, verdict, trials, number, [&] {
        if (verdict.reason == Reason::none) {
            const int code = run_or_meet(
                *shadow, call, verdict, [&] { return run_by_trefoil(*shadow, call, below); },
                below);
            if (code != unsupported_code && code != gave_up_code) {
                return code;
            }
            verdict.reason = code == gave_up_code ? shadow->reason() : Reason::unsupported;
        }
        return run_below(shadow, below);
    });
}

/// One call of the program's that blocks, of a kind that is looked at: `Call` of `arguments`, which
/// `below`() hands to the MPI library of the program. `shadow` is null where they have no valid
/// communicator.
template <typename Call, typename Below, typename... Arguments>
int dispatch(ShadowCommunicator* shadow, Below below, Arguments... arguments) {
    if (shadow == nullptr) {
        stray_calls.fetch_add(1, std::memory_order_relaxed);
        return look_at<Call>(shadow, below, arguments...);
    }
    shadow->count_call();
    if (layer.tuning != Tuning::off) {
        shadow->end_trials();
    }
    const int code = is_left_unseen<Call>(*shadow, Way::blocking, arguments...)
                         ? run_below(shadow, below)
                         : look_at<Call>(shadow, below, arguments...);
    if (is_component && code != MPI_SUCCESS) {
        shadow->returns_error();
    }
    return code;
}

}  // namespace trefoil::mpi
