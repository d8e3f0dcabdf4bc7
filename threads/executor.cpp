// SPDX-License-Identifier: BSD-3-Clause
// The executor's main path: starting segments, posting puts, completing steps.
#include "threads/executor.hpp"

#include <algorithm>
#include <cstring>

#include "threads/executor_state.hpp"

namespace trefoil {

namespace {
constexpr std::uint32_t posted_all = ~0U;  // Cursor::put once its part is finished

/// Room for `count` value-initialised atomics, kept when large enough.
template <typename T>
void ensure(std::unique_ptr<std::atomic<T>[]>& array, std::size_t& capacity, std::size_t count) {
    if (count > capacity) {
        array = std::make_unique<std::atomic<T>[]>(count);
        capacity = count;
    }
}
}  // namespace

void Executor::Segment::reserve(const Program& p, Wire& wire) {
    ensure(tokens, step_capacity, p.steps.size());
    ensure(open_step, part_capacity, p.parts.size());
    ensure(arrived, arrival_capacity, p.arrival_steps.size());
    if (scratch.size() < p.scratch_bytes) {
        scratch.resize(p.scratch_bytes);
    }
    packs.resize(wire.groups.size());
    pack_storage.resize(wire.groups.size());
    for (std::size_t g = 0; g < p.pack_bytes.size(); ++g) {
        if (packs[g].bytes >= p.pack_bytes[g]) {
            continue;
        }
        // Doubling keeps what outgrown registered buffers hold below twice the largest.
        const std::size_t bytes = std::max(p.pack_bytes[g], 2 * packs[g].bytes);
        if (wire.groups[g]->needs_registered_source()) {
            packs[g] = wire.groups[g]->allocate(bytes);
        } else {
            pack_storage[g].resize(bytes);
            packs[g] = {pack_storage[g].data(), bytes, nullptr};
        }
    }
    bases.resize(Location::first_landing + wire.in.size());
}

Executor::Executor(Wire& wire, Team& team, ExecutorOptions options)
    : wire_(wire), team_(team), options_(std::move(options)) {
    for (std::uint32_t i = 0; i < window; ++i) {
        segments_.push_back(std::make_unique<Segment>());
    }
    for (int i = 0; i < team.workers(); ++i) {
        workers_.push_back(std::make_unique<Worker>(i, options_.may_spin));
    }
}

Executor::~Executor() = default;

void Executor::reserve(const Program& program) {
    for (const auto& segment : segments_) {
        segment->reserve(program, wire_);
    }
    for (const auto& worker : workers_) {
        for (auto& cursors : worker->cursors) {
            cursors.resize(std::max(cursors.size(), program.parts.size()));
        }
        for (auto& early : worker->early) {
            early.reserve(std::max<std::size_t>(64, program.arrival_steps.size()));
        }
    }
}

Status Executor::run(const Call& call) noexcept {
    if (failed_.load(std::memory_order_acquire) != 0) {
        return static_cast<Status>(failed_.load(std::memory_order_relaxed));
    }
    call_ = &call;
    started_in_call_ = 0;
    call_first_segment_ = next_segment_;
    completed_.store(0, std::memory_order_relaxed);
    auto job = [this](int worker) { work(worker); };
    team_.run(job);  // a team's run synchronises with its workers' return
    call_ = nullptr;
    const auto status = static_cast<Status>(failed_.load(std::memory_order_acquire));
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
    while (true) {
        bool progressed = worker == 0 && start_segments();
        progressed |= adopt_segments(me);
        progressed |= post_ready(me);
        progressed |= poll(me);
        if (completed_.load(std::memory_order_acquire) == call_->segments ||
            failed_.load(std::memory_order_relaxed) != 0) {
            return;
        }
        if (progressed) {
            me.waiting.reset();
            me.is_idle = false;
        } else if (!idle(me)) {
            return;
        }
    }
}

bool Executor::start_segments() {
    bool started = false;
    while (started_in_call_ < call_->segments &&
           !segments_[next_segment_ % window]->running.load(std::memory_order_acquire)) {
        start_segment(started_in_call_++);
        started = true;
    }
    return started;
}

void Executor::start_segment(std::size_t number) {
    Segment& segment = *segments_[next_segment_ % window];
    const bool is_last = number + 1 == call_->segments;
    const Program& program = is_last ? *call_->last_program : *call_->program;
    segment.program = &program;
    segment.number = next_segment_;
    segment.index_in_call = number;
    const std::size_t offset = number * call_->segment_bytes;
    const std::size_t bytes = is_last ? call_->bytes - offset : call_->segment_bytes;
    if (call_->input != nullptr && call_->input != call_->vector) {
        std::memcpy(call_->vector + offset, call_->input + offset, bytes);
    }
    segment.bases[Location::vector] = call_->vector == nullptr ? nullptr : call_->vector + offset;
    segment.bases[Location::scratch] = segment.scratch.data();
    const std::size_t slot = segment.number % landing_slots * wire_.slot_bytes;
    // The wire may have grown since room was reserved; no program that can run knows those
    // channels.
    for (std::size_t c = 0; Location::first_landing + c < segment.bases.size(); ++c) {
        segment.bases[Location::first_landing + c] = wire_.in[c].landing + slot;
    }
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
    segment.holders.store(parts + static_cast<std::uint32_t>(workers_.size()),
                          std::memory_order_relaxed);
    segment.running.store(true, std::memory_order_relaxed);
    ++next_segment_;
    started_.store(next_segment_, std::memory_order_release);
    for (std::uint32_t p = 0; p < parts; ++p) {
        const std::uint32_t first = program.parts[p].first;
        perform(segment, program.steps[first].before);
        segment.open_step[p].store(first, std::memory_order_release);
        spend_token(segment, first);
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
        auto& early = me.early[(me.adopted - 1) % Notice::segment_modulus];
        for (const std::uint32_t notice : early) {
            count_arrival(me, segment, notice);
        }
        early.clear();
        if (parts.empty()) {
            release(segment);
        }
        adopted = true;
    }
    return adopted;
}

bool Executor::post_ready(Worker& me) {
    bool posted = false;
    for (std::uint32_t slot = 0; slot < window; ++slot) {
        if (me.parts_to_post[slot] == 0) {
            continue;
        }
        Segment& segment = *segments_[slot];
        const Program& program = *segment.program;
        std::uint32_t finished = 0;
        for (std::size_t p = 0; p < program.parts.size(); ++p) {
            Worker::Cursor& cursor = me.cursors[slot][p];
            const std::uint32_t end = program.parts[p].first + program.parts[p].count;
            while (cursor.step < end) {
                const std::uint32_t open = segment.open_step[p].load(std::memory_order_acquire);
                if (open == Segment::none || cursor.step > open) {
                    break;
                }
                const std::uint32_t step = cursor.step;
                const std::uint32_t before = cursor.put;
                if (!post_step(me, segment, program.steps[step])) {
                    posted |= cursor.put != before;
                    break;
                }
                posted = true;
                cursor = {step + 1, 0};
            }
            if (cursor.step == end && cursor.put == 0) {
                cursor.put = posted_all;
                finished += 1;
            }
        }
        me.parts_to_post[slot] -= finished;
        if (me.parts_to_post[slot] == 0) {
            release(segment);  // this worker does not look at the segment again
        }
    }
    return posted;
}

bool Executor::post_step(Worker& me, Segment& segment, const ProgramStep& step) {
    const std::uint32_t slot = static_cast<std::uint32_t>(segment.number % window);
    const Program& program = *segment.program;
    Worker::Cursor& cursor = me.cursors[slot][step.part];
    const std::uint32_t number = cursor.step;
    while (cursor.put < step.puts.count) {
        const ProgramPut& put = program.puts[step.puts.first + cursor.put];
        if (put.group != me.index) {
            ++cursor.put;
            continue;
        }
        const std::uint64_t cookie = static_cast<std::uint64_t>(slot) << 32 | number;
        switch (post(me, segment, put, cookie)) {
            case PutResult::again:
                return false;
            case PutResult::failed:
                fail(Status::peer_lost,
                     "the put to rank " + std::to_string(wire_.out[put.channel].peer) +
                         " through port " + to_string(wire_.out[put.channel].port) +
                         " failed: " + wire_.groups[me.index]->error_text());
                return false;
            case PutResult::done:
                ++cursor.put;
                spend_token(segment, number);
                break;
            case PutResult::queued:
                ++cursor.put;
                break;
        }
    }
    return true;
}

PutResult Executor::post(Worker& me, Segment& segment, const ProgramPut& put,
                         std::uint64_t cookie) {
    const OutChannel& channel = wire_.out[put.channel];
    const std::byte* source = nullptr;
    void* descriptor = nullptr;
    if (put.packs.count > 0) {
        const LocalMemory& pack = segment.packs[me.index];
        for (std::uint32_t i = 0; i < put.packs.count; ++i) {
            const ProgramOp& op = segment.program->ops[put.packs.first + i];
            std::memcpy(pack.data + op.target.offset, segment.at(op.source), op.elements);
        }
        source = pack.data + put.pack_offset;
        descriptor = pack.descriptor;
    } else if (put.bytes > 0) {
        source = segment.at(put.source);
    }
    Notice notice{put.index, channel.id, 0,
                  static_cast<std::uint32_t>(segment.number % Notice::segment_modulus)};
    notice.signature = notice.expected_signature(call_->signature);
    const std::uint64_t target =
        channel.offset + segment.number % landing_slots * wire_.slot_bytes + put.landing_offset;
    return wire_.groups[me.index]->put(channel.port, channel.endpoint, source, descriptor,
                                       channel.landing, target, put.bytes, notice.encode(), cookie);
}

void Executor::spend_token(Segment& segment, std::uint32_t step) {
    while (segment.tokens[step].fetch_sub(1, std::memory_order_acq_rel) == 1) {
        complete_step(segment, step);
        const ProgramStep& done = segment.program->steps[step];
        if (done.last) {
            release(segment);
            return;
        }
        ++step;  // the token that the next step had for this one
    }
}

void Executor::release(Segment& segment) {
    if (segment.holders.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        segment.running.store(false, std::memory_order_release);
        completed_.fetch_add(1, std::memory_order_acq_rel);
    }
}

void Executor::complete_step(Segment& segment, std::uint32_t step) {
    const ProgramStep& done = segment.program->steps[step];
    perform(segment, done.after);
    if (!done.last) {
        perform(segment, segment.program->steps[step + 1].before);
        segment.open_step[done.part].store(step + 1, std::memory_order_release);
    }
}

void Executor::perform(const Segment& segment, ProgramRange ops) {
    for (std::uint32_t i = ops.first; i < ops.first + ops.count; ++i) {
        const ProgramOp& op = segment.program->ops[i];
        switch (op.kind) {
            case ProgramOp::Kind::copy:
                std::memcpy(segment.at(op.target), segment.at(op.source), op.elements);
                break;
            case ProgramOp::Kind::reduce:
                call_->kernels.reduce(segment.at(op.target), segment.at(op.source), op.elements);
                break;
            case ProgramOp::Kind::joint:
                call_->kernels.joint(segment.at(op.target), segment.at(op.source),
                                     segment.at(op.second), op.elements);
                break;
        }
    }
}

bool Executor::idle(Worker& me) {
    const std::chrono::microseconds sleep = me.waiting.idle();
    if (sleep.count() == 0) {
        return true;
    }
    const auto now = std::chrono::steady_clock::now();
    if (!me.is_idle) {
        me.is_idle = true;
        me.idle_since = now;
        me.next_check = now + check_interval;
    }
    if (now >= me.next_check && !look_for_trouble(me, now - me.idle_since)) {
        return false;
    }
    wire_.groups[me.index]->wait(sleep);
    return true;
}

}  // namespace trefoil
