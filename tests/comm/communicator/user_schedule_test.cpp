// SPDX-License-Identifier: BSD-3-Clause
// Schedules of the user's in calls: they run, and what is wrong with one is said on every rank.
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "algorithms/json/write.hpp"
#include "algorithms/registry/registry.hpp"
#include "thread_job.hpp"

namespace trefoil::test::user_schedule_test {
namespace {

constexpr int ranks = 9;
JobOptions on_3x3() {
    JobOptions options;
    options.torus = "3x3";
    return options;
}

std::string exported(Collective collective, const char* name, const char* shape, Rank root = 0) {
    const Torus torus = Torus::parse(shape);
    const Algorithm& algorithm = find_algorithm(collective, name);
    std::string text;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        const Schedule schedule = algorithm.build(torus, r, {.root = root});
        text += schedule_json(torus, algorithm, {.root = root}, schedule).dump() + "\n";
    }
    return text;
}

/// Sums of the ranks' numbers; each rank checks all.
void expect_sums(trefoil_comm_t comm, int rank) {
    std::vector<int> mine(1000), sum(1000);
    std::iota(mine.begin(), mine.end(), rank);
    ASSERT_EQ(
        trefoil_allreduce(mine.data(), sum.data(), mine.size(), TREFOIL_INT32, TREFOIL_SUM, comm),
        TREFOIL_SUCCESS)
        << trefoil_last_error(nullptr);
    for (std::size_t i = 0; i < sum.size(); ++i) {
        ASSERT_EQ(sum[i], ranks * static_cast<int>(i) + ranks * (ranks - 1) / 2);
    }
}

std::string algorithm_of(trefoil_comm_t comm, const char* collective) {
    const char* name = "";
    EXPECT_EQ(trefoil_comm_algorithm(comm, collective, 1000, TREFOIL_INT32, &name),
              TREFOIL_SUCCESS);
    return name;
}

TEST(UserScheduleCall, RunsAndIsFoundAgainByItsName) {
    const std::string text = exported(Collective::allreduce, "bucket", "3x3");
    run_ranks(ranks, on_3x3(), [&](int rank, trefoil_comm_t comm) {
        ASSERT_EQ(trefoil_comm_set_schedule(comm, "allreduce", text.c_str()), TREFOIL_SUCCESS)
            << trefoil_last_error(nullptr);
        const std::string name = algorithm_of(comm, "allreduce");
        EXPECT_EQ(name.substr(0, 9), "schedule-");
        expect_sums(comm, rank);
        ASSERT_EQ(trefoil_comm_set_algorithm(comm, "allreduce", "ring"), TREFOIL_SUCCESS);
        expect_sums(comm, rank);
        ASSERT_EQ(trefoil_comm_set_algorithm(comm, "allreduce", name.c_str()), TREFOIL_SUCCESS);
        EXPECT_EQ(algorithm_of(comm, "allreduce"), name);
        expect_sums(comm, rank);
        EXPECT_EQ(trefoil_comm_set_algorithm(comm, "reduce", name.c_str()), TREFOIL_ERROR_NOT_FOUND)
            << "it belongs to another collective";
    });
}

TEST(UserScheduleCall, RefusesWhatIsWrongOnEveryRankAndGoesOn) {
    const std::string good = exported(Collective::allreduce, "swing-b", "3x3");
    const auto lines = [&](auto&& edit) {
        auto all = nlohmann::json::array();
        std::istringstream stream(good);
        for (std::string line; std::getline(stream, line);) {
            all.push_back(nlohmann::json::parse(line));
        }
        edit(all);
        return all.dump();
    };
    const std::string lost = lines([](auto& all) {
        all[4]["parts"][0]["steps"][0]["receives"][0]["applications"][0]["action"] = "replace";
    });
    const std::string deadlock =
        lines([](auto& all) { all[4]["parts"][0]["steps"][0]["sends"].clear(); });
    const std::string unknown = lines([](auto& all) { all[4]["colour"] = "blue"; });
    run_ranks(ranks, on_3x3(), [&](int rank, trefoil_comm_t comm) {
        const auto refused = [&](const std::string& json, trefoil_status_t status,
                                 const char* reason) {
            EXPECT_EQ(trefoil_comm_set_schedule(comm, "allreduce", json.c_str()), status);
            EXPECT_NE(std::string(trefoil_last_error(nullptr)).find(reason), std::string::npos)
                << trefoil_last_error(nullptr);
            EXPECT_EQ(algorithm_of(comm, "allreduce").find("schedule-"), std::string::npos)
                << "nothing has changed";
        };
        refused(lost, TREFOIL_ERROR_INVALID_ARGUMENT, "contributions");
        refused(deadlock, TREFOIL_ERROR_INVALID_ARGUMENT, "no matching send");
        refused(unknown, TREFOIL_ERROR_INVALID_ARGUMENT, "there is no field \"colour\"");
        refused(exported(Collective::allreduce, "ring", "9"), TREFOIL_ERROR_UNSUPPORTED,
                "for the torus 9");
        refused(exported(Collective::reduce, "linear", "3x3"), TREFOIL_ERROR_INVALID_ARGUMENT,
                "schedule of reduce");
        EXPECT_EQ(trefoil_comm_set_schedule(comm, "allreduce", nullptr),
                  TREFOIL_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(trefoil_comm_set_schedule(comm, "allread", good.c_str()),
                  TREFOIL_ERROR_NOT_FOUND);
        expect_sums(comm, rank);
    });
}

TEST(UserScheduleCall, RefusesAnotherRoot) {
    const std::string text = exported(Collective::bcast, "linear", "3x3", 4);
    run_ranks(ranks, on_3x3(), [&](int rank, trefoil_comm_t comm) {
        ASSERT_EQ(trefoil_comm_set_schedule(comm, "bcast", text.c_str()), TREFOIL_SUCCESS)
            << trefoil_last_error(nullptr);
        int value = rank;
        EXPECT_EQ(trefoil_bcast(&value, 1, TREFOIL_INT32, 2, comm), TREFOIL_ERROR_UNSUPPORTED);
        EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("made for root 4"),
                  std::string::npos);
        EXPECT_EQ(value, rank);
        ASSERT_EQ(trefoil_bcast(&value, 1, TREFOIL_INT32, 4, comm), TREFOIL_SUCCESS);
        EXPECT_EQ(value, 4);
    });
}

// Both are right, so nobody can refuse one alone; the first call must not mix them.
TEST(UserScheduleCall, FindsOutThatRanksBroughtDifferentOnes) {
    const std::string one = exported(Collective::allreduce, "bucket", "3x3");
    const std::string other = exported(Collective::allreduce, "swing-b", "3x3");
    run_ranks(ranks, on_3x3(), [&](int rank, trefoil_comm_t comm) {
        const std::string& mine = rank == 5 ? other : one;
        ASSERT_EQ(trefoil_comm_set_schedule(comm, "allreduce", mine.c_str()), TREFOIL_SUCCESS);
        std::vector<float> values(100);
        EXPECT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, values.data(), values.size(), TREFOIL_FLOAT,
                                    TREFOIL_SUM, comm),
                  TREFOIL_ERROR_MISMATCH)
            << trefoil_last_error(nullptr);
    });
}

}  // namespace
}  // namespace trefoil::test::user_schedule_test
