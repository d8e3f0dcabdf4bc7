// SPDX-License-Identifier: BSD-3-Clause
// The executor's main path: starting segments, posting puts, completing steps.
#include "threads/executor/executor.hpp"

#include <algorithm>
#include "threads/executor/state.hpp"

namespace trefoil {

namespace {

/// Room for `count` value-initialised atomics, kept when large enough.
template <typename T>
void ensure(std::unique_ptr<std::atomic<T>[]>& array, std::size_t& capacity, std::size_t count) {
    if (count > capacity) {
        array = std::make_unique<std::atomic<T>[]>(count);
        capacity = count;
    }
}
}  // namespace

void Executor::Segment::reserve(const Program& p, Channels& channels) {
    ensure(tokens, step_capacity, p.steps.size());
    ensure(open_step, part_capacity, p.parts.size());
    ensure(arrived, arrival_capacity, p.arrival_steps.size());
    if (scratch.size() < p.scratch_bytes) {
        scratch.resize(p.scratch_bytes);
    }
    packs.resize(channels.groups.size());
    pack_storage.resize(channels.groups.size());
    for (std::size_t g = 0; g < p.pack_bytes.size(); ++g) {
        if (packs[g].bytes >= p.pack_bytes[g]) {
            continue;
        }
        // Doubling keeps what outgrown registered buffers hold below twice the largest.
        const std::size_t bytes = std::max(p.pack_bytes[g], 2 * packs[g].bytes);
        if (channels.groups[g]->needs_registered_source()) {
            packs[g] = channels.groups[g]->allocate(bytes);
        } else {
            pack_storage[g].resize(bytes);
            packs[g] = {pack_storage[g].data(), bytes, nullptr};
        }
    }
    buffers.reserve(channels.in.size());
    in_use.resize(channels.in.size());
    out_use.resize(channels.out.size());
    opened.resize(std::max(opened.size(), p.parts.size()));
}

Executor::Executor(Channels& channels, PortThreads& port_threads, ExecutorOptions options)
    : channels_(channels),
      port_threads_(port_threads),
      options_(std::move(options)),
      wake_up_(channels.groups),
      failure_(wake_up_),
      operations_(channels, failure_) {
    for (std::uint32_t i = 0; i < window; ++i) {
        segments_.push_back(std::make_unique<Segment>());
    }
    for (int i = 0; i < port_threads.workers(); ++i) {
        workers_.push_back(std::make_unique<Worker>(i, options_.may_spin));
        workers_.back()->in_caller = i == 0 && port_threads.caller_works();
        if (options_.trace != nullptr) {
            workers_.back()->trace = &options_.trace->ring(static_cast<std::size_t>(i));
        }
    }
}

Executor::~Executor() = default;

std::size_t Executor::staging_bytes() const {
    std::size_t bytes = 0;
    for (const auto& segment : segments_) {
        for (const LocalMemory& pack : segment->packs) {
            bytes += pack.bytes;
        }
    }
    return bytes;
}

void Executor::reserve(const Program& program) {
    for (const auto& segment : segments_) {
        segment->reserve(program, channels_);
    }
    for (const auto& worker : workers_) {
        for (auto& cursors : worker->cursors) {
            cursors.resize(std::max(cursors.size(), program.parts.size()));
        }
        worker->segments_by_use.resize(channels_.in.size());
        // At most three uses of each channel can be ahead of this rank, perhaps of later calls.
        worker->early.reserve(std::max<std::size_t>(
            64, 3 * std::max(program.arrival_steps.size(), channels_.in.size())));
    }
}

Status Executor::run(const Call& call) noexcept {
    if (failure_.happened()) {
        return failure_.status();
    }
    call_ = &call;
    ++calls_;
    call_hash_ = call.signature ^ calls_ * 0x9e3779b97f4a7c15ULL;
    started_in_call_ = 0;
    completed_.store(0, std::memory_order_relaxed);
    auto job = [this](int worker) { work(worker); };
    if (!port_threads_.run(job, options_.progress)) {  // synchronises with its workers' return
        failure_.set(
            Status::system_error,
            "the OpenMP runtime grants fewer threads than the " +
                std::to_string(port_threads_.workers()) +
                " that drive the ports since this communicator was made; keep OMP_DYNAMIC off and "
                "the thread limit as it was, or choose TREFOIL_PORT_THREADS_BY=dedicated");
    }
    call_ = nullptr;
    const Status status = failure_.status();
    if (status != Status::success) {
        tell_peers(static_cast<std::uint32_t>(status == Status::mismatch ? Control::mismatch
                                                                         : Control::failed));
    }
    return status;
}

void Executor::work(int worker) noexcept {
    Worker& me = *workers_[worker];
    me.waiting.reset();
    me.is_idle = false;
    me.warned = false;
    me.reported = false;
    const std::int64_t begin = me.clock();
    run_call(me);
    if (begin != 0) {
        note_progress(me);
        note_call(me, begin);
    }
}

void Executor::run_call(Worker& me) noexcept {
    while (true) {
        me.changes_seen = wake_up_.changes();
        bool progressed = me.index == 0 && start_segments(me);
        progressed |= adopt_segments(me);
        progressed |= post_ready(me);
        progressed |= poll(me);
        if (completed_.load(std::memory_order_acquire) == call_->segments.size() ||
            failure_.happened()) {
            return;
        }
        if (progressed) {
            me.waiting.reset();
            me.is_idle = false;
            if (me.trace != nullptr) {
                note_progress(me);
            }
        } else if (!idle(me)) {
            return;
        }
    }
}

bool Executor::start_segments(Worker& me) {
    bool started = false;
    while (started_in_call_ < call_->segments.size() &&
           !segments_[next_segment_ % window]->running.load(std::memory_order_acquire)) {
        start_segment(me, started_in_call_++);
        started = true;
    }
    return started;
}

void Executor::start_segment(Worker& me, std::size_t number) {
    Segment& segment = *segments_[next_segment_ % window];
    const CallSegment& piece = call_->segments[number];
    const Program& program = *piece.program;
    segment.program = &program;
    segment.number = next_segment_;
    segment.index_in_call = number;
    segment.begun = me.clock();
    const auto shifted = [&](auto* base) {
        return base == nullptr ? nullptr : base + piece.offset;
    };
    segment.buffers.place(Location::output, shifted(call_->output));
    segment.buffers.place(Location::input,
                          const_cast<std::byte*>(shifted(call_->input)));  // only read
    segment.buffers.place(Location::scratch, segment.scratch.data());
    number_uses(segment);
    for (std::size_t i = 0; i < program.arrival_steps.size(); ++i) {
        segment.arrived[i].store(0, std::memory_order_relaxed);
    }
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        segment.tokens[i].store(program.steps[i].tokens, std::memory_order_relaxed);
    }
    for (std::size_t p = 0; p < program.parts.size(); ++p) {
        segment.open_step[p].store(Segment::none, std::memory_order_relaxed);
    }
    const auto parts = static_cast<std::uint32_t>(program.parts.size());
    const std::uint32_t closing = program.closing_part == Program::none ? 0 : 1;
    segment.unfinished.store(parts - closing, std::memory_order_relaxed);
    segment.holders.store(parts + static_cast<std::uint32_t>(workers_.size()),
                          std::memory_order_relaxed);
    segment.running.store(true, std::memory_order_relaxed);
    perform(me, segment, program.begin);
    if (parts == 0) {
        perform(me, segment, program.end);
    }
    ++next_segment_;
    started_.store(next_segment_, std::memory_order_release);
    wake_up_.announce();
    for (std::uint32_t p = 0; p < parts - closing; ++p) {
        const std::uint32_t first = program.parts[p].first;
        perform(me, segment, program.steps[first].before);
        open(segment, p, first);
        spend_token(me, segment, first);
    }
}

/// Counts the segment's uses of its channels, and so chooses the landing slots.
void Executor::number_uses(Segment& segment) {
    const Program& program = *segment.program;
    for (const std::uint32_t c : program.used_in) {
        InChannel& channel = channels_.in[c];
        segment.in_use[c] = static_cast<std::uint32_t>(channel.uses % Notification::use_modulus);
        segment.buffers.place(
            Location::first_landing + c,
            channel.landing + channel.uses % landing_slots * channels_.slot_bytes);
        ++channel.uses;
    }
    for (const std::uint32_t c : program.used_out) {
        OutChannel& channel = channels_.out[c];
        segment.out_use[c] = static_cast<std::uint32_t>(channel.uses % Notification::use_modulus);
        ++channel.uses;
        if (program.acknowledged) {
            std::atomic_ref(channel.unacknowledged)
                .fetch_or(static_cast<std::uint8_t>(1U << segment.out_use[c]),
                          std::memory_order_relaxed);
        }
    }
}

bool Executor::adopt_segments(Worker& me) {
    bool adopted = false;
    while (me.adopted < started_.load(std::memory_order_acquire)) {
        Segment& segment = *segments_[me.adopted % window];
        const std::uint32_t slot = static_cast<std::uint32_t>(me.adopted % window);
        const auto& parts = segment.program->parts;
        for (std::size_t p = 0; p < parts.size(); ++p) {
            me.cursors[slot][p] = {parts[p].first, 0};
        }
        me.parts_to_post[slot] = static_cast<std::uint32_t>(parts.size());
        ++me.adopted;
        for (const std::uint32_t c : segment.program->used_in) {
            auto& by_use = me.segments_by_use[c];
            by_use[segment.in_use[c]] = segment.number + 1;
            by_use[(segment.in_use[c] + Notification::use_modulus / 2) %
                   Notification::use_modulus] = 0;
        }
        std::erase_if(me.early, [&](std::uint32_t bits) {
            Segment* const found = segment_of(me, Notification::decode(bits));
            if (found != nullptr) {
                count_arrival(me, *found, bits);
            }
            return found != nullptr;
        });
        if (parts.empty()) {
            release(me, segment);
        }
        adopted = true;
    }
    return adopted;
}

void Executor::spend_token(Worker& me, Segment& segment, std::uint32_t step) {
    while (segment.tokens[step].fetch_sub(1, std::memory_order_acq_rel) == 1) {
        complete_step(me, segment, step);
        const ProgramStep& done = segment.program->steps[step];
        if (done.last) {
            complete_part(me, segment, done.part);
            return;
        }
        ++step;  // the token that the next step had for this one
    }
}

/// The last part but the closing one brings the results home and lets the senders know.
void Executor::complete_part(Worker& me, Segment& segment, std::uint32_t part) {
    const Program& program = *segment.program;
    if (part != program.closing_part &&
        segment.unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        perform(me, segment, program.end);
        if (program.closing_part != Program::none) {
            const std::uint32_t step = program.parts[program.closing_part].first;
            open(segment, program.closing_part, step);
            spend_token(me, segment, step);
        }
    }
    release(me, segment);
}

void Executor::open(Segment& segment, std::uint32_t part, std::uint32_t step) {
    if (options_.trace != nullptr) {
        segment.opened[part] = trace_clock();
    }
    segment.open_step[part].store(step, std::memory_order_release);
    wake_up_.announce();
}

void Executor::release(Worker& me, Segment& segment) {
    if (segment.holders.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        if (me.trace != nullptr) {
            note_segment(me, segment);
        }
        segment.running.store(false, std::memory_order_release);
        completed_.fetch_add(1, std::memory_order_acq_rel);
        wake_up_.announce();
    }
}

void Executor::perform(Worker& me, const Segment& segment, ProgramRange ops) const noexcept {
    operations_.perform(*call_, *segment.program, segment.buffers, ops, me.trace);
}

void Executor::complete_step(Worker& me, Segment& segment, std::uint32_t step) {
    const ProgramStep& done = segment.program->steps[step];
    perform(me, segment, done.after);
    if (me.trace != nullptr) {
        note_step(me, segment, done);
    }
    if (failure_.happened()) {
        return;  // no peer may take what has failed for done
    }
    if (!done.last) {
        perform(me, segment, segment.program->steps[step + 1].before);
        open(segment, done.part, step + 1);
    }
}

}  // namespace trefoil
