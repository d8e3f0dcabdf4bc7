// SPDX-License-Identifier: BSD-3-Clause
// A rank's workers and what they share, without an engine that drives them. Include after
// checked_atomics.hpp.
#pragma once

#include <memory>
#include <vector>

#include "backend/ports/read_guard.hpp"
#include "tests/weak_order/machine.hpp"
#include "tests/weak_order/quiet_group.hpp"
#include "threads/executor/executor_parts.hpp"
#include "threads/executor/worker_part.hpp"

namespace trefoil::weak {

constexpr std::size_t bytes = 32;  // of a message
constexpr std::uint64_t call_signature = 0x123456789abcdef0;

Location output(std::size_t place) {
    return {Location::output, place * bytes};
}

/// A rank whose groups have a channel each way, all with a worker's part.
struct Workers {
    /// Channels by group. `made`: they are there; else each worker makes its own. `both`: also
    /// those to the peers.
    explicit Workers(const std::vector<int>& group_of = {0, 1}, bool made = true, bool both = true)
        : wires(group_of.size()) {
        channels.rings = LandingRings(bytes, 0);
        for (int g = 0; g < static_cast<int>(group_of.size()); ++g) {
            groups.push_back(std::make_shared<QuietGroup>(Port{g}));
            channels.groups.push_back(groups.back());
        }
        engine =
            std::make_unique<Engine>(channels.groups, Engine::Member{0, ranks}, threads, false);
        parts = std::make_unique<ExecutorParts>(channels, *engine, ExecutorOptions{});
        for (std::size_t w = 0; w < groups.size(); ++w) {
            workers.push_back(std::make_unique<WorkerPart>(w, 0, engine->links(w), *parts));
        }
        // The peers' cards are as this rank's.
        const std::vector<std::string> cards(ranks, encode(engine->card()));
        engine->meet(std::make_shared<Cards>(cards), [](std::string_view) { return 0; });
        for (Rank peer = 1; peer <= static_cast<Rank>(group_of.size()); ++peer) {
            const Port port{group_of[static_cast<std::size_t>(peer) - 1]};
            if (both) {
                channels.add_out(peer, port, Ring::few);
            }
            channels.add_in(peer, port, Ring::few);
        }
        for (std::size_t w = 0; made && w < workers.size(); ++w) {
            workers[w]->advance();
        }
        for (std::size_t c = 0; made && c < wires.size(); ++c) {  // as peers tell
            wires[c].slot_bytes = bytes;
            wires[c].slots = LandingRings::few_slots;
            wires[c].key = channels.key_of(channels.out[c]);
            workers[c]->wired(wires[c]);
        }
        call.text = "the scenario's call";
        call.signature = call_signature;
    }
    /// Peers let this rank read their vectors, in calls of this hash.
    void open_vectors(std::uint64_t hash) {
        for (const auto& group : groups) {
            group->its_reach = Reach::addresses;
            group->own = &guard;
            group->peers = &peers;
        }
        peers.call.store(hash | 1);
    }

    void begin(const Program& its_program, std::size_t how_many = 1) {
        program = its_program;
        parts->room.include(program, channels.in.size(), channels.out.size());
        for (RunningSegment& segment : parts->queue.places()) {
            segment.make_room(parts->room, channels);
        }
        segments.assign(how_many, CallSegment{&program, 0});
        call.segments = segments;
        running.begin(call, {vector.data(), result.data()}, ++calls);
        parts->in_flight.issue_here();
        parts->calls.push_here(running);
    }
    /// The one message of a use of a channel, as its group's owner finds it.
    void arrive(std::size_t channel, std::uint32_t use) {
        note_write(channels.in[channel].landing + channels.rings.offset(Ring::few, use));
        const auto number = static_cast<std::uint32_t>(channel);
        const std::uint64_t notification =
            Notification{0, number, 0, use}.signed_for(running.hash(), bytes, 0).encode();
        workers[channel]->arrive(notification, number);
    }
    /// A round of the worker.
    void go_round(std::size_t own) {
        workers[own]->advance();
        for (QuietGroup& group = *groups[own]; !group.events.empty();) {
            const PutCookie cookie(group.events.front().cookie);
            group.events.pop_front();
            workers[own]->sent(cookie);
        }
    }
    /// The worker works until its call is done. `arriving`: a message comes at its group, too.
    std::function<void()> worker(const std::shared_ptr<Workers>& self, std::size_t own,
                                 bool arriving = false) {
        return [self, own, arriving] {
            if (arriving) {
                self->arrive(own, 0);
            }
            while (!self->running.done()) {
                self->go_round(own);
                std::this_thread::yield();
            }
            note_read(&self->result[0]);
        };
    }

    static constexpr Rank ranks = 4;
    std::array<std::byte, 8 * bytes> vector{}, result{};
    std::vector<Wire> wires;
    Channels channels;
    std::vector<std::shared_ptr<QuietGroup>> groups;
    ReadGuard guard, peers;
    PortThreads threads{0, {}};
    std::unique_ptr<Engine> engine;
    std::unique_ptr<ExecutorParts> parts;
    std::vector<std::unique_ptr<WorkerPart>> workers;
    Program program;
    std::vector<CallSegment> segments;
    Call call;
    RunningCall running;
    std::uint64_t calls = 0;
};

}  // namespace trefoil::weak
