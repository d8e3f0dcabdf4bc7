// SPDX-License-Identifier: BSD-3-Clause
// Runs every allreduce and every scan with concatenation as the operation, by a plain interpreter
// that shares nothing with the verifier: who contributed, how often, and in which order.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <tuple>

#include "algorithms/registry/registry.hpp"
#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {
namespace {

using Text = std::vector<Rank>;                // the operands in order, own side first
using Buffer = std::vector<Text>;              // by block
using Channel = std::tuple<Rank, Rank, Port>;  // receiver, sender, the receiver's port

void combine(Action action, Text& target, const Text& source) {
    if (action == Action::replace) {
        target = source;
    } else if (action == Action::prepend) {
        target.insert(target.begin(), source.begin(), source.end());
    } else {
        target.insert(target.end(), source.begin(), source.end());
    }
}

class Interpreter {
  public:
    Interpreter(const Torus& torus, const Algorithm& algorithm) {
        for (Rank r = 0; r < torus.ranks(); ++r) {
            schedules_.push_back(algorithm.build(torus, r));
        }
    }

    std::size_t parts() const { return schedules_[0].parts.size(); }

    /// The vector blocks of all ranks after `part` has run.
    std::vector<Buffer> run(std::size_t part) {
        const Part& form = schedules_[0].parts[part];
        std::vector<Buffer> buffers;
        for (const Schedule& s : schedules_) {
            buffers.emplace_back(form.vector_blocks, form.input_apart ? Text{} : Text{s.rank});
            buffers.back().resize(form.vector_blocks + s.parts[part].scratch_blocks);
        }
        for (std::size_t step = 0; step < form.steps.count; ++step) {
            run_step(part, step, buffers);
        }
        for (Buffer& b : buffers) {
            b.resize(form.vector_blocks);
        }
        return buffers;
    }

  private:
    void run_step(std::size_t part, std::size_t number, std::vector<Buffer>& buffers) {
        std::map<Channel, std::deque<std::vector<Text>>> wires;
        for (const Schedule& s : schedules_) {
            Buffer& own = buffers[s.rank];
            const Step& step = s.of(s.parts[part])[number];
            for (const Move& m : s.moves_of(step)) {
                const Rank source = m.pulls() ? m.peer : s.rank;
                for (Block i = 0; i < m.from.count; ++i) {
                    combine(m.action, own[m.to + i],
                            m.initial ? Text{source} : buffers[source][m.from.first + i]);
                }
            }
            for (const Send& m : s.sends_of(step)) {
                std::vector<Text>& message =
                    wires[{m.peer, s.rank, m.port.opposite()}].emplace_back();
                for (const Extent& e : s.extents_of(m)) {
                    message.insert(message.end(), own.begin() + e.first,
                                   own.begin() + e.first + e.count);
                }
            }
        }
        for (const Schedule& s : schedules_) {
            for (const Receive& r : s.receives_of(s.of(s.parts[part])[number])) {
                auto& wire = wires[{s.rank, r.peer, r.port}];
                ASSERT_FALSE(wire.empty());
                for (const Application& a : s.applications_of(r)) {
                    auto next = wire.front().begin();
                    for (const Extent& e : s.extents_of(a)) {
                        for (Block i = 0; i < e.count; ++i) {
                            combine(a.action, buffers[s.rank][e.first + i], *next++);
                        }
                    }
                }
                wire.pop_front();
            }
        }
    }

    std::vector<Schedule> schedules_;
};

TEST(TableOrder, EveryRankContributesOnceAndInOrderWherePromised) {
    for (const Algorithm& a : algorithms()) {
        if (a.collective != Collective::allreduce) {
            continue;
        }
        for (const char* shape :
             {"1", "2", "3", "5", "8", "11", "2x2", "3x3", "2x5", "4x3", "2x3x2"}) {
            SCOPED_TRACE(std::string(a.name) + " on " + shape);
            const Torus torus = Torus::parse(shape);
            if (!a.refusal(torus).empty()) {
                continue;
            }
            Text all(torus.ranks());
            std::iota(all.begin(), all.end(), 0);
            Interpreter interpreter(torus, a);
            for (std::size_t p = 0; p < interpreter.parts(); ++p) {
                for (const Buffer& buffer : interpreter.run(p)) {
                    for (Text text : buffer) {
                        if (!a.traits.order_preserving) {
                            std::ranges::sort(text);
                        }
                        ASSERT_EQ(text, all);
                    }
                }
            }
        }
    }
}

TEST(TableOrder, PrefixesAreThoseOfTheLowerRanksInOrder) {
    for (const Algorithm& a : algorithms()) {
        const CollectiveTraits& row = traits_of(a.collective);
        for (const char* shape : {"1", "2", "3", "5", "8", "11", "2x2", "3x3", "4x3", "2x3x2"}) {
            const Torus torus = Torus::parse(shape);
            if (!row.is_prefix() || !a.refusal(torus).empty()) {
                continue;
            }
            SCOPED_TRACE(std::string(row.name) + " by " + std::string(a.name) + " on " + shape);
            Interpreter interpreter(torus, a);
            for (std::size_t p = 0; p < interpreter.parts(); ++p) {
                const std::vector<Buffer> buffers = interpreter.run(p);
                for (Rank r = 0; r < torus.ranks(); ++r) {
                    Text lower(static_cast<std::size_t>(row.contributors(r, torus.ranks())));
                    std::iota(lower.begin(), lower.end(), 0);
                    if (row.out.held_by(r, 0)) {
                        ASSERT_EQ(buffers[r], Buffer{lower}) << "rank " << r;
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace trefoil
