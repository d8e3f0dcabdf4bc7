// SPDX-License-Identifier: BSD-3-Clause
// What calls have put through each port: the volume of their schedules; of single copy the signals
// and addresses alone.
#include "thread_job.hpp"

namespace trefoil::test {
namespace {

struct Sent {
    unsigned long long puts = 0, bytes = 0;
};

Sent sent_through_all_ports(trefoil_comm_t comm, int ports) {
    Sent all;
    for (int port = 0; port < ports; ++port) {
        trefoil_port_t one{};
        one.size = sizeof one;
        EXPECT_EQ(trefoil_comm_port(comm, port, &one), TREFOIL_SUCCESS);
        EXPECT_NE(one.nic, nullptr);
        all.puts += one.puts;
        all.bytes += one.bytes;
    }
    return all;
}

TEST(Traffic, IsTheVolumeOfTheCalls) {
    JobOptions options;
    options.torus = "3x3";
    options.algorithm = "bucket";
    run_ranks(9, options, [](int, trefoil_comm_t comm) {
        constexpr std::size_t count = 9 * 4 * 128;
        constexpr std::size_t volume = 2 * count * sizeof(float) / 9 * 8;  // 2 (N - 1) / N
        std::vector<float> data(count, 1.0F);
        EXPECT_EQ(sent_through_all_ports(comm, 4).puts, 0U);
        for (unsigned long long call = 1; call <= 2; ++call) {
            ASSERT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_FLOAT,
                                        TREFOIL_SUM, comm),
                      TREFOIL_SUCCESS);
            EXPECT_EQ(sent_through_all_ports(comm, 4).bytes, call * volume);
        }
        trefoil_port_t one{};
        one.size = sizeof one;
        ASSERT_EQ(trefoil_comm_port(comm, 3, &one), TREFOIL_SUCCESS);
        EXPECT_EQ(one.bytes, 2 * volume / 4) << "the ports of bucket share alike";
    });
}

TEST(Traffic, OfSingleCopyIsSignalsAndAddresses) {
    JobOptions options;
    options.torus = "3";
    run_ranks(3, options, [](int, trefoil_comm_t comm) {
        std::vector<float> data(std::size_t{1} << 17, 1.0F);  // one segment
        ASSERT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), data.size(), TREFOIL_FLOAT,
                                    TREFOIL_SUM, comm),
                  TREFOIL_SUCCESS);
        const Sent sent = sent_through_all_ports(comm, 2);
        EXPECT_EQ(sent.puts, 6U);  // to each of two peers: addresses, the sum is there, it is read
        EXPECT_EQ(sent.bytes, 2 * 16U);  // two addresses
    });
}

TEST(Traffic, OfWrongPortsIsRefused) {
    JobOptions options;
    options.torus = "2x2";
    run_ranks(4, options, [](int, trefoil_comm_t comm) {
        trefoil_port_t one{};
        EXPECT_EQ(trefoil_comm_port(comm, 0, &one), TREFOIL_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(trefoil_comm_port(comm, 0, nullptr), TREFOIL_ERROR_INVALID_ARGUMENT);
        one.size = sizeof one;
        EXPECT_EQ(trefoil_comm_port(comm, -1, &one), TREFOIL_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(trefoil_comm_port(comm, 4, &one), TREFOIL_ERROR_INVALID_ARGUMENT);
        EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("ports 0 ... 3"),
                  std::string::npos);
        EXPECT_EQ(trefoil_comm_port(nullptr, 0, &one), TREFOIL_ERROR_INVALID_ARGUMENT);
    });
}

}  // namespace
}  // namespace trefoil::test
