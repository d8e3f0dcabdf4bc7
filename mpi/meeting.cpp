// SPDX-License-Identifier: BSD-3-Clause
// What ranks do after they have made different calls, or one of them has left a call to MPI alone:
// Trefoil's communicator has failed then, but MPI's goes on. The ranks come together in the next
// calls that Trefoil would run, and tell each other which call that is. Who is behind the others
// has missed a call, and its own fails; the others wait for it. Once all are in the same call, they
// leave this and all later ones to the MPI below.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "mpi/allgather.hpp"
#include "mpi/layer.hpp"
#include "mpi/shadow_communicator.hpp"
#include "mpi/words.hpp"

namespace trefoil::mpi {

std::atomic<std::uint64_t> stray_calls{0};

namespace {

struct Said {
    std::uint64_t call;   ///< this one's number in the communicator
    std::uint64_t left;   ///< calls that this rank has left alone, and which
    std::uint64_t stray;  ///< calls of this rank's on no communicator
    std::uint64_t keeps;  ///< what it gives to this call is as it was
    std::uint64_t kind, bytes;
    std::int64_t mpis;  ///< calls that MPI tells apart by their number
};

using Call = std::pair<std::uint64_t, std::uint64_t>;
Call call_of(const Said& one) {
    return {one.kind, one.bytes};
}

/// The call that most ranks are in; of two that of the lower rank.
Call usual_call(const std::vector<Said>& all) {
    std::map<Call, int> ranks;
    for (const Said& one : all) {
        ++ranks[call_of(one)];
    }
    return call_of(std::ranges::max(all, {}, [&](const Said& one) { return ranks[call_of(one)]; }));
}

}  // namespace

ShadowCommunicator::Finding ShadowCommunicator::finding_of(trefoil_status_t status) {
    if ((status != TREFOIL_ERROR_MISMATCH && status != TREFOIL_ERROR_ABORTED) || goes_on()) {
        return Finding::none;
    }
    disagrees_ = true;
    trefoil_cause_t cause{};
    cause.size = sizeof cause;
    const bool known = trefoil_last_cause(nullptr, &cause) == TREFOIL_SUCCESS;
    const bool by_another = known && cause.finder >= 0 && cause.finder != rank_;
    const bool told = status == TREFOIL_ERROR_ABORTED || by_another || (known && cause.before != 0);
    return told ? Finding::told : Finding::found;
}

ShadowCommunicator::Standing ShadowCommunicator::meet(const Meeting& call) {
    if (left_ != 0 && !in_use() && prepare(call.serial) == nullptr) {
        return Standing::by_trefoil;  // which tells why not
    }
    const auto end_others_wait = [this] {
        for (const trefoil_comm_t comm : {threaded_, serial_}) {
            if (comm != nullptr) {
                trefoil_comm_abort(comm,
                                   "a rank has left a call to MPI, as its arguments are wrong");
            }
        }
    };
    std::vector<Said> all(ranks_);
    while (meetings_ < most_meetings) {
        Said mine{calls(),   left_,      stray_calls.load(), call.keeps ? 1U : 0U,
                  call.kind, call.bytes, calls_of_mpi(comm_)};
        const bool came = allgather(comm_, Purpose::meeting, &mine, all.data(), sizeof mine,
                                    end_others_wait) == 0;
        if (!came) {
            break;
        }
        const auto any_other = [&](auto member) {
            return std::ranges::any_of(
                all, [&](const Said& one) { return one.*member != mine.*member; });
        };
        // A rank that has made a call more on no communicator has meant this one.
        const std::uint64_t least = std::ranges::min(all, {}, &Said::stray).stray;
        std::ranges::for_each(all, [&](Said& one) { one.call += one.stray - least; });
        record_->number = mine.call += mine.stray - least;
        stray_calls.fetch_sub(mine.stray);
        left_ = 0;
        if (!disagrees_ && goes_on() && !any_other(&Said::call) && !any_other(&Said::left)) {
            return Standing::by_trefoil;  // all had the same wrong call
        }
        disagrees_ = true;
        ++meetings_;
        const std::uint64_t last = std::ranges::max(all, {}, &Said::call).call;
        if (!any_other(&Said::kind) && !any_other(&Said::bytes)) {
            record_->number = last;
            set_calls_of_mpi(comm_, std::ranges::max(all, {}, &Said::mpis).mpis);
            reason_ = Reason::disagreement;
            return std::ranges::all_of(all, [](const Said& one) { return one.keeps != 0; })
                       ? Standing::by_mpi
                       : Standing::failed;
        }
        if (any_other(&Said::call)) {
            if (mine.call != last) {
                return Standing::behind;
            }
        } else if (meetings_ == 1 && !any_other(&Said::kind)) {
            return Standing::failed;  // it cannot be completed, and all know
        } else {
            // Who is behind nobody knows: most, perhaps, for the one whose wrong arguments were not
            // seen here. If the next calls show that it was not so, the few try theirs.
            const bool is_first = !has_parted_;
            has_parted_ = true;
            if ((call_of(mine) == usual_call(all)) == is_first) {
                return Standing::behind;
            }
        }
    }
    meetings_ = most_meetings;
    return Standing::failed;
}

}  // namespace trefoil::mpi
