// SPDX-License-Identifier: BSD-3-Clause
// Ranks that run different builds of Trefoil are told so, whatever else they say.
#include "comm/setup/build_identity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "comm/communicator/communicator.hpp"
#include "tests/comm/setup/bootstrap_double.hpp"
#include "topo/error.hpp"
#include "trefoil/trefoil.h"

namespace trefoil::test {
namespace {

TEST(BuildIdentity, IsVersionAndHash) {
    const std::string identity = build_identity();
    const std::string version = trefoil_version_string();
    EXPECT_EQ(identity, version + " (sources " + source_hash + ")");
    const std::string hash = source_hash;
    EXPECT_EQ(hash.size(), 16U);
    EXPECT_TRUE(std::ranges::all_of(hash, [](char c) { return std::isxdigit(c) != 0; })) << hash;
}

/// The error of rank `rank` of three whose last one says `theirs` where this build says `ours`, in
/// words as long, and then as much of the rest as `keep` wants.
std::string error_of(Rank rank, const std::string& ours, const std::string& theirs,
                     std::size_t keep) {
    const auto speaker = [&](Rank r, std::string mine) {
        const std::size_t place = mine.find(ours);
        EXPECT_NE(place, std::string::npos);
        if (r == 2 && place != std::string::npos) {
            mine.replace(place, ours.size(), theirs);
            mine.resize(std::min(mine.size(), mine.find(')') + 1 + keep));
            // Both lengths: of the identity, and of all that the rank says.
            const std::uint64_t length = mine.size() - sizeof(int) - sizeof(std::uint64_t);
            std::memcpy(mine.data() + sizeof(int), &length, sizeof length);
        }
        return mine;
    };
    try {
        const Communicator made(Settings{}, std::make_unique<BootstrapDouble>(rank, 3, speaker));
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::mismatch);
        return error.what();
    }
    ADD_FAILURE() << "accepted";
    return {};
}

TEST(BuildIdentity, AnotherVersionIsToldOnEveryRank) {
    const std::string version = trefoil_version_string();
    for (const Rank rank : {0, 1}) {
        for (const std::size_t keep : {0UL, 5UL, 10'000UL}) {
            const std::string error = error_of(rank, version + " (", "9.9.9 (", keep);
            EXPECT_NE(error.find("ranks 0, 1: " + build_identity()), std::string::npos) << error;
            EXPECT_NE(error.find("rank 2: 9.9.9 ("), std::string::npos) << error;
            EXPECT_NE(error.find("load the same build"), std::string::npos) << error;
        }
    }
}

TEST(BuildIdentity, OtherSourcesOfOneVersionAreTold) {
    const std::string error = error_of(0, source_hash, "0000000000000000", 10'000);
    EXPECT_NE(error.find("rank 2: " + std::string(trefoil_version_string()) +
                         " (sources 0000000000000000)"),
              std::string::npos)
        << error;
}

}  // namespace
}  // namespace trefoil::test
