// SPDX-License-Identifier: BSD-3-Clause
// What ranks do after they have made different calls, or one of them has left a call to MPI alone:
// Trefoil's communicator has failed then, but MPI's goes on. The ranks come together in the next
// calls that Trefoil would run, tell each other which call that is, and leave this and all later
// ones to the MPI below. Ranks that are behind the others have missed a call: theirs fail.
#include <algorithm>
#include <string_view>
#include <vector>

#include "mpi/allgather.hpp"
#include "mpi/layer.hpp"
#include "mpi/shadow_communicator.hpp"
#include "mpi/words.hpp"

namespace trefoil::mpi {

std::atomic<std::uint64_t> stray_calls{0};

namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};

struct Said {
    std::uint64_t call;   ///< this one's number in the communicator
    std::uint64_t left;   ///< calls that this rank has left alone, and which
    std::uint64_t stray;  ///< calls of this rank's that may have belonged here, too
    std::uint64_t keeps;  ///< what it gives to this call is as it was
};

}  // namespace

/// A rank that finds the other call itself gets an error at once; who is only told of it has done
/// nothing wrong in this call.
bool ShadowCommunicator::is_told_of_disagreement(trefoil_status_t status) {
    if (is_component || (status != TREFOIL_ERROR_MISMATCH && status != TREFOIL_ERROR_ABORTED) ||
        goes_on()) {
        return false;
    }
    disagrees_ = true;
    const std::string_view text(trefoil_last_error(nullptr));
    return status == TREFOIL_ERROR_ABORTED || text.find("; told by rank ") != text.npos ||
           text.find("has failed before: ") != text.npos;
}

ShadowCommunicator::Standing ShadowCommunicator::meet(bool keeps, bool serial) {
    if (resume_ == 0) {
        if (left_ != 0 && !in_use() && prepare(serial) == nullptr) {
            return Standing::by_trefoil;  // which tells why not
        }
        const Said mine{call_, left_, stray_calls.load(), keeps ? 1U : 0U};
        std::vector<Said> all(ranks_);
        const auto end_others_wait = [this] {
            for (const trefoil_comm_t comm : {threaded_, serial_}) {
                if (comm != nullptr) {
                    trefoil_comm_abort(comm,
                                       "a rank has left a call to MPI, as its arguments are wrong");
                }
            }
        };
        const bool came = allgather(comm_, &mine, all.data(), sizeof mine, end_others_wait) == 0;
        const auto differs = [&](const Said& one) {
            return one.call != mine.call || one.left != mine.left;
        };
        if (!came ||
            std::ranges::any_of(all, [&](const Said& one) { return one.stray != mine.stray; })) {
            resume_ = never;
            return Standing::failed;
        }
        left_ = 0;
        if (!disagrees_ && goes_on() && std::ranges::none_of(all, differs)) {
            return Standing::by_trefoil;  // all had the same wrong call
        }
        resume_ = std::ranges::max(all, {}, &Said::call).call;
        keeps = std::ranges::all_of(
            all, [this](const Said& one) { return one.call != resume_ || one.keeps != 0; });
        if (!keeps) {
            ++resume_;
            return Standing::failed;
        }
    }
    if (call_ < resume_) {
        return resume_ == never ? Standing::failed : Standing::behind;
    }
    reason_ = Reason::disagreement;
    return Standing::by_mpi;
}

}  // namespace trefoil::mpi
