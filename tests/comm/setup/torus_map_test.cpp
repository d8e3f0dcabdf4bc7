// SPDX-License-Identifier: BSD-3-Clause
// Which torus a job gets, which place of it each rank takes, and allreduces among ranks that do not
// sit row-major.
#include "comm/setup/torus_map.hpp"

#include <cstdlib>
#include <fstream>
#include <map>
#include <tuple>

#include "algorithms/registry/registry.hpp"
#include "tests/comm/communicator/thread_job.hpp"
#include "topo/error.hpp"
#include "topo/fabric.hpp"

namespace trefoil::test::torus_map_test {
namespace {

using Places = std::vector<std::vector<Rank>>;

bool mentions(const std::string& text, const std::string& word) {
    return text.find(word) != std::string::npos;
}

void expect_refused(const TorusRequest& request, Rank ranks, const std::string& words) {
    try {
        make_torus_map(request, ranks);
        ADD_FAILURE() << "accepted; expected: " << words;
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::invalid_argument);
        EXPECT_TRUE(mentions(error.what(), words)) << error.what();
    }
}

TEST(TorusMap, WithoutAWishTheTorusIsAsSquareAsCanBe) {
    const auto name = [](Rank ranks) { return default_torus(ranks).name(); };
    EXPECT_EQ(name(1), "1");
    EXPECT_EQ(name(2), "2");
    EXPECT_EQ(name(4), "2x2");
    EXPECT_EQ(name(7), "7");
    EXPECT_EQ(name(9), "3x3");
    EXPECT_EQ(name(12), "4x3");
    EXPECT_EQ(name(62), "31x2");
    EXPECT_EQ(torus_named("3d", 12).name(), "3x2x2");
    EXPECT_EQ(torus_named("2d", 7).name(), "7x1");
    EXPECT_EQ(torus_named("2x6", 12).name(), "2x6");
}

TEST(TorusMap, CoordinatesMakeAPermutation) {
    const TorusMap map = make_torus_map({"test", "", {{1, 1}, {0, 0}, {1, 0}, {0, 1}}}, 4);
    EXPECT_EQ(map.torus.name(), "2x2");
    EXPECT_EQ(map.position_of, (std::vector<Rank>{3, 0, 2, 1}));
    for (Rank r = 0; r < 4; ++r) {
        EXPECT_EQ(map.rank_at[map.position_of[r]], r);
    }
    EXPECT_FALSE(map.has_free_places);
}

TEST(TorusMap, NodesAreMissingWhereNobodyIs) {
    const TorusMap map =
        make_torus_map({"test", "", {{2, 2}, {0, 0}, {0, 1}, {2, 0}, {1, 0}, {1, 2}, {0, 2}}}, 7);
    EXPECT_EQ(map.torus.name(), "3x3:node=4:node=7");
    EXPECT_TRUE(map.has_free_places);
    EXPECT_EQ(map.position_of, (std::vector<Rank>{6, 0, 1, 5, 3, 4, 2}));
    for (Rank r = 0; r < 7; ++r) {
        EXPECT_EQ(map.rank_at[map.position_of[r]], r);
    }
    EXPECT_EQ(make_torus_map({"test", "4", {{0}, {2}, {3}}}, 3).torus.name(), "4:node=1");
    const TorusMap told = make_torus_map({"test", "4:node=2", {{3}, {1}, {0}}}, 3);
    EXPECT_EQ(told.position_of, (std::vector<Rank>{2, 1, 0}));
    EXPECT_FALSE(told.has_free_places);
    expect_refused({"test", "4:node=2", {{3}, {2}, {0}}}, 3, "rank 1 has coordinates (2), where");
    expect_refused({"test", "", {{0}, {8}}}, 2, "torus 9 has 9 ranks, but the job has 2");
}

/// What a rank sends goes through a link that works, and its peer expects it from there.
TEST(TorusMap, OnAFabricMessagesLeaveThroughPortsThatHaveLinks) {
    for (const char* text : {"3x3:cable=+0@4", "4x4:node=5", "2x4:twist=0=1+2", "3x3x3:node=13"}) {
        const Torus torus = Torus::parse(text);
        const TorusMap map = make_torus_map({"test", text, {}}, torus.ranks());
        const Fabric& fabric = *torus.fabric();
        for (const char* name : {"packed", "ring", "bucket", "swing-b"}) {
            const Algorithm& algorithm = find_algorithm(Collective::allreduce, name);
            std::map<std::tuple<Rank, Rank, Port>, int> messages;  // sent less received
            for (Rank r = 0; r < torus.ranks(); ++r) {
                Schedule schedule = algorithm.build(torus, r, {});
                map.renumber(schedule);
                for (const Send& send : schedule.sends) {
                    EXPECT_GT(fabric.rate({fabric.place_of(r), send.port}), 0) << text << name;
                    ++messages[{r, send.peer, send.port}];
                }
                for (const Receive& receive : schedule.receives) {
                    --messages[{receive.peer, r, receive.port.opposite()}];
                }
            }
            for (const auto& [way, left] : messages) {
                EXPECT_EQ(left, 0) << text << " " << name << ": rank " << std::get<0>(way);
            }
        }
        for (Rank a = 0; a < torus.ranks(); ++a) {
            for (Rank b = 0; b < torus.ranks(); ++b) {
                EXPECT_TRUE(a == b || map.port_between(a, b) == map.port_between(b, a).opposite());
            }
        }
    }
}

TEST(TorusMap, RefusalsNameTheRanks) {
    expect_refused({"test", "2x2", {}}, 3, "test: torus 2x2 has 4 ranks, but the job has 3");
    expect_refused({"test", "", {{0, 1}, {0, 1}}}, 2, "ranks 0 and 1 both have coordinates (0,1)");
    expect_refused({"test", "2", {{0}, {2}}}, 2, "rank 1 has coordinates (2)");
    expect_refused({"test", "2", {{0}, {-1}}}, 2, "rank 1 has coordinates (-1)");
    expect_refused({"test", "", {{0}, {-1}}}, 2, "torus 1 has 1 ranks");
    expect_refused({"test", "", {{0, 0}, {0}}}, 2, "rank 0 has 2 coordinates, but rank 1 has 1");
    expect_refused({"test", "2x1", {{0}, {1}}}, 2, "rank 0 has coordinates (0), which torus 2x1");
    expect_refused({"test", "", {{0}, {2147483647}}}, 2, "2147483647 ranks, but the job has 2");
}

/// Sums over ranks that sit where `places` says, by every algorithm that suits.
void expect_sums(int rank, trefoil_comm_t comm, int ranks, const std::vector<const char*>& names) {
    for (const char* name : names) {
        ASSERT_EQ(trefoil_comm_set_algorithm(comm, "allreduce", name), TREFOIL_SUCCESS)
            << trefoil_last_error(nullptr);
        for (const std::size_t count : {1, 1000}) {
            std::vector<std::int64_t> values(count);
            for (std::size_t i = 0; i < count; ++i) {
                values[i] = (std::int64_t{1} << (4 * rank)) + static_cast<std::int64_t>(i % 2);
            }
            ASSERT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, values.data(), count, TREFOIL_INT64,
                                        TREFOIL_SUM, comm),
                      TREFOIL_SUCCESS)
                << trefoil_last_error(nullptr);
            std::int64_t each_once = 0;
            for (int r = 0; r < ranks; ++r) {
                each_once += std::int64_t{1} << (4 * r);
            }
            for (std::size_t i = 0; i < count; ++i) {
                ASSERT_EQ(values[i], each_once + static_cast<std::int64_t>(i % 2) * ranks) << name;
            }
        }
    }
    ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
}

TEST(TorusMap, RanksAtAnyPlaceReduceRightly) {
    const Places places{{1, 2}, {0, 0}, {1, 0}, {0, 2}, {0, 1}, {1, 1}};
    std::vector<std::vector<int>> given(places.begin(), places.end());
    run_ranks(
        6, {},
        [&](int rank, trefoil_comm_t comm) {
            ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
            int dimensions = 0, sizes[2] = {}, mine[2] = {}, own = -1;
            trefoil_comm_torus(comm, &dimensions, sizes, 2);
            EXPECT_EQ(sizes[0] * 10 + sizes[1], 23);
            trefoil_comm_rank(comm, &own);
            EXPECT_EQ(own, rank);
            for (int r = 0; r < 6; ++r) {
                ASSERT_EQ(trefoil_comm_coordinates(comm, r, mine, 2), TREFOIL_SUCCESS);
                EXPECT_EQ((std::vector<int>{mine[0], mine[1]}), given[r]);
            }
            EXPECT_EQ(trefoil_comm_coordinates(comm, 6, mine, 2), TREFOIL_ERROR_INVALID_ARGUMENT);
            EXPECT_EQ(trefoil_comm_coordinates(comm, 0, mine, 1), TREFOIL_ERROR_INVALID_ARGUMENT);
            expect_sums(rank, comm, 6, {"auto", "trivance-b", "swing-b", "bucket", "ring"});
        },
        [&](int rank, trefoil_config_t& config) {
            config.coordinates = given[rank].data();
            config.dimensions = 2;
        });
}

/// Block i of rank r, element j.
std::int32_t element(int rank, int block, std::size_t j) {
    return 10000 * rank + 1000 * block + static_cast<std::int32_t>(j);
}

/// All collectives that have a root or an order of blocks: a rank stays the caller's rank.
void expect_blocks(int rank, trefoil_comm_t comm, int ranks, std::size_t count) {
    const auto type = TREFOIL_INT32;
    const auto blocks = [&](int from, auto&& owner) {
        std::vector<std::int32_t> values(count * ranks);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const int block = static_cast<int>(i / count);
            values[i] = owner(from, block, i % count);
        }
        return values;
    };
    const auto own_blocks = blocks(rank, element);
    const auto first_blocks =
        blocks(0, [](int, int block, std::size_t j) { return element(block, 0, j); });
    std::vector<std::int32_t> all(count * ranks), one(count);
    const auto ok = [](trefoil_status_t status) {
        ASSERT_EQ(status, TREFOIL_SUCCESS) << trefoil_last_error(nullptr);
    };
    ok(trefoil_allgather(own_blocks.data(), all.data(), count, type, comm));
    EXPECT_EQ(all, first_blocks);
    ok(trefoil_reduce_scatter_block(own_blocks.data(), one.data(), count, type, TREFOIL_MAX, comm));
    for (std::size_t j = 0; j < count; ++j) {
        ASSERT_EQ(one[j], element(ranks - 1, rank, j));
    }
    for (int root = 0; root < ranks; ++root) {
        std::fill(all.begin(), all.end(), -1);
        ok(trefoil_gather(own_blocks.data(), all.data(), count, type, root, comm));
        EXPECT_TRUE(rank != root || all == first_blocks) << "root " << root;
        const auto roots_blocks = blocks(root, element);
        ok(trefoil_scatter(own_blocks.data(), one.data(), count, type, root, comm));
        for (std::size_t j = 0; j < count; ++j) {
            ASSERT_EQ(one[j], element(root, rank, j)) << "root " << root;
        }
        std::vector<std::int32_t> copy = own_blocks;
        ok(trefoil_bcast(copy.data(), copy.size(), type, root, comm));
        EXPECT_EQ(copy, roots_blocks) << "root " << root;
        std::fill(one.begin(), one.end(), -1);
        ok(trefoil_reduce(own_blocks.data(), one.data(), count, type, TREFOIL_MIN, root, comm));
        for (std::size_t j = 0; rank == root && j < count; ++j) {
            ASSERT_EQ(one[j], element(0, 0, j)) << "root " << root;
        }
    }
}

TEST(TorusMap, RootsAndBlocksAreThoseOfTheCallersRanks) {
    const std::vector<std::vector<int>> given{{1, 2}, {0, 0}, {1, 0}, {0, 2}, {0, 1}, {1, 1}};
    run_ranks(
        6, {},
        [&](int rank, trefoil_comm_t comm) {
            ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
            for (const std::size_t count : {1, 700}) {
                expect_blocks(rank, comm, 6, count);
            }
            ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        },
        [&](int rank, trefoil_config_t& config) {
            config.coordinates = given[rank].data();
            config.dimensions = 2;
        });
}

TEST(TorusMap, ARankWithoutCoordinatesAmongOthersIsNamed) {
    const int place[1] = {1};
    run_ranks(
        2, {},
        [](int, trefoil_comm_t comm) {
            EXPECT_EQ(comm, nullptr);
            const std::string text = trefoil_last_error(nullptr);
            EXPECT_TRUE(mentions(text, "rank 0: torus automatic, 0 coordinates")) << text;
            EXPECT_TRUE(mentions(text, "rank 1: torus automatic, 1 coordinates")) << text;
        },
        [&](int rank, trefoil_config_t& config) {
            config.coordinates = rank == 1 ? place : nullptr;
            config.dimensions = 1;
        });
}

class HostFileJob : public testing::Test {
  protected:
    void write(const std::string& text) {
        std::ofstream(path_) << text;
        setenv("TREFOIL_HOSTFILE", path_.c_str(), 1);
    }
    void TearDown() override {
        unsetenv("TREFOIL_HOSTFILE");
        unsetenv("TREFOIL_TORUS");
        std::remove(path_.c_str());
    }
    std::string path_ = testing::TempDir() + "trefoil_torus_map_hosts";
};

TEST_F(HostFileJob, PlacesTheRanksAndGoesBeforeTheVariable) {
    write("localhost 1 1\nlocalhost 0 0 # the second rank\nlocalhost 1 0\nlocalhost 0 1\n");
    setenv("TREFOIL_TORUS", "4", 1);
    run_ranks(4, {}, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        int place[2] = {};
        ASSERT_EQ(trefoil_comm_coordinates(comm, 1, place, 2), TREFOIL_SUCCESS);
        EXPECT_EQ(place[0] + place[1], 0);
        const char* source = nullptr;
        ASSERT_EQ(trefoil_comm_torus_source(comm, &source), TREFOIL_SUCCESS);
        EXPECT_EQ(std::string(source), "host file " + path_);
        expect_sums(rank, comm, 4, {"auto", "bucket"});
    });
}

TEST_F(HostFileJob, TheCallersTorusGoesBeforeTheFile) {
    write("localhost 0\n");
    JobOptions options;
    options.torus = "3";
    run_ranks(3, options, [&](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        const char* source = nullptr;
        trefoil_comm_torus_source(comm, &source);
        EXPECT_STREQ(source, "the caller's torus");
    });
}

TEST_F(HostFileJob, ErrorsAreTheSameOnAllRanks) {
    for (const auto& [text, words] :
         {std::pair{"localhost 0 0\nlocalhost 0 0\n", "ranks 0 and 1 both have"},
          std::pair{"localhost 0 0\n", "2 ranks of the job run on host"},
          std::pair{"localhost 0\nnowhere 1\n", "but 1 lines name it"},
          std::pair{"localhost 0\nlocalhost 1\nnowhere 2\n", "no rank of the job runs on"},
          std::pair{"torus 7\nlocalhost 0\nlocalhost 1\n", "has 7 ranks, but the job has 2"},
          std::pair{"torus 2\nlocalhost 0\nlocalhost 2\n", "rank 1 has coordinates (2)"}}) {
        write(text);
        run_ranks(2, {}, [expected = words](int, trefoil_comm_t comm) {
            EXPECT_EQ(comm, nullptr);
            EXPECT_TRUE(mentions(trefoil_last_error(nullptr), expected))
                << trefoil_last_error(nullptr);
        });
    }
    setenv("TREFOIL_HOSTFILE", "/no/such/file", 1);
    run_ranks(2, {}, [&](int, trefoil_comm_t comm) {
        EXPECT_EQ(comm, nullptr);
        EXPECT_TRUE(mentions(trefoil_last_error(nullptr), "/no/such/file"));
    });
}

}  // namespace
}  // namespace trefoil::test::torus_map_test
