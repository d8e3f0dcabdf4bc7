// SPDX-License-Identifier: BSD-3-Clause
// Breaks one message at a time in the schedules of gathers, scatters, trees, reduce-scatters,
// allgathers and scans, at every rank in turn, and requires that the verifier objects.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "algorithms/analysis/verify.hpp"
#include "algorithms/registry/registry.hpp"

namespace trefoil::verify_collectives_mutation_test {
namespace {

using Schedules = std::vector<Schedule>;

/// A message: what rank `to` receives with its receive number `receive`, and who sends it.
struct Message {
    Rank to = 0, from = 0;
    std::size_t part = 0, step = 0, receive = 0, send = 0;
};

Step& step_of(Schedule& s, const Message& m) {
    return s.steps[s.parts[m.part].steps.first + m.step];
}

/// The send that the receive is for: as many before it match as before the receive.
std::optional<std::size_t> send_of(Schedules& all, const Message& m) {
    const Receive& receive = all[m.to].receives[m.receive];
    std::size_t before = 0;
    for (std::size_t i = step_of(all[m.to], m).receives.first; i < m.receive; ++i) {
        const Receive& other = all[m.to].receives[i];
        before += other.peer == receive.peer && other.port == receive.port ? 1 : 0;
    }
    Schedule& sender = all[receive.peer];
    const Slice sends = step_of(sender, m).sends;
    for (std::size_t i = sends.first; i < sends.first + sends.count; ++i) {
        const Send& send = sender.sends[i];
        if (send.peer == m.to && send.port == receive.port.opposite() && before-- == 0) {
            return i;
        }
    }
    return std::nullopt;
}

/// The messages that rank `to` receives and that carry something.
std::vector<Message> messages_to(Schedules& all, Rank to) {
    std::vector<Message> messages;
    const Schedule& s = all[to];
    for (std::size_t p = 0; p < s.parts.size(); ++p) {
        for (std::size_t t = 0; t < s.parts[p].steps.count; ++t) {
            const Slice receives = s.steps[s.parts[p].steps.first + t].receives;
            for (std::size_t i = receives.first; i < receives.first + receives.count; ++i) {
                Message m{to, s.receives[i].peer, p, t, i, 0};
                const auto send = send_of(all, m);
                if (send && s.receives[i].applications.count > 0) {
                    m.send = *send;
                    messages.push_back(m);
                }
            }
        }
    }
    return messages;
}

Application& application_of(Schedules& all, const Message& m) {
    Schedule& s = all[m.to];
    return s.applications[s.receives[m.receive].applications.first];
}

/// False where the part has no other block of the vector.
bool shift(Extent& extent, const Part& part) {
    if (extent.first + extent.count < part.vector_blocks) {
        ++extent.first;
    } else if (extent.first > 0 && extent.first < part.vector_blocks) {
        --extent.first;
    } else {
        return false;
    }
    return true;
}

template <typename T>
void drop(std::vector<T>& list, Slice& slice, std::size_t index) {
    std::rotate(list.begin() + static_cast<std::ptrdiff_t>(index),
                list.begin() + static_cast<std::ptrdiff_t>(index) + 1,
                list.begin() + static_cast<std::ptrdiff_t>(slice.first + slice.count));
    --slice.count;
}

struct Mutation {
    const char* name;
    /// False: does not apply to this message.
    std::function<bool(Schedules&, const Message&)> mutate;
};

const Mutation mutations[] = {
    {"lost",
     [](Schedules& all, const Message& m) {
         drop(all[m.to].receives, step_of(all[m.to], m).receives, m.receive);
         drop(all[m.from].sends, step_of(all[m.from], m).sends, m.send);
         return true;
     }},
    {"of another block",
     [](Schedules& all, const Message& m) {
         Schedule& s = all[m.from];
         return shift(s.extents[s.sends[m.send].extents.first], s.parts[m.part]);
     }},
    {"put into another place",
     [](Schedules& all, const Message& m) {
         Schedule& s = all[m.to];
         return shift(s.extents[application_of(all, m).extents.first], s.parts[m.part]);
     }},
    {"added where it should replace, or the other way round",
     [](Schedules& all, const Message& m) {
         Action& action = application_of(all, m).action;
         action = action == Action::replace ? Action::reduce : Action::replace;
         return true;
     }},
    {"put behind what it belongs before",
     [](Schedules& all, const Message& m) {
         Action& action = application_of(all, m).action;
         const bool prepends = action == Action::prepend;
         action = prepends ? Action::reduce : action;
         return prepends;
     }},
};

/// The allgather of bcast's bine-large brings some ranks, as published, what the scatter before it
/// brought already; nothing is missed when that is lost.
bool may_lose_messages(const Algorithm& algorithm) {
    return algorithm.collective == Collective::bcast && algorithm.name == "bine-large";
}

class CollectiveMutations : public testing::TestWithParam<Collective> {};

TEST_P(CollectiveMutations, AreCaughtAtEveryRank) {
    std::size_t tried = 0;
    for (const char* name : {"5", "2x3", "8"}) {
        const Torus torus = Torus::parse(name);
        for (const Algorithm& algorithm : algorithms()) {
            if (algorithm.collective != GetParam() || !algorithm.refusal(torus).empty()) {
                continue;
            }
            const BuildOptions options{.root = 3};
            Goal goal{algorithm.collective, options.root, {}};
            Schedules correct;
            for (Rank r = 0; r < torus.ranks(); ++r) {
                correct.push_back(algorithm.build(torus, r, options));
            }
            for (std::size_t p = 0;
                 traits_of(goal.collective).blocks_have_owners() && p < correct[0].parts.size();
                 ++p) {
                goal.owners.push_back(algorithm.block_owners(torus, options, static_cast<int>(p)));
            }
            ASSERT_TRUE(verify(torus, goal, correct).ok()) << algorithm.name << " on " << name;
            for (Rank r = 0; r < torus.ranks(); ++r) {
                const std::vector<Message> messages = messages_to(correct, r);
                for (const Mutation& mutation : mutations) {
                    if (&mutation == &mutations[0] && may_lose_messages(algorithm)) {
                        continue;
                    }
                    // Another message for each rank and mutation, so that all kinds get their turn.
                    for (std::size_t k = 0; k < messages.size(); ++k) {
                        const Message& m = messages[(k + static_cast<std::size_t>(r) * 7 + tried) %
                                                    messages.size()];
                        Schedules broken = correct;
                        if (!mutation.mutate(broken, m)) {
                            continue;
                        }
                        ++tried;
                        EXPECT_FALSE(verify(torus, goal, broken).ok())
                            << algorithm.name << " on " << name << ": the message from rank "
                            << m.from << " to rank " << m.to << " in part " << m.part << ", step "
                            << m.step << " was " << mutation.name;
                        break;
                    }
                }
            }
        }
    }
    EXPECT_GT(tried, 70U);
}

INSTANTIATE_TEST_SUITE_P(Collectives, CollectiveMutations,
                         testing::Values(Collective::allreduce, Collective::reduce_scatter,
                                         Collective::allgather, Collective::bcast,
                                         Collective::reduce, Collective::gather,
                                         Collective::scatter, Collective::scan, Collective::exscan),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

}  // namespace
}  // namespace trefoil::verify_collectives_mutation_test
