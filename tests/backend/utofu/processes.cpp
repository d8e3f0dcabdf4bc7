// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite over the emulated uTofu, with ranks as forked processes; and what its
// callers may do at worst.
#include <array>

#include "tests/backend/ports/conformance.hpp"

namespace trefoil::conformance {

INSTANTIATE_TEST_SUITE_P(UtofuProcesses, Conformance, as_processes("utofu"), test_name);

namespace {

const Subject processes{"utofu", "utofu", "", true};
const std::vector<std::vector<Port>> two_ports{{Port{0}, Port{1}}};

TEST(UtofuProcesses, WhatIsAcceptedIsSeenOffByAGroupThatCloses) {
    static constexpr std::size_t bytes = 3000;
    for (std::uint32_t puts = 1; puts <= 6; ++puts) {
        run_ranks(processes, 2, [puts](Node& node) {
            auto drivers = wire(node, processes, two_ports, puts * bytes);
            Driver& driver = *drivers[0];
            node.allgather({}, [&] { driver.poll(); });  // both are connected
            if (node.rank() == 0) {
                fill(driver.outbox(), puts * bytes, puts);
                for (std::uint32_t i = 0; i < puts; ++i) {
                    driver.put(node, Port{0}, 1, i * bytes, i * bytes, i % 2 == 0 ? bytes : 20, i);
                }
                drivers.clear();
                node.allgather({});
                return;
            }
            for (std::uint32_t i = 0; i < puts; ++i) {
                EXPECT_LT(driver.next_notification(node), puts);
            }
            node.allgather({}, [&] { driver.poll(); });
        });
    }
}

// Each credit may make a notice, and nobody empties the queue of those but the owner's poll().
TEST(UtofuProcesses, CreditIsNotUsedBeforeItsNoticesAreRead) {
    run_ranks(processes, 2, [](Node& node) {
        const auto drivers = wire(node, processes, two_ports, 4096);
        Driver& driver = *drivers[0];
        if (node.rank() == 0) {
            const auto all = node.allgather(driver.describe());
            const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
            std::uint64_t accepted = 0;
            while (std::chrono::steady_clock::now() < end) {
                accepted += driver.try_put(Port{0}, 1, 0, 0, 0, 1) == PutResult::again ? 0 : 1;
            }
            EXPECT_GT(accepted, 0U);
            driver.flush(node);
            node.allgather({}, [&] { driver.poll(); });
        } else {
            node.allgather(driver.describe());
            node.allgather({}, [&] { driver.poll(); });
        }
    });
}

}  // namespace
}  // namespace trefoil::conformance
