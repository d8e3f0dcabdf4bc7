// SPDX-License-Identifier: BSD-3-Clause
// Making communicators from others, and trying them.
#include "derived_job.hpp"

#include <array>

#include "random_calls.hpp"
#include "topo/torus.hpp"

namespace trefoil::test {

namespace {

Made made(trefoil_status_t status, trefoil_comm_t comm) {
    EXPECT_EQ(status, TREFOIL_SUCCESS) << trefoil_last_error(nullptr);
    return Made(comm);
}

}  // namespace

Made dup_of(trefoil_comm_t comm) {
    trefoil_comm_t place = nullptr;
    const trefoil_status_t status = trefoil_comm_dup(comm, &place);
    return made(status, place);
}
Made split_of(trefoil_comm_t comm, int colour, int key) {
    trefoil_comm_t place = nullptr;
    const trefoil_status_t status = trefoil_comm_split(comm, colour, key, &place);
    return made(status, place);
}
Made sub_of(trefoil_comm_t comm, const std::vector<int>& keep) {
    trefoil_comm_t place = nullptr;
    const trefoil_status_t status = trefoil_comm_sub(comm, keep.data(), &place);
    return made(status, place);
}
Made group_of(trefoil_comm_t comm, const std::vector<int>& ranks, int tag) {
    trefoil_comm_t place = nullptr;
    const trefoil_status_t status =
        trefoil_comm_create_group(comm, ranks.data(), static_cast<int>(ranks.size()), tag, &place);
    return made(status, place);
}

std::vector<Made> parts_of(trefoil_comm_t comm) {
    const auto dimensions = static_cast<std::size_t>(Torus::parse(torus_of(comm)).dimensions());
    std::vector<Made> made;
    made.push_back(dup_of(comm));
    for (std::size_t j = 0; j < dimensions; ++j) {
        std::vector<int> keep(dimensions);
        keep[j] = 1;
        made.push_back(sub_of(comm, keep));
    }
    if (dimensions > 2) {
        std::vector<int> keep(dimensions, 1);
        keep.back() = 0;
        made.push_back(sub_of(comm, keep));
    }
    made.push_back(dup_of(made.back()));
    return made;
}

int rank_in(trefoil_comm_t comm) {
    int rank = -1;
    EXPECT_EQ(trefoil_comm_rank(comm, &rank), TREFOIL_SUCCESS) << trefoil_last_error(nullptr);
    return rank;
}
int size_of(trefoil_comm_t comm) {
    int ranks = -1;
    EXPECT_EQ(trefoil_comm_size(comm, &ranks), TREFOIL_SUCCESS) << trefoil_last_error(nullptr);
    return ranks;
}
std::string torus_of(trefoil_comm_t comm) {
    int dimensions = 0;
    std::array<int, 16> sizes{};
    EXPECT_EQ(trefoil_comm_torus(comm, &dimensions, sizes.data(), 16), TREFOIL_SUCCESS)
        << trefoil_last_error(nullptr);
    return Torus(std::vector<Rank>(sizes.begin(), sizes.begin() + dimensions)).name();
}
std::string source_of(trefoil_comm_t comm) {
    const char* source = "";
    EXPECT_EQ(trefoil_comm_torus_source(comm, &source), TREFOIL_SUCCESS)
        << trefoil_last_error(nullptr);
    return source;
}

std::vector<int> gathered(trefoil_comm_t comm, int mine) {
    std::vector<int> all(static_cast<std::size_t>(size_of(comm)), -1);
    EXPECT_EQ(trefoil_allgather(&mine, all.data(), 1, TREFOIL_INT32, comm), TREFOIL_SUCCESS)
        << trefoil_last_error(nullptr);
    return all;
}

std::string try_all(trefoil_comm_t comm, const std::vector<std::size_t>& counts) {
    std::int64_t salt = 0;
    for (const NamedAlgorithm& named : algorithms_for(Torus::parse(torus_of(comm)))) {
        for (const std::size_t count : counts) {
            // What cannot run here is refused on all ranks alike.
            CollectiveCase what{named.collective, named.name};
            what.root = traits_of(named.collective).rooted() ? size_of(comm) - 1 : 0;
            what.count = count;
            what.salt = ++salt;
            std::string wrong = check_collective(comm, what);
            if (wrong.find("reads the memory of other ranks") != std::string::npos) {
                what.algorithm = "auto";
                wrong = check_collective(comm, what);
            }
            const bool other_order = traits_of(named.collective).is_prefix() &&
                                     wrong.find("row by row, but here") != std::string::npos;
            if (!wrong.empty() && !other_order) {
                return describe(what) + ": " + wrong;
            }
        }
    }
    return "";
}

bool sum_is_right(trefoil_comm_t comm, int salt) {
    const int ranks = size_of(comm), mine = rank_in(comm) + salt;
    int sum = -1;
    const trefoil_status_t status =
        trefoil_allreduce(&mine, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, comm);
    EXPECT_EQ(status, TREFOIL_SUCCESS) << trefoil_last_error(nullptr);
    EXPECT_EQ(sum, ranks * (ranks - 1) / 2 + ranks * salt);
    return sum == ranks * (ranks - 1) / 2 + ranks * salt;
}

void run_on(const std::string& torus, const std::function<void(int, trefoil_comm_t)>& body,
            int port_threads, double timeout_seconds) {
    JobOptions options;
    options.torus = torus;
    options.port_threads = port_threads;
    options.timeout_seconds = timeout_seconds;
    run_ranks(Torus::parse(torus).ranks(), options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        body(rank, comm);
    });
}

}  // namespace trefoil::test
