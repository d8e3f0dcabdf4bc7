// SPDX-License-Identifier: BSD-3-Clause
// The communicator of those that are left.
#include <algorithm>
#include <string>
#include <utility>

#include "comm/communicator/communicator.hpp"
#include "topo/blob.hpp"
#include "topo/log/log.hpp"
#include "topo/words.hpp"

namespace trefoil {

namespace {

std::vector<Rank> absent_ranks(const std::vector<Rank>& all, const std::vector<Rank>& left) {
    std::vector<Rank> ranks;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (std::find(left.begin(), left.end(), all[rank]) == left.end()) {
            ranks.push_back(static_cast<Rank>(rank));
        }
    }
    return ranks;
}

}  // namespace

/// What this rank offers stays the same until it has succeeded: the others may know it already.
std::unique_ptr<Communicator> Communicator::shrink() {
    const LogScope scope(world_->log());
    std::optional<Rank> suspected;
    lanes_.for_each([&](Lane& lane) {
        Executor& executor = lane.executor();
        if (executor.failed() != Status::success) {
            executor.await_settlement();
            const Cause cause = executor.cause();
            if (cause.status == Status::peer_lost && cause.blame.culprit != Blame::nobody) {
                suspected = first_rank_of(channel_settings_, cause.blame.culprit);
            }
        }
    });
    if (!offer_) {
        offer_.emplace(world_->read_places().offer());
    }
    BlobWriter word;
    word.number(offer_->bits());
    const std::vector<Rank>& all = geometry_.first_rank;
    const World::Left left =
        world_->find_survivors({identity_.shrink_tag(), all, static_cast<std::size_t>(rank_)},
                               word.bytes(), settings().timeout, suspected);
    std::uint64_t offered = ~std::uint64_t{0};
    for (const std::string& told : left.words) {
        offered &= BlobReader(told).number<std::uint64_t>();
    }
    if (left.ranks != all && failed_ == Status::success) {
        end_for_the_dead(absent_ranks(all, left.ranks));
    }
    const Identity identity = identity_.shrunk(left.ranks);
    identity_.count_shrink();
    const std::optional<int> place = offer_->take(offered);
    offer_.reset();
    return made(left.ranks == all ? geometry_ : geometry_of(world_->geometry(), left.ranks),
                identity, place);
}

/// Its calls in flight wait in vain.
void Communicator::end_for_the_dead(const std::vector<Rank>& absent) {
    try {
        fail(Error(Status::peer_lost,
                   "rank " + joined(absent) + " is gone, as was found when it was shrunk",
                   {absent.front(), Evidence::silent}));
    } catch (const Error&) {  // which later calls tell
    }
}

}  // namespace trefoil
