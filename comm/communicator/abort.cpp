// SPDX-License-Identifier: BSD-3-Clause
// A rank ends the communicator on all ranks.
#include <chrono>
#include <string>
#include <thread>

#include "comm/communicator/communicator.hpp"
#include "topo/log/log.hpp"
#include "topo/patience.hpp"

namespace trefoil {

namespace {

/// So that it fits every letter (ControlMessages::say_failure) with the words before it.
constexpr std::size_t longest_abort_text = 300;
constexpr std::chrono::microseconds nap{500};

/// At most so many bytes, and no part of a UTF-8 character.
std::string_view shortened(std::string_view text) {
    if (text.size() <= longest_abort_text) {
        return text;
    }
    std::size_t end = longest_abort_text;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
        --end;
    }
    return text.substr(0, end);
}

}  // namespace

/// What others have said before this moment is heard first: then theirs is the text.
void Communicator::abort(std::string_view text) {
    if (failed_ != Status::success) {
        return;
    }
    Cause cause{
        Status::aborted, {rank_, Evidence::aborted}, "rank " + std::to_string(rank_) + " aborted"};
    cause.blame.finder = rank_;
    if (!text.empty()) {
        cause.text += ": " + std::string(shortened(text));
    }
    if (ranks() == 1) {
        note_abort(cause);
        return;
    }
    Engine& engine = world_->engine();
    if (lanes_.any() == nullptr) {
        (void)lane(false);
    }
    cause.tentative = true;
    {  // not while the engine is held, for which whoever makes a lane waits
        const std::lock_guard lock(lanes_mutex_);
        abort_cause_ = cause;
    }
    const Engine::Exclusive held(engine, std::chrono::steady_clock::now() + patience().abort_hold);
    if (held.holds()) {
        const auto deadline = std::chrono::steady_clock::now() + patience().abort_hears_others;
        while (!has_failed_lane() && std::chrono::steady_clock::now() < deadline) {
            bool moved = false;
            for (std::size_t g = 0; g < engine.groups().size(); ++g) {
                moved |= engine.listen(g);
            }
            if (!moved) {
                std::this_thread::sleep_for(nap);
            }
        }
    }
    lanes_.for_each([&](Lane& lane) {
        lane.executor().fail(cause);
        engine.enlist(lane.executor());
    });
    if (held.holds()) {
        engine.settle_failures(held);
    } else {
        engine.wake_up().announce_from_outside();
    }
}

/// Where an executor's failure is settled, or this rank is alone.
void Communicator::note_abort(const Cause& cause) {
    {
        const std::lock_guard lock(failure_mutex_);
        if (failed_ != Status::success) {
            return;
        }
        failure_ = Error(cause.status, cause.text, cause.blame);
        failed_ = cause.status;
    }
    const LogScope scope(world_->log());
    log_info(LogTopic::call, [&] { return "the communicator has failed: " + cause.text; });
}

bool Communicator::has_failed_lane() const {
    bool failed = false;
    lanes_.for_each(
        [&](const Lane& lane) { failed |= lane.executor().failed() != Status::success; });
    return failed;
}

/// Before something that is no call: a peer's letter may have ended the communicator.
void Communicator::require_no_failure() {
    lanes_.for_each([&](Lane& lane) {
        Executor& executor = lane.executor();
        if (executor.failed() != Status::success) {
            executor.await_settlement();
            fail(executor.error());
        }
    });
}

}  // namespace trefoil
