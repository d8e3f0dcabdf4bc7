// SPDX-License-Identifier: BSD-3-Clause
// What trefoil_comm_algorithm returns, trefoil_comm_set_algorithm takes: for every collective and
// variant, algorithm and modifier.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "algorithms/registry/registry.hpp"
#include "algorithms/schedule/options.hpp"
#include "tests/comm/communicator/thread_job.hpp"

namespace trefoil::test {
namespace {

/// The names that users may have for a collective.
std::vector<std::string> names_of(Collective collective) {
    const CollectiveTraits& row = traits_of(collective);
    std::set<std::string> names{std::string(row.name)};
    if (!row.vector_variant.empty()) {
        names.insert(std::string(row.vector_variant));
    }
    if (collective == Collective::reduce_scatter) {
        names.insert("reduce_scatter_block");
    }
    return {names.begin(), names.end()};
}

std::string told(trefoil_comm_t comm, const std::string& name, std::size_t count) {
    const char* text = nullptr;
    const trefoil_status_t status =
        trefoil_comm_algorithm(comm, name.c_str(), count, TREFOIL_FLOAT, &text);
    return status == TREFOIL_SUCCESS ? text
                                     : std::string("refused: ") + trefoil_last_error(nullptr);
}

trefoil_status_t set(trefoil_comm_t comm, const std::string& name, const std::string& text) {
    return trefoil_comm_set_algorithm(comm, name.c_str(), text.c_str());
}

/// The algorithm alone, then with each modifier that it understands.
std::vector<std::string> texts_of(const Algorithm& algorithm) {
    std::vector<std::string> texts{std::string(algorithm.name)};
    for (const std::string& modifier : modifiers(algorithm.abilities)) {
        texts.push_back(texts.front() + ":" + modifier);
    }
    return texts;
}

/// Sets `text`, and sets again what is told then, which must change nothing. Returns whether the
/// torus suits.
bool goes_round(trefoil_comm_t comm, const std::string& name, const std::string& text) {
    const trefoil_status_t status = set(comm, name, text);
    if (status == TREFOIL_ERROR_UNSUPPORTED) {
        return false;
    }
    EXPECT_EQ(status, TREFOIL_SUCCESS)
        << name << " by " << text << ": " << trefoil_last_error(nullptr);
    for (const std::size_t count : {1UL, 100'000UL}) {
        const std::string first = told(comm, name, count);
        EXPECT_EQ(first.find(text.substr(0, text.find(':'))), 0U)
            << name << " by " << text << ": " << first;
        EXPECT_EQ(set(comm, name, first), TREFOIL_SUCCESS)
            << name << " by " << first << ": " << trefoil_last_error(nullptr);
        EXPECT_EQ(told(comm, name, count), first) << name << " by " << text;
        EXPECT_EQ(set(comm, name, text), TREFOIL_SUCCESS);
    }
    return true;
}

TEST(AlgorithmNames, GoRound) {
    std::set<std::string> gone_round;
    for (const char* const torus : {"4", "3x2", "2x2x2"}) {
        JobOptions options;
        options.torus = torus;
        run_ranks(Torus::parse(torus).ranks(), options, [&](int rank, trefoil_comm_t comm) {
            ASSERT_NE(comm, nullptr);
            if (rank != 0) {
                return;  // nothing is sent
            }
            for (const Algorithm& algorithm : algorithms()) {
                for (const std::string& name : names_of(algorithm.collective)) {
                    for (const std::string& text : texts_of(algorithm)) {
                        // What reads peers is an answer only where ranks can do so.
                        if (!algorithm.traits.reads_peers && goes_round(comm, name, text)) {
                            gone_round.insert(name + " " + text);
                        }
                    }
                    EXPECT_EQ(set(comm, name, "auto"), TREFOIL_SUCCESS) << name;
                }
            }
        });
    }
    EXPECT_GE(gone_round.size(), 120U);
}

TEST(AlgorithmNames, WhatAutoTakesCanBeNamed) {
    JobOptions options;
    options.torus = "3x2";
    run_ranks(6, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        if (rank != 0) {
            return;
        }
        for (const Collective collective : collectives()) {
            for (const std::string& name : names_of(collective)) {
                for (std::size_t count = 1; count < 10'000'000; count *= 8) {
                    EXPECT_EQ(set(comm, name, "auto"), TREFOIL_SUCCESS);
                    const std::string taken = told(comm, name, count);
                    EXPECT_EQ(set(comm, name, taken), TREFOIL_SUCCESS)
                        << name << ": " << taken << ": " << trefoil_last_error(nullptr);
                    EXPECT_EQ(told(comm, name, count), taken) << name;
                }
            }
        }
    });
}

TEST(AlgorithmRules, HoldInTheirRangesUntilAnAlgorithmIsNamed) {
    JobOptions options;
    options.torus = "3x2";
    options.algorithm = "allreduce:1K-2K=ring,allreduce:1M-=bucket,bcast:-64=linear";
    run_ranks(6, options, [](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        EXPECT_EQ(told(comm, "allreduce", 256), "ring");
        EXPECT_EQ(told(comm, "allreduce", 512), "ring");
        EXPECT_NE(told(comm, "allreduce", 513), "ring");
        EXPECT_EQ(told(comm, "allreduce", std::size_t{1} << 18), "bucket");
        EXPECT_EQ(told(comm, "bcast", 16), "linear");
        std::vector<float> values(300, 1);
        ASSERT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, values.data(), values.size(), TREFOIL_FLOAT,
                                    TREFOIL_SUM, comm),
                  TREFOIL_SUCCESS);
        EXPECT_EQ(std::count(values.begin(), values.end(), 6.0F), 300);
        EXPECT_EQ(set(comm, "allreduce", "swing-b"), TREFOIL_SUCCESS);
        EXPECT_EQ(told(comm, "allreduce", 256), "swing-b");
    });
}

TEST(AlgorithmRules, ThatMakeNoSenseAreRefusedOnAllRanks) {
    JobOptions options;
    options.algorithm = "bcast=linear,allreduce:2K-1K=ring";
    run_ranks(3, options, [](int, trefoil_comm_t comm) {
        EXPECT_EQ(comm, nullptr);
        EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("\"2K-1K\" ends below"),
                  std::string::npos)
            << trefoil_last_error(nullptr);
    });
}

TEST(AlgorithmRules, ThatDifferBetweenRanksAreRefusedWithTheDifference) {
    run_ranks(
        3, {},
        [](int, trefoil_comm_t comm) {
            EXPECT_EQ(comm, nullptr);
            const std::string words = trefoil_last_error(nullptr);
            for (const char* const part : {"disagree about the configuration",
                                           "rank 1: ", "TREFOIL_ALGORITHM=allreduce:1K-3K=ring",
                                           "TREFOIL_ALGORITHM=allreduce:1K-2K=ring"}) {
                EXPECT_NE(words.find(part), std::string::npos) << words;
            }
        },
        [](int rank, trefoil_config_t& config) {
            config.algorithm = rank == 1 ? "allreduce:1K-3K=ring" : "allreduce:1K-2K=ring";
        });
}

TEST(AlgorithmNames, OfAlltoallvAreThoseThatTakeBlocksOfAnySizes) {
    JobOptions options;
    options.torus = "4";
    run_ranks(4, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        if (rank != 0) {
            return;
        }
        EXPECT_EQ(set(comm, "alltoallv", "bruck"), TREFOIL_ERROR_UNSUPPORTED);
        EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("of one size"), std::string::npos);
        EXPECT_NE(told(comm, "alltoallv", 1), "bruck");
        EXPECT_EQ(set(comm, "alltoallv", "pairwise"), TREFOIL_SUCCESS);
        EXPECT_EQ(told(comm, "alltoall", 1), "pairwise");  // one choice for both
        EXPECT_EQ(set(comm, "alltoal", "pairwise"), TREFOIL_ERROR_NOT_FOUND);
        EXPECT_EQ(trefoil_comm_set_algorithm(comm, nullptr, "auto"),
                  TREFOIL_ERROR_INVALID_ARGUMENT);
    });
}

}  // namespace
}  // namespace trefoil::test
