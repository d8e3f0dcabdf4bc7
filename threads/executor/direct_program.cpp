// SPDX-License-Identifier: BSD-3-Clause
// Finding the messages that may land in the vector.
#include "threads/executor/direct_program.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace trefoil {

namespace {

/// More would take long to compare, each with each.
constexpr std::size_t most_ops = 20'000;

/// Bytes of the vectors that a step reads or writes.
struct Touch {
    std::uintptr_t begin = 0, end = 0;
    std::uint32_t step = 0;
    std::uint32_t op = ~0U;  ///< the op that does it, if it is one
};

struct Candidate {
    std::uint32_t arrival = 0, step = 0;
    std::uint32_t last_touch = none;  ///< the step
    std::vector<DirectRun> runs{};
    static constexpr std::uint32_t none = ~0U;
};

class Finder {
  public:
    Finder(const Program& program, const std::byte* input, const std::byte* output,
           std::size_t element_bytes)
        : program_(program),
          input_(reinterpret_cast<std::uintptr_t>(input)),
          output_(reinterpret_cast<std::uintptr_t>(output)),
          element_bytes_(element_bytes) {
        for (std::uint32_t s = 0; s < program.steps.size(); ++s) {
            list_touches(s);
        }
    }

    std::vector<Candidate> candidates() const {
        std::vector<Candidate> found;
        for (std::uint32_t s = 0; s < program_.steps.size(); ++s) {
            const ProgramRange after = program_.steps[s].after;
            const std::uint32_t end = after.first + after.count;
            for (std::uint32_t i = after.first, next = i; i < end; i = next) {
                const std::uint32_t arrival = program_.ops[i].arrival;
                for (next = i + 1; next < end && arrival != ProgramOp::none &&
                                   program_.ops[next].arrival == arrival;) {
                    ++next;
                }
                if (auto candidate = candidate_of(s, {i, next - i})) {
                    found.push_back(std::move(*candidate));
                }
            }
        }
        return found;
    }

  private:
    void touch(std::uint32_t step, std::uint32_t op, Location at, std::size_t bytes) {
        const bool is_input = at.space == Location::input;
        if ((is_input || at.space == Location::output) && bytes > 0) {
            const std::uintptr_t begin = (is_input ? input_ : output_) + at.offset;
            touches_.push_back({begin, begin + bytes, step, op});
        }
    }
    void touch_by_ops(std::uint32_t step, ProgramRange range, bool gathers) {
        for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
            const ProgramOp& op = program_.ops[i];
            const bool copies =
                op.kind == ProgramOp::Kind::copy || op.kind == ProgramOp::Kind::pull;
            const bool reduces =
                op.kind == ProgramOp::Kind::reduce || op.kind == ProgramOp::Kind::joint;
            const std::size_t bytes = copies ? op.elements : op.elements * element_bytes_;
            if (!gathers) {
                touch(step, i, op.target, bytes);
            }
            touch(step, i, op.source, copies || reduces ? bytes : 0);
            touch(step, i, op.second, reduces ? bytes : 0);
            touch(step, i, op.third, op.kind == ProgramOp::Kind::joint ? bytes : 0);
        }
    }
    void list_touches(std::uint32_t s) {
        const ProgramStep& step = program_.steps[s];
        touch_by_ops(s, step.before, false);
        touch_by_ops(s, step.after, false);
        for (std::uint32_t p = step.puts.first; p < step.puts.first + step.puts.count; ++p) {
            const ProgramPut& put = program_.puts[p];
            touch_by_ops(s, put.packs, true);
            touch(s, ~0U, put.source, put.packs.count > 0 ? 0 : put.bytes);
        }
    }

    /// Of the ops of one arrival.
    std::optional<Candidate> candidate_of(std::uint32_t s, ProgramRange ops) const {
        Candidate candidate{program_.ops[ops.first].arrival, s, Candidate::none};
        if (candidate.arrival == ProgramOp::none ||
            !DirectRuns::are_worthwhile(ops.count, program_.arrival_bytes[candidate.arrival])) {
            return std::nullopt;
        }
        for (std::uint32_t i = ops.first; i < ops.first + ops.count; ++i) {
            const ProgramOp& op = program_.ops[i];
            if (op.target.space != Location::output ||
                !may_land(i, ops.first + ops.count, candidate)) {
                return std::nullopt;
            }
            candidate.runs.push_back({op.target.offset, op.elements});
        }
        return candidate;
    }

    /// Nothing in its step touches the place of op `i` before it is copied there, and no other part
    /// does. The ops of its arrival end before `next`.
    bool may_land(std::uint32_t i, std::uint32_t next, Candidate& candidate) const {
        const std::uintptr_t begin = output_ + program_.ops[i].target.offset;
        const std::uintptr_t end = begin + program_.ops[i].elements;
        const std::uint32_t part = program_.steps[candidate.step].part;
        for (const Touch& touch : touches_) {
            if (touch.op == i || touch.end <= begin || end <= touch.begin) {
                continue;
            }
            if (touch.step == candidate.step && touch.op != ~0U && touch.op >= next) {
                continue;  // what has arrived is worked on when all has
            }
            if (touch.step == candidate.step || program_.steps[touch.step].part != part) {
                return false;
            }
            if (touch.step < candidate.step &&
                (candidate.last_touch == Candidate::none || touch.step > candidate.last_touch)) {
                candidate.last_touch = touch.step;
            }
        }
        return true;
    }

    const Program& program_;
    const std::uintptr_t input_, output_;
    const std::size_t element_bytes_;
    std::vector<Touch> touches_;
};

/// Of one channel: the most that share a permission. Those of early steps go first, as a permission
/// that waits for what comes later would come too late for them.
void drop_out_of_order(const Program& program, std::vector<Candidate>& all) {
    const auto step = [&](std::uint32_t s) { return program.steps[s].schedule_step; };
    while (!all.empty()) {
        const auto first = std::min_element(
            all.begin(), all.end(), [&](auto& a, auto& b) { return step(a.step) < step(b.step); });
        const bool in_order = std::all_of(all.begin(), all.end(), [&](const Candidate& c) {
            return c.last_touch == Candidate::none || step(c.last_touch) < step(first->step);
        });
        if (in_order) {
            return;
        }
        all.erase(first);
    }
}

}  // namespace

DirectProgram find_candidates(const Program& program, const Channels& channels,
                              const std::byte* input, const std::byte* output,
                              std::size_t element_bytes) {
    DirectProgram direct;
    direct.runs.resize(program.arrival_steps.size());
    if (!program.peers.empty() || program.ops.size() > most_ops || output == nullptr) {
        return direct;
    }
    const std::vector<Candidate> found = Finder(program, input, output, element_bytes).candidates();
    for (const std::uint32_t in : program.used_in) {
        const ProgramRange range = program.arrivals[in];
        std::vector<Candidate> own;
        std::copy_if(found.begin(), found.end(), std::back_inserter(own), [&](const Candidate& c) {
            return c.arrival >= range.first && c.arrival < range.first + range.count;
        });
        drop_out_of_order(program, own);
        if (own.empty()) {
            continue;
        }
        DirectProgram::Incoming incoming{in, channels.in[in].group, {}};
        for (const Candidate& candidate : own) {
            direct.runs.set(candidate.arrival, candidate.runs);
            if (candidate.last_touch == Candidate::none) {
                continue;
            }
            const std::uint32_t part = program.steps[candidate.step].part;
            const auto known =
                std::find_if(incoming.after.begin(), incoming.after.end(),
                             [&](const auto& passed) { return passed.part == part; });
            if (known == incoming.after.end()) {
                incoming.after.push_back({part, candidate.last_touch});
            } else {
                known->step = std::max(known->step, candidate.last_touch);
            }
        }
        direct.incoming.push_back(std::move(incoming));
    }
    return direct;
}

}  // namespace trefoil
