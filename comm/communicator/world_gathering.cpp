// SPDX-License-Identifier: BSD-3-Clause
// What some ranks tell each other by letters.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "topo/decimals.hpp"
#include "topo/log/log.hpp"
#include "topo/words.hpp"

#include "comm/communicator/world.hpp"

namespace trefoil {

namespace {

std::string seconds_text(std::chrono::milliseconds time) {
    return short_decimal(static_cast<double>(time.count()) / 1000, 6);
}

/// Who has not come, as far as this rank knows; it hears of the others from its parent.
std::string missing_text(const Gathering& gathering, std::chrono::milliseconds time) {
    return "nothing has come for " + seconds_text(time) + " s from rank " +
           joined(gathering.missing()) + " of the first communicator" +
           (gathering.waits_for_parent()
                ? ", which passes on what others say: it has not come, or one that it waits for"
                : "");
}

}  // namespace

/// Any way would do, as both ends of a connection use the same one.
Port World::port_towards(Rank to) const {
    const TorusMap& map = geometry_.map;
    return map.port_between(map.position_of[static_cast<std::size_t>(rank())],
                            map.position_of[static_cast<std::size_t>(to)]);
}

std::vector<Rank> World::missing_in(std::uint64_t tag) {
    const std::lock_guard lock(gathering_mutex_);
    const Gathering* const gathering = gatherings_.find(tag);
    return gathering == nullptr ? std::vector<Rank>() : gathering->missing();
}

bool World::has_somebody_inside() const {
    return engine_->has_somebody_inside() ||
           inside_gatherings_.load(std::memory_order_relaxed) != 0;
}

std::vector<std::string> World::gather(const Meeting& meeting, std::string mine,
                                       std::chrono::milliseconds timeout,
                                       const std::function<bool()>& in_vain) {
    const std::uint64_t tag = meeting.tag;
    const struct Inside {
        explicit Inside(std::atomic<int>& threads) : threads_(threads) { ++threads_; }
        ~Inside() { --threads_; }
        std::atomic<int>& threads_;
    } inside(inside_gatherings_);
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
    const auto begin = std::chrono::steady_clock::now();
    const std::string what = meeting.what.empty() ? "" : " (" + std::string(meeting.what) + ")";
    if (settings_.stall_warning < timeout &&
        !engine_->drive_until(over, begin + settings_.stall_warning)) {
        const std::string text =
            [&] {  // without the mutex the log's function may ask for the status
                const std::lock_guard lock(gathering_mutex_);
                const Gathering& gathering = *gatherings_.find(tag);
                return gathering.missing().empty()
                           ? ""
                           : missing_text(gathering, settings_.stall_warning);
            }();
        if (!text.empty()) {
            const LogScope scope(log_);
            log_warning(LogTopic::call,
                        [&] { return "a communicator is being made" + what + ": " + text; });
        }
    }
    (void)engine_->drive_until(over, begin + timeout);
    const bool complete = !given_up && is_complete();
    const std::lock_guard lock(gathering_mutex_);
    const Gathering& gathering = *gatherings_.find(tag);
    const std::vector<std::string> texts =
        complete ? gathering.texts() : std::vector<std::string>();
    const std::vector<Rank> missing = gathering.missing();
    const std::string text = missing_text(gathering, timeout);
    const std::optional<Error> failure = gatherings_.failure(tag);
    gatherings_.end(tag);
    if (failure && !complete) {
        throw Error(*failure);
    }
    if (!complete && !given_up) {
        throw Error(Status::timeout,
                    "a communicator was to be made" + what + ": " + text + " (TREFOIL_TIMEOUT)",
                    missing.empty() ? Blame() : Blame(missing.front(), Evidence::silent));
    }
    return texts;
}

}  // namespace trefoil
