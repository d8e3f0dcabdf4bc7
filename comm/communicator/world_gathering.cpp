// SPDX-License-Identifier: BSD-3-Clause
// What some ranks tell each other by letters.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "topo/decimals.hpp"

#include "comm/communicator/world.hpp"

namespace trefoil {

/// Any way would do, as both ends of a connection use the same one: towards the rank, along the
/// first dimension in which it lies elsewhere.
Port World::port_towards(Rank to) const {
    const TorusMap& map = geometry_.map;
    const Rank here = map.position_of[static_cast<std::size_t>(rank())];
    const Rank there = map.position_of[static_cast<std::size_t>(to)];
    for (int j = 0; j < map.torus.dimensions(); ++j) {
        const Rank own = map.torus.coordinate(here, j), other = map.torus.coordinate(there, j);
        if (own != other) {
            const Rank size = map.torus.size(j);
            const Rank ahead = (other + size - own) % size;
            return 2 * ahead <= size ? Port::plus(j) : Port::minus(j);
        }
    }
    throw Error(Status::internal, "a rank does not write letters to itself");
}

std::vector<std::string> World::gather(const Meeting& meeting, std::string mine,
                                       std::chrono::milliseconds timeout,
                                       const std::function<bool()>& in_vain) {
    const std::uint64_t tag = meeting.tag;
    {
        const std::lock_guard lock(gathering_mutex_);
        gatherings_.begin(tag, meeting.members, meeting.place, std::move(mine));
    }
    const auto is_complete = [&] {
        const std::lock_guard lock(gathering_mutex_);
        return gatherings_.find(tag)->complete();
    };
    const auto has_failed = [&] {
        const std::lock_guard lock(gathering_mutex_);
        return gatherings_.failure(tag).has_value();
    };
    // Nobody may drive the engine after this call, so the last letters have to arrive in it.
    const std::vector<Rank> partners = [&] {
        const std::lock_guard lock(gathering_mutex_);
        return gatherings_.find(tag)->partners();
    }();
    const auto have_heard = [&] {
        return std::ranges::all_of(
            partners, [&](Rank rank) { return engine_->was_heard(rank, port_towards(rank)); });
    };
    bool given_up = false;
    const auto over = [&] {
        given_up = in_vain();
        return given_up || has_failed() || (is_complete() && have_heard());
    };
    (void)engine_->drive_until(over, std::chrono::steady_clock::now() + timeout);
    const bool complete = !given_up && is_complete();
    const std::lock_guard lock(gathering_mutex_);
    const Gathering& gathering = *gatherings_.find(tag);
    std::vector<std::string> texts;
    std::string missing;
    if (complete) {
        texts = gathering.texts();
    } else {
        for (const Rank absent : gathering.missing()) {
            missing += (missing.empty() ? "" : ", ") + std::to_string(absent);
        }
    }
    const std::optional<Error> failure = gatherings_.failure(tag);
    gatherings_.end(tag);
    if (failure && !complete) {
        throw Error(*failure);
    }
    if (!complete && !given_up) {
        throw Error(Status::timeout,
                    "a communicator was to be made, and nothing has come from rank " + missing +
                        " of the first communicator within " +
                        short_decimal(static_cast<double>(timeout.count()) / 1000, 6) +
                        " s (TREFOIL_TIMEOUT)");
    }
    return texts;
}

}  // namespace trefoil
