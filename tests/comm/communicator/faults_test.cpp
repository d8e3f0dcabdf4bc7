// SPDX-License-Identifier: BSD-3-Clause
// Jobs under injected faults: right results where the contract is kept; else an error in words on
// every rank, within the timeout, and never a wrong sum.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/backend/registry/transports_to_test.hpp"
#include "tests/variable.hpp"
#include "thread_job.hpp"

namespace trefoil::test::faults_test {
namespace {

constexpr int ranks = 4;

struct Outcome {
    std::atomic<int> wrong{0};   ///< sums
    std::atomic<int> failed{0};  ///< ranks that returned an error
    std::atomic<int> silent{0};  ///< errors without words
    double seconds = 0;
};

/// A job of ranks as threads, whose sums are looked at; every rank goes on until its first error.
void run_job(const TransportToTest& transport, const char* faults, int rounds,
             double timeout_seconds, Outcome& outcome) {
    const Variable injected("TREFOIL_FAULTS", faults);
    const Variable through_puts("TREFOIL_SINGLE_COPY", "0");
    const Variable quiet("TREFOIL_LOG", "error");
    const Variable shared_memory_or_not(
        "UCX_TLS", transport.backend == "ucx" ? transport.provider.c_str() : "all");
    JobOptions options;
    options.torus = "2x2";
    options.backend = transport.backend;
    options.provider = transport.provider;
    options.timeout_seconds = timeout_seconds;
    const auto begin = std::chrono::steady_clock::now();
    run_ranks(ranks, options, [&](int rank, trefoil_comm_t comm) {
        trefoil_status_t status = comm == nullptr ? TREFOIL_ERROR_SYSTEM : TREFOIL_SUCCESS;
        for (int round = 0; round < rounds && status == TREFOIL_SUCCESS; ++round) {
            const std::size_t count = round % 4 == 3 ? 40'000 : 100;
            std::vector<double> data(count);
            for (std::size_t i = 0; i < count; ++i) {
                data[i] = static_cast<double>(i % 1000 + static_cast<std::size_t>(rank + round));
            }
            status = trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_DOUBLE,
                                       TREFOIL_SUM, comm);
            bool right = true;
            for (std::size_t i = 0; i < count && status == TREFOIL_SUCCESS; ++i) {
                right = right && data[i] == 4.0 * static_cast<double>(i % 1000) + 6 + 4.0 * round;
            }
            outcome.wrong += right ? 0 : 1;
        }
        if (status != TREFOIL_SUCCESS) {
            ++outcome.failed;
            outcome.silent += std::string(trefoil_last_error(comm)).size() < 20 ? 1 : 0;
        }
    });
    outcome.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

class Faults : public testing::TestWithParam<TransportToTest> {};

TEST_P(Faults, ThatKeepTheContractDoNoHarm) {
    for (const char* const faults : {"1:delay=300", "2:again=5", "3:delay=200,again=3,rank=2"}) {
        Outcome outcome;
        run_job(GetParam(), faults, 60, 20, outcome);
        EXPECT_EQ(outcome.wrong, 0) << faults;
        EXPECT_EQ(outcome.failed, 0) << faults;
    }
}

void expect_words(const TransportToTest& transport, std::initializer_list<const char*> all) {
    const Variable checked("TREFOIL_CHECKSUM", "1");
    for (const char* const faults : all) {
        Outcome outcome;
        run_job(transport, faults, 1'000'000, 1, outcome);
        EXPECT_EQ(outcome.wrong, 0) << faults;
        EXPECT_EQ(outcome.failed, ranks) << faults;
        EXPECT_EQ(outcome.silent, 0) << faults;
        EXPECT_LT(outcome.seconds, 10) << faults;
    }
}

TEST_P(Faults, ThatBreakTheContractEndInWordsOnAllRanks) {
    expect_words(GetParam(),
                 {"1:fail=0.002", "2:drop=0.002", "3:twice=0.01", "4:close=300", "5:stall=300"});
}

TEST_P(Faults, OfOneRankThatBreakTheContractEndInWordsOnAllRanks) {
    expect_words(GetParam(), {"6:flip=0.01", "7:drop=0.01,rank=1", "8:twice=0.02,rank=2",
                              "9:close=100,rank=3"});
}

// So the checksums are what finds it.
TEST_P(Faults, WithoutChecksumsAFlippedBitIsAWrongSum) {
    Outcome outcome;
    run_job(GetParam(), "6:flip=0.003", 1500, 20, outcome);
    EXPECT_GT(outcome.wrong, 0);
}

/// One of each transport's ways.
std::vector<TransportToTest> some_transports() {
    auto all = transports_to_test();
    std::erase_if(all, [](const TransportToTest& each) {
        return each.name == "rxm" || each.name == "shm" || each.name == "posix";
    });
    return all;
}

INSTANTIATE_TEST_SUITE_P(Transports, Faults, testing::ValuesIn(some_transports()),
                         name_of_transport);

}  // namespace
}  // namespace trefoil::test::faults_test
