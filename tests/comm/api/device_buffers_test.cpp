// SPDX-License-Identifier: BSD-3-Clause
// Buffers that a device's runtime calls its own are refused, by every collective, and nothing has
// moved. The runtime is a make-believe one, and its memory the host's.
#include "argument_mistakes.hpp"
#include "tests/comm/communicator/thread_job.hpp"
#include "tests/topo/fake_device/fake_device.hpp"

namespace trefoil::test::device_buffers_test {
namespace {

constexpr int ranks = 3;
constexpr std::size_t room = count * ranks;  ///< of one buffer of one rank, in elements

/// What all ranks' buffers can be put into, to be called a device's.
class DeviceBuffers : public testing::Test {
  protected:
    std::int32_t* buffer(int rank) {
        return memory_.data() + static_cast<std::size_t>(rank) * room;
    }

    /// Whether all ranks that take part use the buffer, so that nobody waits for one that does not.
    static bool all_use(const Kind& kind, By who, int taking_part) {
        return who == By::all || (who == By::the_root && taking_part == 1) || is_root_first(kind);
    }
    /// The root looks first, and tells the others.
    static bool is_root_first(const Kind& kind) { return kind.rooted && kind.displaced; }

    void expect_refusal(const Kind& kind, Caller& wrong, const char* what) {
        EXPECT_EQ(kind.call(wrong.a), TREFOIL_ERROR_UNSUPPORTED) << kind.name << ", " << what;
        const std::string text = trefoil_last_error(nullptr);
        const bool told = is_root_first(kind) && wrong.rank != wrong.a.root;
        EXPECT_NE(text.find(told ? "the root, has refused" : "a device's memory, says CUDA"),
                  std::string::npos)
            << kind.name << ", " << what << ": " << text;
        EXPECT_EQ(reason_of_failure(wrong.a.comm), "") << kind.name;
        EXPECT_EQ(memory_, std::vector<std::int32_t>(memory_.size(), untouched)) << kind.name;
    }

    void expect_refusals(int taking_part, const char* torus) {
        FakeDevice fake(FAKE_CUDA);
        fake.owns(memory_.data(), memory_.size() * sizeof memory_[0]);
        JobOptions options;
        options.torus = torus;
        run_ranks(taking_part, options, [&](int rank, trefoil_comm_t comm) {
            ASSERT_NE(comm, nullptr);
            for (const Kind& kind : kinds()) {
                if (all_use(kind, kind.sends, taking_part)) {
                    Caller wrong(kind, rank, taking_part, comm);
                    wrong.a.send = buffer(rank);
                    expect_refusal(kind, wrong, "sends");
                }
                if (all_use(kind, kind.receives, taking_part)) {
                    Caller wrong(kind, rank, taking_part, comm);
                    wrong.a.recv = buffer(rank);
                    expect_refusal(kind, wrong, "receives");
                }
                Caller right(kind, rank, taking_part, comm);
                EXPECT_EQ(kind.call(right.a), TREFOIL_SUCCESS) << trefoil_last_error(nullptr);
            }
        });
        fake.owns_nothing();
    }

    std::vector<std::int32_t> memory_ = std::vector<std::int32_t>(ranks * room, untouched);
};

TEST_F(DeviceBuffers, AreRefusedByEveryCollective) {
    expect_refusals(ranks, "3");
}

TEST_F(DeviceBuffers, AreRefusedByOneRank) {
    expect_refusals(1, "1");
}

// A program may load the runtime when it already has communicators.
TEST_F(DeviceBuffers, AreRefusedWhenTheRuntimeComesLater) {
    JobOptions options;
    options.torus = "3";
    run_ranks(ranks, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        std::int32_t host = rank, sum = 0;
        ASSERT_EQ(trefoil_allreduce(&host, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, comm),
                  TREFOIL_SUCCESS);
        FakeDevice fake(FAKE_CUDA);
        fake.owns(memory_.data(), memory_.size() * sizeof memory_[0]);
        ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        for (const std::size_t n : {2UL, 1UL}) {  // a new call finds the runtime, then all know it
            EXPECT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, buffer(rank), n, TREFOIL_INT32,
                                        TREFOIL_SUM, comm),
                      TREFOIL_ERROR_UNSUPPORTED);
            EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("says CUDA"),
                      std::string::npos);
        }
        EXPECT_EQ(buffer(rank)[0], untouched);
        ASSERT_EQ(trefoil_allreduce(&host, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, comm),
                  TREFOIL_SUCCESS);
        EXPECT_EQ(sum, 3);
    });
}

}  // namespace
}  // namespace trefoil::test::device_buffers_test
