// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms: what it holds, look-up, and the offer of nearest names.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "algorithms/registry/registry.hpp"
#include "algorithms/schedule/algorithm.hpp"
#include "algorithms/schedule/nearest_names.hpp"
#include "topo/error.hpp"

namespace trefoil {
namespace {

TEST(Table, HoldsEveryAlgorithmThatIsPromised) {
    for (const char* name : {"trivance-l", "trivance-b", "trivance-g", "swing-l", "swing-b",
                             "bucket", "ring", "recursive-doubling-l", "recursive-doubling-b"}) {
        EXPECT_EQ(find_algorithm(Collective::allreduce, name).name, name);
    }
    EXPECT_EQ(find_algorithm(Collective::barrier, "dissemination").name, "dissemination");
}

TEST(Table, EntriesAreComplete) {
    std::set<std::pair<Collective, std::string_view>> names;
    for (const Algorithm& a : algorithms()) {
        SCOPED_TRACE(a.name);
        EXPECT_TRUE(names.insert({a.collective, a.name}).second) << "a name that is taken";
        EXPECT_EQ(a.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"),
                  std::string_view::npos);
        EXPECT_FALSE(a.summary.empty());
        EXPECT_LE(a.summary.size(), 80u) << "one line of help";
        EXPECT_FALSE(a.paper.empty());
        EXPECT_FALSE(a.shapes.empty());
        ASSERT_NE(a.shape_refusal, nullptr);
        ASSERT_NE(a.builder, nullptr);
        ASSERT_NE(a.landing_vectors, nullptr);
        if (a.collective == Collective::barrier) {
            EXPECT_EQ(a.landing_vectors(Torus({3, 3}), {}), 0) << "signals need no room";
        }
    }
}

// The default must have a choice in both classes.
TEST(Table, HasIdenticalResultsInEitherClass) {
    for (const CostClass wanted : {CostClass::latency, CostClass::bandwidth}) {
        EXPECT_TRUE(std::ranges::any_of(algorithms(), [&](const Algorithm& a) {
            return a.collective == Collective::allreduce && a.traits.cost_class == wanted &&
                   a.traits.identical_results;
        }));
    }
}

// The automatic choice takes the first that it finds.
TEST(Table, NamesOneAlgorithmWhereNothingIsPriced) {
    for (const Collective collective : collectives()) {
        for (const Unpriced size : {Unpriced::small, Unpriced::large}) {
            int named = 0;
            for (const Algorithm& a : algorithms()) {
                const Unpriced when = a.selection.unpriced;
                const bool meant = when == size || when == Unpriced::all;
                named += a.collective == collective && meant ? 1 : 0;
                EXPECT_TRUE(!meant ||
                            (a.traits.identical_results && a.selection.most_ranks > 1024 &&
                             a.refusal(Torus({1, 3, 5})).empty()))
                    << a.name << " cannot be chosen everywhere";
            }
            EXPECT_LE(named, 1) << to_string(collective);
        }
    }
}

void expect_not_found(Collective collective, const char* name, const std::string& text) {
    try {
        find_algorithm(collective, name);
        ADD_FAILURE() << name << " was found";
    } catch (const Error& e) {
        EXPECT_EQ(e.status(), Status::not_found);
        EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    }
}

TEST(Table, OffersTheNearestNames) {
    expect_not_found(Collective::allreduce, "trivanse-l", "did you mean trivance-l, ");
    expect_not_found(Collective::allreduce, "Ring", "did you mean ring");
    expect_not_found(Collective::allreduce, "zzz", "choose one of trivance-l, ");
    expect_not_found(Collective::allreduce, "", "choose one of");
}

TEST(Table, LooksOnlyAtTheCollectiveAskedFor) {
    expect_not_found(Collective::barrier, "ring", "there is no barrier algorithm \"ring\"");
    expect_not_found(Collective::allreduce, "dissemination", "no allreduce algorithm");
}

TEST(NearestNames, AreOrderedByDistance) {
    const std::vector<std::string> names = {"bucket", "swing-b", "swing-l", "string", "ring"};
    EXPECT_EQ(nearest_names("swing-l", names), (std::vector<std::string>{"swing-l", "swing-b"}));
    EXPECT_EQ(nearest_names("sring", names)[0], "string");
    EXPECT_EQ(nearest_names("sring", names)[1], "ring");
}

TEST(NearestNames, AreAtMostThree) {
    const std::vector<std::string> names = {"aaaa", "aaab", "aaac", "aaad"};
    EXPECT_EQ(nearest_names("aaaa", names), (std::vector<std::string>{"aaaa", "aaab", "aaac"}));
}

TEST(NearestNames, AreNotTooFar) {
    const std::vector<std::string> names = {"bucket"};
    EXPECT_EQ(nearest_names("bucXXX", names).size(), 1u);  // half of the letters
    EXPECT_TRUE(nearest_names("buXXXX", names).empty());
    EXPECT_TRUE(nearest_names("", names).empty());
    EXPECT_TRUE(nearest_names("bucket", {}).empty());
}

}  // namespace
}  // namespace trefoil
