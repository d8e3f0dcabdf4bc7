// SPDX-License-Identifier: BSD-3-Clause
// From issued calls to segments, and from a group's events to their steps.
#include "threads/executor/worker_part.hpp"

#include <cstring>
#include <new>
#include <string>
#include <thread>

#include "backend/ports/powers.hpp"
#include "threads/executor/engine.hpp"
#include "threads/executor/put_cookie.hpp"
#include "threads/executor/suspects.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

namespace {

/// Peers are heard when so many have been in vain.
constexpr int yields_for_flag = 40;

TraceRing* ring_of(const ExecutorOptions& options, std::size_t worker) {
    return options.trace == nullptr ? nullptr : &options.trace->ring(worker);
}

/// Room is made while calls run, when they are the first of their size.
template <typename Make>
bool made_room(Failure& failure, Make&& make) noexcept {
    try {
        make();
        return true;
    } catch (const std::bad_alloc&) {
        failure.set_own(Status::out_of_memory);
    } catch (const Error& error) {
        failure.set_own(error.status(), error.what());
    }
    return false;
}

}  // namespace

WorkerPart::WorkerPart(std::size_t worker, std::uint32_t executor, Links& links,
                       ExecutorParts& parts)
    : number_(worker),
      executor_(executor),
      parts_(parts),
      group_(parts.channels.groups[worker].get()),
      links_(links),
      notes_(ring_of(parts.options, worker), static_cast<std::uint32_t>(parts.channels.key)),
      poster_(static_cast<int>(worker), executor, parts.channels, parts.queue, parts.steps,
              parts.failure, notes_),
      arrivals_(worker, parts.channels, parts.queue, parts.steps, parts.controls, parts.failure,
                notes_) {}

bool WorkerPart::advance() noexcept {
    if (has_new_channels()) {
        open_new_channels();
    }
    bool progressed = number_ == 0 && start_segments();
    progressed |= adopt_segments();
    progressed |= poster_.post_ready();
    return progressed;
}

void WorkerPart::try_at_once(const RunningCall& call, Waits waits, const Engine& engine) noexcept {
    if (has_new_channels() || failed() || notes_.on()) {
        return;
    }
    // A message between two cores takes less than the most of these looks.
    const int looks = waits == Waits::spinning ? 100 : waits == Waits::yes ? 4 : 0;
    // The peer waits for this core. Whoever has it again looks for the flag alone: a whole round of
    // the worker takes as long as a call has to do.
    const int yields = waits == Waits::yes ? yields_for_flag : 0;
    StoredCalls& calls = parts_.stored;
    bool moved = calls.advance(notes_);
    for (int vain = 0; vain < looks + yields && !call.done(); ++vain) {
        if (vain >= looks) {
            if (!calls.wait_for_flags() || !engine.may_wait_for_one_call()) {
                break;
            }
            std::this_thread::yield();
        }
        if (calls.may_go_on()) {
            if (!calls.advance(notes_)) {
                break;
            }
            moved = true;
            vain = -1;
        }
    }
    if (moved) {
        count_move();
    }
}

/// Calls start in the order in which they were issued, and so do their segments.
bool WorkerPart::start_segments() noexcept {
    if (parts_.channels.rings.are_stored()) {
        return parts_.stored.advance(notes_);
    }
    bool started = false;
    while (parts_.queue.has_room()) {
        RunningCall* const call = parts_.calls.first();
        if (call == nullptr || !start_next(*call)) {
            break;
        }
        started = true;
    }
    return started;
}

bool WorkerPart::count_channels() noexcept {
    const Channels& channels = parts_.channels;
    while (landed_ < channels.in.size() &&
           channels.in[landed_].landed.load(std::memory_order_acquire)) {
        ++landed_;
    }
    while (connected_ < channels.out.size() &&
           channels.out[connected_].connected.load(std::memory_order_acquire)) {
        ++connected_;
    }
    return landed_ == channels.in.size() && connected_ == channels.out.size();
}

bool WorkerPart::start_next(RunningCall& call) noexcept {
    if (!all_channels_are_there() &&
        !RunningSegment::may_start(*call.first_waiting().program, parts_.channels)) {
        return false;  // another worker takes its landing memory
    }
    if (!call.first_waiting().program->drains_at.empty() && !parts_.queue.last_drains()) {
        return false;
    }
    if (call.reads_peers() && !call.has_started()) {
        // A guard lets peers read the vectors of one call: the others wait for it, on all ranks.
        if (parts_.in_flight.reads()) {
            return false;
        }
        parts_.in_flight.begin_reads();
        parts_.reads.open(call.hash());
    }
    SegmentQueue& queue = parts_.queue;
    RunningSegment& segment = queue.next();
    const std::size_t workers = parts_.channels.groups.size();
    if (!made_room(parts_.failure, [&] { segment.make_room(parts_.room, parts_.channels); })) {
        return false;
    }
    segment.start(call, call.next_segment(), queue.next_number(), parts_.channels,
                  static_cast<std::uint32_t>(workers), notes_.clock());
    if (!call.has_more()) {
        parts_.calls.pop();  // before it may be complete
    }
    parts_.steps.begin(queue, notes_);
    return true;
}

bool WorkerPart::adopt_segments() noexcept {
    bool adopted = false;
    while (adopted_ < parts_.queue.published()) {
        RunningSegment& segment = parts_.queue.at(adopted_);
        std::uint64_t& made = room_[adopted_ % segment_window];
        if (made != parts_.room.version() && !made_room(parts_.failure, [&] {
                parts_.room.make_room(made, [&](const ProgramSizes& sizes) {
                    arrivals_.make_room(sizes);
                    poster_.make_room(sizes, segment);
                });
            })) {
            break;
        }
        ++adopted_;
        arrivals_.adopt(segment);
        poster_.adopt(segment);
        adopted = true;
    }
    return adopted;
}

bool WorkerPart::sent(const PutCookie& cookie) noexcept {
    poster_.left();
    if (failed() || cookie.step() == PutCookie::no_step) {
        return false;
    }
    parts_.steps.count_event(parts_.queue.at(cookie.place()), cookie.step(), notes_);
    return true;
}

void WorkerPart::put_failed(const PutCookie& cookie) noexcept {
    poster_.left();
    const OutChannel& channel = parts_.channels.out[cookie.channel()];
    parts_.failure.suspect(Status::peer_lost, channel.peer,
                           "a message failed from " + route_text(parts_.channels, channel) + ": " +
                               group_->error_text());
}

void WorkerPart::group_failed() noexcept {
    parts_.failure.suspect(Status::peer_lost, Cause::nobody, group_->error_text());
}

/// Channels that the planning thread has added are made by their groups' owners, in any order.
/// What cannot be made is this rank's failure, of which it tells.
void WorkerPart::open_new_channels() noexcept {
    Channels& channels = parts_.channels;
    Rank peer = Cause::nobody;
    try {
        for (; opened_in_ < channels.in.size(); ++opened_in_) {
            if (channels.in[opened_in_].group == static_cast<int>(number_)) {
                peer = channels.in[opened_in_].peer;
                land(static_cast<std::uint32_t>(opened_in_));
            }
        }
        for (; opened_out_ < channels.out.size(); ++opened_out_) {
            if (channels.out[opened_out_].group == static_cast<int>(number_)) {
                peer = channels.out[opened_out_].peer;
                connect(static_cast<std::uint32_t>(opened_out_));
            }
        }
    } catch (const CannotConnect& error) {
        not_connected(peer, error.connection());
    } catch (const Error& error) {
        not_connected(peer, error.status(), error.what());
    } catch (const std::bad_alloc&) {
        not_connected(peer, Status::out_of_memory, "no memory for a connection");
    }
    parts_.controls.take_early_words(number_);
    parts_.wake_up.announce();  // worker 0 waits for landing memory
}

/// A peer that is lost may be so because of another rank. All else is this rank's own fault, and
/// the others hear whose.
void WorkerPart::not_connected(Rank peer, Status status, const char* text) noexcept {
    const Rank own = parts_.channels.rank;
    try {
        if (status == Status::peer_lost) {
            parts_.failure.suspect(status, peer, text);
        } else {
            parts_.failure.set(
                Cause{status, {own, Evidence::own}, rank_text(parts_.options, own) + ": " + text});
        }
    } catch (const std::bad_alloc&) {
        parts_.failure.set(Cause{status, {own, Evidence::own}});
    }
}

/// The ends are named by their ranks in this communicator.
void WorkerPart::not_connected(Rank peer, const BrokenConnection& connection) noexcept {
    std::string text;
    try {
        text = "cannot connect " + route_text(parts_.channels, connection.port, peer) + ": " +
               connection.why;
    } catch (const std::bad_alloc&) {  // fewer words
    }
    not_connected(peer, connection.status, text.c_str());
}

/// One more, whose first bytes say how many uses are done with.
std::uint32_t WorkerPart::landing_slots(const RingShape& shape) const {
    return shape.slots + (parts_.channels.rings.are_stored() ? 1 : 0);
}

void WorkerPart::place_end(StoringEnd& end, std::byte* memory, const RingShape& shape) {
    end.slots = memory;
    end.taken = reinterpret_cast<std::uint64_t*>(memory + shape.bytes());
}

void WorkerPart::land(std::uint32_t number) {
    Channels& channels = parts_.channels;
    InChannel& channel = channels.in[number];
    const RingShape& shape = channels.rings[channel.ring];
    const std::uint32_t slots = landing_slots(shape);
    Landing& landing = links_.wiring().want(channels.key_of(channel), shape.slot_bytes, slots);
    landing.user = this;
    landing.number = number;
    channel.landing = landing.data;
    if (channels.rings.are_stored()) {
        // The peer has not heard of it yet. Others may have left flags there; of memory that nobody
        // has had pages are only taken where messages land.
        if (!landing.memory.untouched) {
            std::memset(landing.data, 0, shape.slot_bytes * slots);
        }
        const ChannelKey key = channels.key_of(channel);
        channel.end.peer = links_.post().connection(key.peer, key.port).endpoint;
        place_end(channel.end, landing.data, shape);
    }
    channel.proof = landing.proof;
    channel.landed.store(true, std::memory_order_release);
}

void WorkerPart::connect(std::uint32_t number) {
    Channels& channels = parts_.channels;
    OutChannel& channel = channels.out[number];
    const ChannelKey key = channels.key_of(channel);
    const Connection& connection = links_.post().connection(key.peer, key.port);
    Wire* const wire = links_.wiring().wire_of(key);
    if (wire == nullptr && connection.broken_as != Status::success) {
        // It broke before this channel was wanted, and nobody will say where to put.
        throw CannotConnect(
            links_.post().broken(key.peer, key.port, connection.broken_as, connection.broken_why));
    }
    channel.endpoint = connection.endpoint;
    channel.connected.store(true, std::memory_order_release);
    if (wire != nullptr) {
        set_wire(number, *wire);
    }
}

void WorkerPart::set_wire(std::uint32_t number, Wire& wire) noexcept {
    OutChannel& channel = parts_.channels.out[number];
    const RingShape& shape = parts_.channels.rings[channel.ring];
    const std::uint32_t slots = landing_slots(shape);
    if (wire.slot_bytes != shape.slot_bytes || wire.slots != slots) {
        parts_.failure.set(Status::mismatch,
                           "rank " + std::to_string(channel.peer) + " has " +
                               std::to_string(wire.slots) + " landing slots of " +
                               std::to_string(wire.slot_bytes) + " bytes, rank " +
                               std::to_string(parts_.channels.rank) + " has " +
                               std::to_string(slots) + " of " + std::to_string(shape.slot_bytes),
                           {channel.peer, Evidence::disagrees});
        return;
    }
    channel.wire = &wire;
    if (parts_.channels.rings.are_stored()) {
        channel.end.peer = channel.endpoint;
        place_end(channel.end, group_->storing()->mapped(wire.memory) + wire.offset, shape);
    }
    channel.wired.store(true, std::memory_order_relaxed);
}

void WorkerPart::wired(Wire& wire) noexcept {
    const Channels& channels = parts_.channels;
    for (std::uint32_t out = 0; out < opened_out_; ++out) {  // else connect() will find it
        if (channels.out[out].group == static_cast<int>(number_) &&
            channels.key_of(channels.out[out]) == wire.key) {
            set_wire(out, wire);
            return;
        }
    }
}

void WorkerPart::peer_left(const ChannelKey& key) noexcept {
    const auto note = [&](auto& all) {
        for (auto& channel : all) {
            if (parts_.channels.key_of(channel) == key) {
                channel.left.store(true, std::memory_order_relaxed);
            }
        }
    };
    note(parts_.channels.out);
    note(parts_.channels.in);
}

void WorkerPart::take_letter(Rank from_first, std::string_view letter) noexcept {
    const Rank peer = rank_of_first(parts_.channels, from_first);
    if (peer != Cause::nobody) {
        parts_.controls.take_letter(peer, letter);
        hear_abort();
    }
}

void WorkerPart::hear_abort() noexcept {
    if (failed() || !parts_.controls.reports().failure_has_come()) {
        return;
    }
    try {
        if (auto told = parts_.controls.reports().failure();
            told && told->cause.status == Status::aborted) {
            told->cause.tentative = true;
            parts_.failure.set(told->cause);
        }
    } catch (const std::bad_alloc&) {  // PeerWatch tries it again
    }
}

/// What cannot be read, or reached, is left alone: messages go to landing slots.
void WorkerPart::take_direct_letter(Rank from_first, Port own, std::string_view letter) noexcept {
    const Rank peer = rank_of_first(parts_.channels, from_first);
    if (peer == Cause::nobody) {
        return;
    }
    try {
        const DirectCalls::Accepted accepted =
            parts_.direct.take_letter(peer, own, static_cast<int>(number_), letter);
        if (accepted.call != nullptr) {
            poster_.accepted(*accepted.call, accepted.in, accepted.from);
        }
    } catch (const std::exception& error) {
        log_info(LogTopic::transport, [&] {
            return "rank " + std::to_string(peer) + " cannot be put into straight: " + error.what();
        });
    }
}

/// Of interest where something is still to be told through it.
void WorkerPart::broken(const BrokenConnection& connection) noexcept {
    const auto waits = [&](const auto& channel) {
        return channel.port == connection.port &&
               first_rank_of(parts_.channels, channel.peer) == connection.peer &&
               !channel.wired.load(std::memory_order_relaxed);
    };
    for (const OutChannel& channel : parts_.channels.out) {
        if (waits(channel)) {
            not_connected(channel.peer, connection);
        }
    }
}

void WorkerPart::pass_failure_on() noexcept {
    if (parts_.controls.reports().failure_has_come()) {
        parts_.controls.pass_failure_on(number_);
    }
}

}  // namespace trefoil
