// SPDX-License-Identifier: BSD-3-Clause
// TREFOIL_LEARN: calls stay right while algorithms take turns, all ranks keep the same one, and the
// file has it for the next job.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "comm/plan/choices.hpp"
#include "comm/setup/tuning_writer.hpp"
#include "tests/comm/communicator/thread_job.hpp"
#include "tests/threads/workers/allocations.hpp"
#include "tests/variable.hpp"
#include "topo/error.hpp"

namespace trefoil::test::learning_test {
namespace {

constexpr int ranks = 4;
constexpr int calls = 80;

/// In a folder of its own, which goes with it.
class TuningPath {
  public:
    TuningPath()
        : folder_(testing::TempDir() + "trefoil-learning-" + std::to_string(getpid())),
          path_(folder_ / "tuning.json") {
        std::filesystem::create_directories(folder_);
    }
    ~TuningPath() { std::filesystem::remove_all(folder_); }
    std::string text() const { return path_.string(); }
    bool is_there() const { return std::filesystem::exists(path_); }
    void write(const std::string& text) const { std::ofstream(path_) << text; }

  private:
    std::filesystem::path folder_, path_;
};

std::string algorithm_of(trefoil_comm_t comm, const char* collective, std::size_t count,
                         trefoil_datatype_t type) {
    const char* name = nullptr;
    EXPECT_EQ(trefoil_comm_algorithm(comm, collective, count, type, &name), TREFOIL_SUCCESS)
        << trefoil_last_error(comm);
    return name == nullptr ? "" : name;
}

void reduce_and_broadcast(int rank, trefoil_comm_t comm, std::size_t count) {
    for (int i = 0; i < calls; ++i) {
        std::vector<float> in(count, static_cast<float>(rank + i)), out(count);
        ASSERT_EQ(trefoil_allreduce(in.data(), out.data(), count, TREFOIL_FLOAT, TREFOIL_SUM, comm),
                  TREFOIL_SUCCESS)
            << trefoil_last_error(comm);
        const float sum = static_cast<float>(ranks * i + ranks * (ranks - 1) / 2);
        ASSERT_EQ(out, std::vector<float>(count, sum)) << "call " << i;
        std::vector<int> data(count, rank == i % ranks ? i : -1);
        ASSERT_EQ(trefoil_bcast(data.data(), count, TREFOIL_INT32, i % ranks, comm),
                  TREFOIL_SUCCESS)
            << trefoil_last_error(comm);
        ASSERT_EQ(data, std::vector<int>(count, i)) << "call " << i;
    }
}

TEST(Learning, KeepsWhatIsFastestAndWritesItDown) {
    const TuningPath path;
    const Variable file("TREFOIL_TUNING", path.text().c_str());
    JobOptions options;
    options.torus = "2x2";
    std::vector<std::string> kept(ranks);
    {
        const Variable learn("TREFOIL_LEARN", "1");
        run_ranks(ranks, options, [&](int rank, trefoil_comm_t comm) {
            ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
            reduce_and_broadcast(rank, comm, 3000);
            kept[rank] = algorithm_of(comm, "allreduce", 3000, TREFOIL_FLOAT) + " " +
                         algorithm_of(comm, "bcast", 3000, TREFOIL_INT32);
        });
    }
    EXPECT_EQ(std::set<std::string>(kept.begin(), kept.end()).size(), 1U) << kept[0];
    ASSERT_TRUE(path.is_there());
    const TuningFile found = read_tuning_file(path.text());
    ASSERT_EQ(found.entries.size(), 1U);
    EXPECT_EQ(found.entries[0].key.text(), "2x2 with 4 ranks a node, 4 ports, backend memory");
    ASSERT_EQ(found.entries[0].rules.size(), 2U) << "12,000 bytes of two collectives";
    for (const TuningRule& rule : found.entries[0].rules) {
        EXPECT_TRUE(rule.learned);
        EXPECT_EQ(rule.bytes, (SizeRange{8192, 16383}));
        EXPECT_EQ(rule.types, rule.collective == Collective::allreduce
                                  ? TuningRule::Types::fixed_order
                                  : TuningRule::Types::all);
    }
    // The next job goes by it, and changes nothing.
    const auto before = std::filesystem::last_write_time(path.text());
    run_ranks(ranks, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        EXPECT_EQ(algorithm_of(comm, "allreduce", 3000, TREFOIL_FLOAT) + " " +
                      algorithm_of(comm, "bcast", 3000, TREFOIL_INT32),
                  kept[rank]);
        reduce_and_broadcast(rank, comm, 3000);
    });
    EXPECT_EQ(std::filesystem::last_write_time(path.text()), before);
}

// What is forced is not tried, nor what moves no data, and too few calls decide nothing.
TEST(Learning, LeavesAloneWhatIsForced) {
    const TuningPath path;
    const Variable file("TREFOIL_TUNING", path.text().c_str()), learn("TREFOIL_LEARN", "1");
    JobOptions options;
    options.torus = "2x2";
    run_ranks(ranks, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        ASSERT_EQ(trefoil_comm_set_algorithm(comm, "allreduce", "ring"), TREFOIL_SUCCESS);
        ASSERT_EQ(trefoil_comm_set_algorithm(comm, "bcast", "linear"), TREFOIL_SUCCESS);
        reduce_and_broadcast(rank, comm, 10);
        EXPECT_EQ(algorithm_of(comm, "allreduce", 10, TREFOIL_FLOAT), "ring");
        std::vector<float> in(8), out(2);
        for (int i = 0; i < calls; ++i) {
            ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        }
        ASSERT_EQ(trefoil_reduce_scatter_block(in.data(), out.data(), 2, TREFOIL_FLOAT, TREFOIL_SUM,
                                               comm),
                  TREFOIL_SUCCESS);
    });
    EXPECT_FALSE(path.is_there());
}

TEST(Learning, WithoutAFileHoldsForTheJob) {
    const Variable learn("TREFOIL_LEARN", "1");
    JobOptions options;
    options.torus = "4";
    run_ranks(ranks, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        reduce_and_broadcast(rank, comm, 100);
    });
}

// A rank whose memory fails in a call of a trial makes the call again, since nothing has moved. The
// algorithm that it tried is not forced meanwhile. (The first calls make their plan; a rank that
// lacks memory for that ends the communicator.)
TEST(Learning, ForcesNothingWhereARankHasLackedMemory) {
    const Variable learn("TREFOIL_LEARN", "1");
    JobOptions options;
    options.torus = "4";
    constexpr std::size_t large = 1 << 20;  // takes another algorithm than ten elements
    std::atomic<int> made_again{0};
    for (int after = 0; after < 10; ++after) {
        run_ranks(ranks, options, [&](int rank, trefoil_comm_t comm) {
            ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
            const std::string before = algorithm_of(comm, "allreduce", large, TREFOIL_INT32);
            std::vector<int> in(10, 1), out(10);
            const auto reduce = [&] {
                return trefoil_allreduce(in.data(), out.data(), 10, TREFOIL_INT32, TREFOIL_SUM,
                                         comm);
            };
            for (int call = 0; call < 3; ++call) {
                ASSERT_EQ(reduce(), TREFOIL_SUCCESS) << trefoil_last_error(comm);
            }
            let_allocation_fail(rank == 1 ? after : -1);
            trefoil_status_t result = reduce();
            let_allocation_fail(-1);
            if (result == TREFOIL_ERROR_OUT_OF_MEMORY) {
                ASSERT_EQ(algorithm_of(comm, "allreduce", large, TREFOIL_INT32), before)
                    << "after " << after << " allocations";
                result = reduce();
                ++made_again;
            }
            ASSERT_EQ(result, TREFOIL_SUCCESS) << trefoil_last_error(comm);
            EXPECT_EQ(out, std::vector<int>(10, ranks));
        });
    }
    EXPECT_GT(made_again, 0);
    EXPECT_LT(made_again, 10) << "all allocations have failed once";
}

TuningRule rule(std::size_t least, std::size_t most, const char* name,
                TuningRule::Types types = TuningRule::Types::all) {
    const Choice choice = parse_choice(Collective::allreduce, name);
    return {Collective::allreduce, types, {least, most}, choice.algorithm, choice.options};
}

std::string text_of(const std::vector<TuningRule>& rules) {
    std::string text;
    for (const TuningRule& each : rules) {
        text += std::string(each.algorithm->name) + " " + std::to_string(each.bytes.least) + "-" +
                std::to_string(each.bytes.most) + "/" +
                std::to_string(static_cast<int>(each.types)) + " ";
    }
    return text;
}

TEST(TuningRules, OfNewOnesGoBeforeOldOnes) {
    const std::vector<TuningRule> old{rule(0, 99, "ring"), rule(100, 999, "bucket")};
    EXPECT_EQ(text_of(with_rules(old, {rule(50, 149, "swing-b")})),
              "ring 0-49/0 bucket 150-999/0 swing-b 50-149/0 ");
    EXPECT_EQ(text_of(with_rules(old, {rule(0, 999, "swing-b")})), "swing-b 0-999/0 ");
    EXPECT_EQ(text_of(with_rules(old, {rule(10, 19, "swing-b")})),
              "ring 0-9/0 ring 20-99/0 bucket 100-999/0 swing-b 10-19/0 ");
    using Types = TuningRule::Types;
    EXPECT_EQ(text_of(with_rules(old, {rule(0, 199, "swing-b", Types::any_order)})),
              "ring 0-99/2 bucket 200-999/0 bucket 100-199/2 swing-b 0-199/1 ");
    EXPECT_EQ(text_of(with_rules({rule(0, 9, "ring", Types::fixed_order)},
                                 {rule(0, 9, "swing-b", Types::any_order)})),
              "ring 0-9/2 swing-b 0-9/1 ");
}

}  // namespace
}  // namespace trefoil::test::learning_test
