// SPDX-License-Identifier: BSD-3-Clause
// The promises of docs/reproducibility.md, one test each: which calls give the same bits.
#include <cmath>
#include <map>
#include <optional>

#include "backend/registry/transports.hpp"
#include "tests/variable.hpp"
#include "thread_job.hpp"
#include "topo/torus.hpp"

namespace trefoil::test::reproducibility_test {
namespace {

using Bits = std::vector<float>;

/// Values of very different sizes: each order of adding them rounds in its own way.
float input(int rank, std::size_t i) {
    const int exponent = static_cast<int>((i * 31 + static_cast<std::size_t>(rank) * 17) % 40) - 20;
    return std::ldexp(1.0F + static_cast<float>(rank) * 0.1F, exponent);
}

/// Elements [first, first + count) of the sum, with the ranks added one after the other.
Bits serial(int ranks, std::size_t first, std::size_t count) {
    Bits sums(count);
    for (std::size_t i = 0; i < count; ++i) {
        sums[i] = input(0, first + i);
        for (int r = 1; r < ranks; ++r) {
            sums[i] += input(r, first + i);
        }
    }
    return sums;
}

bool same_bits(const Bits& a, const Bits& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// An allreduce of elements [first, first + count); all ranks must have the same bits.
Bits allreduce(const std::string& shape, JobOptions options, std::size_t first, std::size_t count) {
    const int ranks = Torus::parse(shape).ranks();
    std::vector<Bits> results(static_cast<std::size_t>(ranks));
    options.torus = shape;
    run_ranks(ranks, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        Bits data(count);
        for (std::size_t i = 0; i < count; ++i) {
            data[i] = input(rank, first + i);
        }
        ASSERT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_FLOAT,
                                    TREFOIL_SUM, comm),
                  TREFOIL_SUCCESS)
            << trefoil_last_error(comm);
        results[static_cast<std::size_t>(rank)] = data;
    });
    for (const Bits& result : results) {
        EXPECT_TRUE(same_bits(result, results[0])) << "ranks differ on " << shape;
    }
    return results[0];
}

/// Those of this build. ThreadSanitizer knows nothing of the locks inside network libraries.
std::vector<std::string> transports_to_compare() {
    std::vector<std::string> names;
    for (const Transport& transport : transports()) {
#ifdef __SANITIZE_THREAD__
        const bool sound = transport.name == "memory";
#else
        const bool sound = true;
#endif
        if (transport.usable() && sound) {
            names.emplace_back(transport.name);
        }
    }
    return names;
}

JobOptions by(const std::string& algorithm) {
    JobOptions options;
    options.algorithm = algorithm;
    return options;
}

constexpr std::size_t lengths[] = {1, 7, 1000, 70001};

TEST(Reproducibility, AllRanksGetTheSameBits) {
    for (const char* shape : {"2", "7", "3x3", "2x3", "2x2x2"}) {
        for (const std::size_t length : lengths) {
            allreduce(shape, by("auto"), 0, length);
        }
    }
}

// Whatever arrives first, with one thread or several.
TEST(Reproducibility, EveryRunGivesTheSameBits) {
    for (const char* algorithm : {"auto", "swing-b", "trivance-b", "recursive-doubling-i"}) {
        for (const std::size_t length : {std::size_t{7}, std::size_t{70001}}) {
            std::optional<Bits> first;
            for (const int port_threads : {-1, 2, 4, 2, -1}) {
                JobOptions options = by(algorithm);
                options.port_threads = port_threads;
                const Bits now = allreduce("3x3", options, 0, length);
                EXPECT_TRUE(same_bits(now, first.value_or(now)))
                    << algorithm << ", " << length << " elements";
                first = now;
            }
        }
    }
}

// With the algorithm named: auto may take another one where ranks read each other's memory.
TEST(Reproducibility, EveryTransportGivesTheSameBits) {
    for (const char* algorithm : {"swing-b", "trivance-b", "bucket"}) {
        for (const std::size_t length : {std::size_t{7}, std::size_t{70001}}) {
            std::optional<Bits> first;
            for (const std::string& transport : transports_to_compare()) {
                JobOptions options = by(algorithm);
                options.backend = transport;
                const Bits now = allreduce("2x3", options, 0, length);
                EXPECT_TRUE(same_bits(now, first.value_or(now)))
                    << algorithm << " over " << transport;
                first = now;
            }
        }
    }
}

// What the page warns of: these are different sums, or the other tests could not fail.
TEST(Reproducibility, ShapesAndAlgorithmsAndPlacesDifferWithoutTheSwitch) {
    const Bits ring = allreduce("8", by("swing-b"), 0, 4099);
    EXPECT_FALSE(same_bits(ring, allreduce("2x2x2", by("swing-b"), 0, 4099)));
    EXPECT_FALSE(same_bits(ring, allreduce("8", by("bucket"), 0, 4099)));
    EXPECT_FALSE(same_bits(ring, serial(8, 0, 4099)));
    const Bits shifted = allreduce("8", by("swing-b"), 100, 3999);
    EXPECT_FALSE(same_bits(shifted, Bits(ring.begin() + 100, ring.end())));
}

TEST(Reproducibility, TheSwitchGivesTheSerialSumOnEveryShape) {
    const Variable on("TREFOIL_REPRODUCIBLE", "1");
    for (const char* shape : {"8", "2x4", "4x2", "2x2x2", "7", "3x3"}) {
        const int ranks = Torus::parse(shape).ranks();
        std::size_t first = 0;
        for (const std::size_t length : lengths) {
            EXPECT_TRUE(same_bits(allreduce(shape, by("auto"), first, length),
                                  serial(ranks, first, length)))
                << shape << ", " << length << " elements from " << first;
            first = 100 - first;
        }
    }
}

TEST(Reproducibility, TheSwitchHoldsOverEveryTransportAndWithSegments) {
    const Variable on("TREFOIL_REPRODUCIBLE", "1");
    const Variable segments("TREFOIL_SEGMENT_BYTES", "16384");
    for (const std::string& transport : transports_to_compare()) {
        JobOptions options;
        options.backend = transport;
        EXPECT_TRUE(same_bits(allreduce("2x3", options, 0, 70001), serial(6, 0, 70001)))
            << transport;
    }
}

TEST(Reproducibility, TheSwitchRefusesAlgorithmsInAnotherOrder) {
    const Variable on("TREFOIL_REPRODUCIBLE", "1");
    run_ranks(4, by("swing-b"), [](int, trefoil_comm_t comm) {
        float value = 1;
        EXPECT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, &value, 1, TREFOIL_FLOAT, TREFOIL_SUM, comm),
                  TREFOIL_ERROR_UNSUPPORTED);
        EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("TREFOIL_REPRODUCIBLE=1"),
                  std::string::npos);
    });
}

TEST(Reproducibility, TheSwitchHoldsForReduceAndReduceScatter) {
    const Variable on("TREFOIL_REPRODUCIBLE", "1");
    constexpr int ranks = 6;
    constexpr std::size_t block = 501;
    JobOptions options;
    options.torus = "2x3";
    run_ranks(ranks, options, [&](int rank, trefoil_comm_t comm) {
        Bits all(ranks * block), mine(block), at_root(ranks * block);
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i] = input(rank, i);
        }
        ASSERT_EQ(trefoil_reduce_scatter_block(all.data(), mine.data(), block, TREFOIL_FLOAT,
                                               TREFOIL_SUM, comm),
                  TREFOIL_SUCCESS);
        EXPECT_TRUE(same_bits(mine, serial(ranks, static_cast<std::size_t>(rank) * block, block)));
        ASSERT_EQ(trefoil_reduce(all.data(), at_root.data(), all.size(), TREFOIL_FLOAT, TREFOIL_SUM,
                                 2, comm),
                  TREFOIL_SUCCESS);
        if (rank == 2) {
            EXPECT_TRUE(same_bits(at_root, serial(ranks, 0, all.size())));
        }
    });
}

}  // namespace
}  // namespace trefoil::test::reproducibility_test
