// SPDX-License-Identifier: BSD-3-Clause
// Puts and arrivals that are late, refused, lost, doubled or damaged.
#include "backend/faults/faulty_group.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "backend/ports/forwarding_group.hpp"
#include "topo/patience.hpp"

namespace trefoil {

namespace {

using Clock = std::chrono::steady_clock;

/// Of puts that nobody but this group has asked for.
constexpr std::uint64_t own_cookie = ~std::uint64_t{0};
/// Damaged payloads are kept until the group ends, since a cookie does not tell which put has been
/// sent. Beyond this many bytes nothing is damaged any more.
constexpr std::size_t most_damaged_bytes = std::size_t{256} << 20;

/// What becomes of a put; drawn once, so that trying it again changes nothing.
struct Fate {
    std::uint32_t refusals = 0;
    bool fails = false, lost = false, twice = false;
    std::optional<std::uint64_t> flipped_bit;
};

class FaultyGroup final : public ForwardingGroup, public Waking {
  public:
    FaultyGroup(std::unique_ptr<PortGroup> group, const FaultPlan& plan, Rank rank)
        : ForwardingGroup(std::move(group)), plan_(plan) {
        powers_.waking = this;
        const auto first = ports_.empty() ? 0U : static_cast<unsigned>(ports_.front().index);
        std::seed_seq seeds{static_cast<unsigned>(plan.seed),
                            static_cast<unsigned>(plan.seed >> 32), static_cast<unsigned>(rank),
                            first};
        random_.seed(seeds);
        stalls_at_ = plan.stall > 0 ? 1 + below(plan.stall) : 0;
        closes_at_ = plan.close > 0 ? 1 + below(plan.close) : 0;
    }
    ~FaultyGroup() override { drain(Clock::now() + patience().longest_drain); }

    PutResult put(const Put& put) override;
    std::size_t poll(std::span<Event> events) override;
    void wait(std::chrono::microseconds longest) override;
    void wake() override { inner().wake(); }
    void abandon(std::chrono::milliseconds longest) noexcept override;
    std::string error_text() const override {
        return refused_ ? "refused by TREFOIL_FAULTS" : ForwardingGroup::error_text();
    }

  private:
    struct HeldPut {
        Clock::time_point due;
        Put put;
        Fate fate;
    };
    struct HeldArrival {
        Clock::time_point due;
        Event event;
    };

    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    bool chance(double of_one) {
        return of_one > 0 && static_cast<double>(random_() >> 11) * 0x1p-53 < of_one;
    }
    Clock::time_point some_time() {
        const auto longest = static_cast<std::uint64_t>(plan_.delay.count());
        return Clock::now() + std::chrono::microseconds(below(longest + 1));
    }

    Fate draw(const Put& put);
    PutResult pass(const Put& put, const Fate& fate);
    PutResult pass_damaged(const Put& put, std::uint64_t bit);
    void post_due(std::deque<Event>& events, Clock::time_point now);
    void take(const Event& event);
    void drain(Clock::time_point deadline) noexcept;

    const FaultPlan plan_;
    std::mt19937_64 random_;
    std::uint64_t puts_ = 0;  ///< whose fate was drawn
    std::uint64_t stalls_at_ = 0, closes_at_ = 0;
    std::optional<Peer> closed_;  ///< nothing gets there any more
    std::optional<Fate> fate_;    ///< of the put that is to be tried again
    std::deque<HeldPut> puts_held_;
    std::deque<HeldArrival> arrivals_held_;
    std::deque<Event> ready_;
    std::deque<std::vector<std::byte>> damaged_;
    std::size_t damaged_bytes_ = 0;
    bool refused_ = false;  ///< what failed last was refused here
    bool abandoned_ = false;
};

Fate FaultyGroup::draw(const Put& put) {
    ++puts_;
    if (puts_ == closes_at_) {
        closed_ = put.peer;
    }
    Fate fate;
    fate.refusals = plan_.again > 0 ? static_cast<std::uint32_t>(below(plan_.again + 1)) : 0;
    fate.fails = chance(plan_.fail);
    fate.lost = chance(plan_.drop) || (closed_ && closed_->handle == put.peer.handle);
    fate.twice = chance(plan_.twice);
    if (chance(plan_.flip) && put.bytes > 0) {
        fate.flipped_bit = below(8 * put.bytes);
    }
    return fate;
}

PutResult FaultyGroup::put(const Put& put) {
    if (!fate_) {
        fate_ = draw(put);
    }
    if (stalls_at_ > 0 && puts_ >= stalls_at_) {
        return PutResult::again;
    }
    if (fate_->refusals > 0) {
        --fate_->refusals;
        return PutResult::again;
    }
    if (plan_.delay.count() > 0) {
        puts_held_.push_back({some_time(), put, *fate_});
        fate_.reset();
        return PutResult::queued;
    }
    const PutResult result = pass(put, *fate_);
    if (result != PutResult::again) {
        fate_.reset();
    }
    return result;
}

PutResult FaultyGroup::pass(const Put& put, const Fate& fate) {
    refused_ = fate.fails;
    if (fate.fails) {
        return PutResult::failed;
    }
    if (fate.lost) {
        return PutResult::done;
    }
    const PutResult result = fate.flipped_bit && damaged_bytes_ + put.bytes <= most_damaged_bytes
                                 ? pass_damaged(put, *fate.flipped_bit)
                                 : inner().put(put);
    const bool accepted = result == PutResult::done || result == PutResult::queued;
    if (accepted && fate.twice) {  // if there is no room, once will do
        (void)inner().put({.port = put.port,
                           .peer = put.peer,
                           .target = put.target,
                           .offset = put.offset,
                           .notification = put.notification,
                           .cookie = own_cookie});
    }
    return result;
}

PutResult FaultyGroup::pass_damaged(const Put& put, std::uint64_t bit) {
    const auto damage = [bit](std::byte* payload) {
        payload[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    };
    // What was gathered where it lands is no memory of the caller's any more.
    std::byte* const place =
        inner().landings() == nullptr
            ? nullptr
            : inner().landings()->landing(put.peer, put.target, put.offset, put.bytes);
    if (place != nullptr && place == put.source) {
        damage(place);
        const PutResult result = inner().put(put);
        if (result == PutResult::again) {
            damage(place);  // as it was: it will be tried again
        }
        return result;
    }
    Put damaged = put;
    std::byte* copy = nullptr;
    if (traits_.needs_registered_source) {
        const LocalMemory memory = inner().allocate(put.bytes);
        copy = memory.data;
        damaged.descriptor = memory.descriptor;
    } else {
        copy = damaged_.emplace_back(put.bytes).data();
    }
    damaged_bytes_ += put.bytes;
    std::memcpy(copy, put.source, put.bytes);
    damage(copy);
    damaged.source = copy;
    return inner().put(damaged);
}

/// The held puts whose time has come; what is known of them at once goes to `events`.
void FaultyGroup::post_due(std::deque<Event>& events, Clock::time_point now) {
    std::erase_if(puts_held_, [&](const HeldPut& held) {
        const PutResult result = held.due <= now ? pass(held.put, held.fate) : PutResult::again;
        if (result == PutResult::done) {
            events.push_back({Event::Kind::sent, 0, held.put.cookie});
        } else if (result == PutResult::failed) {
            events.push_back({Event::Kind::failed, 0, held.put.cookie});
        }
        return result != PutResult::again;
    });
}

void FaultyGroup::take(const Event& event) {
    if (event.kind == Event::Kind::arrived && plan_.delay.count() > 0) {
        arrivals_held_.push_back({some_time(), event});
        return;
    }
    if (event.kind == Event::Kind::failed) {
        refused_ = false;
    }
    if (event.cookie != own_cookie) {
        ready_.push_back(event);
    } else if (event.kind == Event::Kind::failed) {
        ready_.push_back({Event::Kind::failed, 0, 0});  // of no put that the owner knows
    }
}

std::size_t FaultyGroup::poll(std::span<Event> events) {
    const Clock::time_point now = Clock::now();
    if (!abandoned_) {
        post_due(ready_, now);
    }
    std::array<Event, 64> come;
    const std::size_t count = inner().poll(come);
    std::for_each_n(come.begin(), count, [this](const Event& event) { take(event); });
    std::erase_if(arrivals_held_, [&](const HeldArrival& held) {
        if (held.due <= now) {
            ready_.push_back(held.event);
        }
        return held.due <= now;
    });
    const std::size_t written = std::min(events.size(), ready_.size());
    std::copy_n(ready_.begin(), written, events.begin());
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(written));
    return written;
}

void FaultyGroup::wait(std::chrono::microseconds longest) {
    if (!ready_.empty()) {
        return;
    }
    Clock::time_point due = Clock::now() + longest;
    for (const HeldPut& held : puts_held_) {
        due = std::min(due, held.due);
    }
    for (const HeldArrival& held : arrivals_held_) {
        due = std::min(due, held.due);
    }
    const auto left = std::chrono::ceil<std::chrono::microseconds>(due - Clock::now());
    if (left.count() > 0) {
        inner().wait(std::min(left, longest));
    }
}

/// Nobody waits for what is late any more.
void FaultyGroup::drain(Clock::time_point deadline) noexcept {
    std::array<Event, 64> events;
    while (!puts_held_.empty() && !abandoned_) {
        post_due(ready_, Clock::time_point::max());
        ready_.clear();
        if (Clock::now() > deadline) {
            puts_held_.clear();
        } else if (inner().poll(events) == 0) {
            std::this_thread::yield();
        }
    }
}

void FaultyGroup::abandon(std::chrono::milliseconds longest) noexcept {
    const Clock::time_point deadline = Clock::now() + longest;
    drain(deadline);
    abandoned_ = true;
    const auto left = std::chrono::floor<std::chrono::milliseconds>(deadline - Clock::now());
    inner().abandon(std::max(left, std::chrono::milliseconds{0}));
}

}  // namespace

std::vector<std::unique_ptr<PortGroup>> with_faults(std::vector<std::unique_ptr<PortGroup>> groups,
                                                    const FaultPlan& plan, Rank rank) {
    if (plan.concerns(rank)) {
        for (std::unique_ptr<PortGroup>& group : groups) {
            group = std::make_unique<FaultyGroup>(std::move(group), plan, rank);
        }
    }
    return groups;
}

}  // namespace trefoil
