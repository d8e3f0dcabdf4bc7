// SPDX-License-Identifier: BSD-3-Clause
// The executor over a demanding test double: sources that must be registered, late completions.
#include <array>
#include <atomic>
#include <numeric>

#include "algorithms/registry/registry.hpp"
#include "algorithms/schedule/algorithm.hpp"
#include "backend/bootstrap/bootstrap.hpp"
#include "comm/communicator/schedules.hpp"
#include "comm/plan/lower.hpp"
#include "group_double.hpp"
#include "tests/comm/plan/lowering.hpp"
#include "tests/threads/connections/prove.hpp"
#include "thread_job.hpp"
#include "threads/executor/executor.hpp"

namespace trefoil::test {
namespace {

/// One rank that runs an algorithm over GroupDoubles.
class Node {
  public:
    Node(const std::string& shape, const Algorithm& algorithm, int workers,
         ThreadAllgather::Member& member, std::chrono::milliseconds timeout)
        : bootstrap_(make_callback_bootstrap(member.rank, Torus::parse(shape).ranks(),
                                             &ThreadAllgather::allgather, &member)),
          map_(make_torus_map({"test", shape, {}}, static_cast<Rank>(Torus::parse(shape).ranks()))),
          port_threads_(workers == 1 ? 0 : workers, {}) {
        const Torus& torus = map_.torus;
        std::vector<std::vector<Port>> groups(static_cast<std::size_t>(workers));
        for (int p = 0; p < torus.ports(); ++p) {
            groups[static_cast<std::size_t>(p % workers)].push_back(Port{p});
        }
        for (const auto& ports : groups) {
            channels_.groups.push_back(std::make_unique<GroupDouble>(ports));
        }
        channels_.rank = member.rank;
        channels_.rings = LandingRings(1 << 16, 0);
        ExecutorOptions options;
        options.timeout = timeout;
        const Engine::Member self{member.rank, static_cast<Rank>(torus.ranks())};
        engine_ = std::make_unique<Engine>(channels_.groups, self, port_threads_, false);
        channels_.cards =
            std::make_shared<const Cards>(bootstrap_->allgather(encode(engine_->card())));
        engine_->meet(channels_.cards, prove);
        executor_ = std::make_unique<Executor>(channels_, *engine_, options);
        schedule_ = Schedules(geometry_, member.rank).get({&algorithm, {}});
    }

    Status allreduce(std::vector<std::int32_t>& data, std::size_t segments) {
        const std::size_t per_segment = data.size() / segments;
        const Program program = lowered(*schedule_, channels_, per_segment, sizeof data[0], true);
        const Program last =
            lowered(*schedule_, channels_, data.size() - (segments - 1) * per_segment,
                    sizeof data[0], true);
        executor_->reserve(program);
        executor_->reserve(last);
        std::vector<CallSegment> pieces;
        for (std::size_t i = 0; i < segments; ++i) {
            pieces.push_back(
                {i + 1 == segments ? &last : &program, i * per_segment * sizeof data[0]});
        }
        Call call;
        call.segments = pieces;
        call.kernels = reduce_kernels(DataType::int32, Operation::sum);
        call.text = "allreduce";
        return executor_->run(call, {nullptr, reinterpret_cast<std::byte*>(data.data())});
    }

    GroupDouble& group() { return *groups()[0]; }
    std::vector<GroupDouble*> groups() {
        std::vector<GroupDouble*> result;
        for (const auto& group : channels_.groups) {
            result.push_back(static_cast<GroupDouble*>(group.get()));
        }
        return result;
    }
    void lose(const std::vector<GroupDouble*>& peer) {
        for (GroupDouble* own : groups()) {
            for (const GroupDouble* lost : peer) {
                own->lose(*lost);
            }
        }
    }
    int refused_to_lost() {
        int refused = 0;
        for (const GroupDouble* own : groups()) {
            refused += own->refused_to_lost();
        }
        return refused;
    }
    std::string failure() const { return executor_->failure(); }
    bool has_failed() const {
        return executor_ == nullptr || executor_->failed() != Status::success;
    }
    void listen() {
        const Engine::Exclusive held(*engine_);
        for (std::size_t g = 0; g < channels_.groups.size(); ++g) {
            (void)engine_->listen(g);
        }
    }
    void sleep_until_woken(bool is_to) {
        const Engine::Exclusive held(*engine_);
        for (GroupDouble* group : groups()) {
            group->sleep_until_woken(is_to);
        }
    }
    /// Its groups stay.
    void leave() {
        executor_.reset();
        engine_->end();
    }
    void meet() { bootstrap_->barrier(); }

  private:
    std::unique_ptr<Bootstrap> bootstrap_;
    TorusMap map_;
    Channels channels_;
    Geometry geometry_{first_geometry(map_)};
    PortThreads port_threads_;
    std::shared_ptr<const Schedule> schedule_;
    std::unique_ptr<Engine> engine_;
    std::unique_ptr<Executor> executor_;
};

void on_nodes(const std::string& shape, const std::string& algorithm, int workers,
              std::chrono::milliseconds timeout, const std::function<void(Rank, Node&)>& body) {
    const Torus torus = Torus::parse(shape);
    const Algorithm& chosen = find_algorithm(Collective::allreduce, algorithm, &torus);
    ThreadAllgather allgather(torus.ranks());
    std::vector<std::thread> threads;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        threads.emplace_back([&, r] {
            ThreadAllgather::Member member{&allgather, r};
            Node node(shape, chosen, workers, member, timeout);
            body(r, node);
            node.meet();
            node.sleep_until_woken(false);
            node.leave();
            node.meet();  // nobody's groups go while others may still put
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

class Staged : public testing::TestWithParam<const char*> {};

TEST_P(Staged, ResultsAreRightWhenSourcesMustBeRegistered) {
    for (const char* shape : {"3", "2x3", "3x3"}) {
        for (const int workers : {1, 2}) {
            on_nodes(shape, GetParam(), workers, std::chrono::seconds(20), [&](Rank r, Node& node) {
                const auto ranks = static_cast<std::int32_t>(Torus::parse(shape).ranks());
                for (const std::size_t count :
                     {std::size_t{1}, std::size_t{77}, std::size_t{5000}}) {
                    std::vector<std::int32_t> data(count);
                    std::iota(data.begin(), data.end(), static_cast<std::int32_t>(r));
                    ASSERT_EQ(node.allreduce(data, count > 1000 ? 5 : 1), Status::success)
                        << node.failure();
                    std::size_t wrong = 0;
                    for (std::size_t i = 0; i < count; ++i) {
                        const auto right =
                            ranks * static_cast<std::int32_t>(i) + ranks * (ranks - 1) / 2;
                        wrong += data[i] != right;
                    }
                    EXPECT_EQ(wrong, 0U) << shape << ", " << workers << " workers, " << count;
                }
            });
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Staged,
                         testing::Values("trivance-l", "trivance-b", "trivance-g", "swing-b",
                                         "recursive-doubling-b", "bucket"));

// Every nap lasts until somebody ends it: a change that a worker sleeps through would show.
TEST(Sleep, EndsWithEveryChangeByASibling) {
    for (const char* algorithm : {"trivance-l", "swing-b", "bucket"}) {
        for (const int workers : {2, 4}) {
            on_nodes("3x3", algorithm, workers, std::chrono::seconds(60), [](Rank r, Node& node) {
                node.meet();  // all are there
                node.sleep_until_woken(true);
                node.meet();
                for (int call = 0; call < 20; ++call) {
                    std::vector<std::int32_t> data(2000, static_cast<std::int32_t>(r));
                    ASSERT_EQ(node.allreduce(data, 5), Status::success) << node.failure();
                    EXPECT_EQ(data, std::vector<std::int32_t>(2000, 36));
                }
            });
        }
    }
    EXPECT_EQ(GroupDouble::sleeps_in_vain, 0);
}

// One after the other leaves, and the others listen. A rank that has missed a goodbye would speak
// to one that is lost.
TEST(Leaving, IsToldToThosePeersThatAreStillThere) {
    for (const int workers : {1, 2}) {
        std::array<std::vector<GroupDouble*>, 3> groups;
        std::atomic<Rank> left{0};
        on_nodes("3", "ring", workers, std::chrono::seconds(20), [&](Rank r, Node& node) {
            groups[static_cast<std::size_t>(r)] = node.groups();
            std::vector<std::int32_t> data(4000, 1);
            ASSERT_EQ(node.allreduce(data, 1), Status::success) << node.failure();
            node.meet();
            while (left < r) {
                node.listen();
            }
            for (int i = 0; i < 20; ++i) {  // what was said last has come, and is answered
                node.listen();
            }
            for (Rank gone = 0; gone < r; ++gone) {
                node.lose(groups[static_cast<std::size_t>(gone)]);
            }
            node.leave();
            ++left;
            EXPECT_EQ(node.refused_to_lost(), 0) << "rank " << r << ", " << workers << " workers";
        });
    }
}

TEST(Leaving, GivesUpSoonWhereNobodySaysThatHeHasLeft) {
    std::array<std::vector<GroupDouble*>, 2> groups;
    on_nodes("2", "ring", 1, std::chrono::seconds(20), [&](Rank r, Node& node) {
        groups[static_cast<std::size_t>(r)] = node.groups();
        std::vector<std::int32_t> data(4000, 1);
        ASSERT_EQ(node.allreduce(data, 1), Status::success) << node.failure();
        node.meet();
        node.lose(groups[static_cast<std::size_t>(1 - r)]);
        const auto begun = std::chrono::steady_clock::now();
        node.leave();
        EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(2));
        EXPECT_GT(node.refused_to_lost(), 0);
    });
}

TEST(LateCompletion, ACompletionAfterAFailedCallChangesNothingAnyMore) {
    on_nodes("2", "ring", 1, std::chrono::milliseconds(600), [](Rank r, Node& node) {
        std::vector<std::int32_t> data(4000, 1);
        if (r == 0) {
            node.group().hold_completions([&node] { return node.has_failed(); });
        }
        const Status status = node.allreduce(data, 1);
        EXPECT_TRUE(status == Status::timeout || status == Status::peer_lost);
        if (r == 0) {
            EXPECT_EQ(data, std::vector<std::int32_t>(4000, 1));
        }
    });
}

}  // namespace
}  // namespace trefoil::test
