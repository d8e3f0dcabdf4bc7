// SPDX-License-Identifier: BSD-3-Clause
// The cache of plans: found by value, never by what a caller's lists have become, and bounded.
#include "comm/plan/plan_cache.hpp"

#include <gtest/gtest.h>

#include "algorithms/registry/registry.hpp"

namespace trefoil {
namespace {

std::unique_ptr<Plan> plan_of(const char* text, std::size_t puts = 0) {
    auto plan = std::make_unique<Plan>();
    plan->text = text;
    Program program;
    program.puts.resize(puts);
    plan->programs.push_back(std::make_shared<const Program>(std::move(program)));
    return plan;
}

TEST(PlanCache, TellsRequestsAndForcedChoicesApart) {
    PlanCache cache;
    const Request seven{.count = 7}, eight{.count = 8};
    const Choice open{}, ring{&find_algorithm(Collective::allreduce, "ring"), {}};
    Choice one_port = ring;
    one_port.options.single_port = true;
    cache.insert(seven, open, plan_of("seven"));
    cache.insert(seven, ring, plan_of("seven by ring"));
    EXPECT_EQ(cache.find(seven, open)->text, "seven");
    EXPECT_EQ(cache.find(seven, ring)->text, "seven by ring");
    EXPECT_EQ(cache.find(seven, one_port), nullptr);
    EXPECT_EQ(cache.find(eight, open), nullptr);
    cache.insert(seven, open, plan_of("seven again"));
    EXPECT_EQ(cache.find(seven, open)->text, "seven again");
    EXPECT_EQ(cache.size(), 2U);
}

TEST(PlanCache, KeepsEachListOfARequest) {
    using List = std::span<const std::size_t>;
    for (List Request::*const which : {&Request::counts, &Request::displacements,
                                       &Request::send_counts, &Request::send_displacements}) {
        const auto request_of = [&](const std::vector<std::size_t>& list) {
            Request request{.collective = Collective::alltoall};
            request.*which = list;
            return request;
        };
        PlanCache cache;
        std::vector<std::size_t> list{1, 2, 3};
        cache.insert(request_of(list), {}, plan_of("of 1 2 3"));
        list = {4, 5, 6};
        EXPECT_EQ(cache.find(request_of(list), {}), nullptr) << "the caller's list is not the key";
        for (int i = 0; i < 100; ++i) {  // keys move when the table grows
            const std::vector<std::size_t> other(3, static_cast<std::size_t>(10 + i));
            cache.insert(request_of(other), {}, plan_of(""));
        }
        const std::vector<std::size_t> equal{1, 2, 3};
        ASSERT_NE(cache.find(request_of(equal), {}), nullptr);
        EXPECT_EQ(cache.find(request_of(equal), {})->text, "of 1 2 3");
    }
}

/// What one of the plans below takes, whatever it is.
std::size_t bytes_of_one(std::size_t puts) {
    PlanCache cache;
    cache.insert({.count = 1}, {}, plan_of("", puts));
    return cache.bytes();
}

TEST(PlanCache, ForgetsFirstWhatWasNotUsedForLongest) {
    PlanCache cache(3 * bytes_of_one(100));
    for (std::size_t n = 1; n <= 3; ++n) {
        cache.insert({.count = n}, {}, plan_of("", 100));
    }
    EXPECT_EQ(cache.size(), 3U);
    ASSERT_NE(cache.find({.count = 1}, {}), nullptr);
    cache.insert({.count = 4}, {}, plan_of("fourth", 100));
    EXPECT_EQ(cache.size(), 3U);
    EXPECT_NE(cache.find({.count = 1}, {}), nullptr);
    EXPECT_EQ(cache.find({.count = 2}, {}), nullptr);
    EXPECT_NE(cache.find({.count = 3}, {}), nullptr);
    EXPECT_EQ(cache.find({.count = 4}, {})->text, "fourth");
}

TEST(PlanCache, CountsAllThatPlansAndKeysHold) {
    EXPECT_GE(bytes_of_one(1000), bytes_of_one(0) + 1000 * sizeof(ProgramPut));
    const std::vector<std::size_t> list(1000, 1);
    PlanCache cache;
    cache.insert({.collective = Collective::alltoall, .counts = list, .send_counts = list}, {},
                 plan_of(""));
    EXPECT_GE(cache.bytes(), bytes_of_one(0) + 2 * 1000 * sizeof(std::size_t));
    const std::size_t before = cache.bytes();
    cache.insert({.collective = Collective::alltoall, .counts = list, .send_counts = list}, {},
                 plan_of(""));
    EXPECT_EQ(cache.bytes(), before) << "replaced";
}

TEST(PlanCache, KeepsOnePlanThatIsTooLarge) {
    PlanCache cache(2 * bytes_of_one(10));
    cache.insert({.count = 1}, {}, plan_of("", 10));
    EXPECT_EQ(cache.insert({.count = 2}, {}, plan_of("large", 1000)).text, "large");
    EXPECT_EQ(cache.size(), 1U);
    EXPECT_EQ(cache.find({.count = 2}, {})->text, "large");
    cache.insert({.count = 3}, {}, plan_of("", 10));
    EXPECT_EQ(cache.size(), 1U);
    EXPECT_EQ(cache.find({.count = 2}, {}), nullptr);
}

TEST(PlanCache, StaysWithinItsBoundForEverDifferentCalls) {
    PlanCache cache(100'000);
    for (std::size_t n = 1; n <= 10'000; ++n) {
        const std::vector<std::size_t> list(n % 7, n);
        cache.insert({.collective = Collective::alltoall, .counts = list, .send_counts = list}, {},
                     plan_of("", n % 11));
        ASSERT_LE(cache.bytes(), 100'000U) << n;
    }
    EXPECT_GT(cache.bytes(), 90'000U);
}

}  // namespace
}  // namespace trefoil
