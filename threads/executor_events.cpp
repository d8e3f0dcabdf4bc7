// SPDX-License-Identifier: BSD-3-Clause
// The executor's incoming side: completions, arrivals, and the greeting of new channels.
#include "threads/executor_state.hpp"

namespace trefoil {

bool Executor::poll(Worker& me) {
    const std::size_t count = wire_.groups[me.index]->poll(me.events);
    for (std::size_t i = 0; i < count; ++i) {
        handle(me, me.events[i]);
    }
    return count > 0;
}

void Executor::handle(Worker& me, const Event& event) {
    switch (event.kind) {
        case Event::Kind::sent:
            if (event.cookie != greeting_cookie) {
                spend_token(*segments_[event.cookie >> 32],
                            static_cast<std::uint32_t>(event.cookie));
            }
            break;
        case Event::Kind::arrived:
            arrive(me, event.notice);
            break;
        case Event::Kind::failed:
            fail(Status::peer_lost, "a transfer failed: " + wire_.groups[me.index]->error_text());
            break;
    }
}

void Executor::arrive(Worker& me, std::uint32_t bits) {
    const Notice notice = Notice::decode(bits);
    if (notice.is_control()) {
        control(me, bits);
        return;
    }
    // Segments [adopted - window, adopted) may be under way here; a peer is at most `window` ahead.
    for (std::uint64_t back = 1; back <= window && back <= me.adopted; ++back) {
        const std::uint64_t number = me.adopted - back;
        if (number % Notice::segment_modulus == notice.segment) {
            if (call_ == nullptr) {
                break;
            }
            count_arrival(me, *segments_[number % window], bits);
            return;
        }
    }
    me.early[notice.segment].push_back(bits);
}

void Executor::count_arrival(Worker& me, Segment& segment, std::uint32_t bits) {
    const Notice notice = Notice::decode(bits);
    const auto& by_id = wire_.in_by_id[me.index];
    const Program& program = *segment.program;
    if (notice.channel >= by_id.size()) {
        fail(Status::internal, "a notice names channel " + std::to_string(notice.channel) +
                                   ", which does not exist; please report this");
        return;
    }
    const std::uint32_t channel = by_id[notice.channel];
    const bool expected =
        channel < program.arrivals.size() && notice.index < program.arrivals[channel].count;
    if (!expected || notice.signature != notice.expected_signature(call_->signature)) {
        fail(Status::mismatch, "rank " + std::to_string(wire_.in[channel].peer) +
                                   " makes another call than this rank's " + call_->text + "; " +
                                   same_calls);
        return;
    }
    const std::uint32_t arrival = program.arrivals[channel].first + notice.index;
    if (segment.arrived[arrival].exchange(1, std::memory_order_relaxed) != 0) {
        fail(Status::internal, "a message from rank " + std::to_string(wire_.in[channel].peer) +
                                   " arrived twice; please report this");
        return;
    }
    spend_token(segment, program.arrival_steps[arrival]);
}

void Executor::control(Worker& me, std::uint32_t bits) {
    const Notice notice = Notice::decode(bits);
    const auto& by_id = wire_.in_by_id[me.index];
    if (notice.channel >= by_id.size()) {
        return;
    }
    InChannel& channel = wire_.in[by_id[notice.channel]];
    switch (static_cast<Control>(notice.signature)) {
        case Control::hello:
            channel.greeted = true;
            break;
        case Control::leaving:
            std::atomic_ref(channel.peer_left).store(true, std::memory_order_relaxed);
            break;
        case Control::connecting:
            std::atomic_ref(channel.peer_connecting)
                .store(notice.segment, std::memory_order_relaxed);
            break;
        case Control::mismatch:
        case Control::failed:
            // The peer failed in this call or in a later one: if in a later one, this one can still
            // complete, so look_for_trouble() decides when nothing moves any more.
            std::atomic_ref(channel.peer_failed).store(notice.signature, std::memory_order_relaxed);
            break;
    }
}

bool Executor::poll_all_groups() {
    bool progressed = false;
    for (const auto& worker : workers_) {
        progressed |= poll(*worker);
    }
    return progressed;
}

void Executor::announce_connecting() noexcept {
    for (const OutChannel& channel : wire_.out) {
        const std::uint32_t bits = control_notice(Control::connecting, channel.id, greetings_ + 1);
        // Only a message is at stake: few attempts.
        for (int attempt = 0; attempt < 100; ++attempt) {
            const PutResult result = wire_.groups[channel.group]->put(
                channel.port, channel.endpoint, nullptr, nullptr, channel.landing, channel.offset,
                0, bits, greeting_cookie);
            if (result != PutResult::again) {
                break;
            }
            (void)poll(*workers_[channel.group]);
        }
    }
    (void)poll_all_groups();
}

void Executor::greet(std::size_t first_out, std::size_t first_in) {
    const auto deadline = std::chrono::steady_clock::now() + options_.timeout;
    Waiting waiting(options_.may_spin);
    std::size_t next = first_out;
    std::size_t greeted = first_in;
    while (next < wire_.out.size() || greeted < wire_.in.size()) {
        bool progressed = poll_all_groups();
        while (greeted < wire_.in.size() && wire_.in[greeted].greeted) {
            ++greeted;
        }
        if (next < wire_.out.size()) {
            const OutChannel& channel = wire_.out[next];
            PortGroup& group = *wire_.groups[channel.group];
            const PutResult result = group.put(
                channel.port, channel.endpoint, nullptr, nullptr, channel.landing, channel.offset,
                0, control_notice(Control::hello, channel.id), greeting_cookie);
            if (result == PutResult::failed) {
                fail(Status::peer_lost, "cannot reach rank " + std::to_string(channel.peer) +
                                            " through port " + to_string(channel.port) + " (" +
                                            group.port_text(channel.port) +
                                            "): " + group.error_text());
            }
            if (result == PutResult::done || result == PutResult::queued) {
                ++next;
                progressed = true;
            }
        }
        if (failed_.load(std::memory_order_acquire) != 0) {
            throw Error(static_cast<Status>(failed_.load()), failure());
        }
        if (progressed) {
            waiting.reset();
            continue;
        }
        const auto sleep = waiting.idle();
        if (sleep.count() == 0) {
            continue;
        }
        if (std::chrono::steady_clock::now() > deadline) {
            const bool sending = next < wire_.out.size();
            const Rank peer = sending ? wire_.out[next].peer : wire_.in[greeted].peer;
            const Port port = sending ? wire_.out[next].port : wire_.in[greeted].port;
            fail(Status::timeout, std::string(sending ? "cannot connect to" : "no greeting from") +
                                      " rank " + std::to_string(peer) + " through port " +
                                      to_string(port) + " within the timeout");
            continue;
        }
        for (const auto& group : wire_.groups) {
            group->wait(sleep / static_cast<int>(wire_.groups.size()));
        }
    }
    ++greetings_;
}

}  // namespace trefoil
