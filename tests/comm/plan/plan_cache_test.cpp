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
    plan->programs.push_back(std::make_unique<Program>());
    plan->programs.back()->puts.resize(puts);
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

TEST(PlanCache, BeginsAnewWhenItIsFull) {
    PlanCache cache({.plans = 3, .puts_of_alltoallv = 10});
    for (std::size_t n = 1; n <= 3; ++n) {
        cache.insert({.count = n}, {}, plan_of("", 100));
    }
    EXPECT_EQ(cache.size(), 3U) << "equal counts: their puts are not bounded";
    EXPECT_EQ(cache.insert({.count = 4}, {}, plan_of("fourth")).text, "fourth");
    EXPECT_EQ(cache.size(), 1U);
    EXPECT_EQ(cache.find({.count = 1}, {}), nullptr);
}

TEST(PlanCache, BoundsThePlansOfAlltoallvByTheirPuts) {
    PlanCache cache({.plans = 100, .puts_of_alltoallv = 10});
    const auto insert = [&](std::size_t n) {
        const std::vector<std::size_t> list(2, n);
        cache.insert({.collective = Collective::alltoall, .counts = list, .send_counts = list}, {},
                     plan_of("", 6));
    };
    insert(1);
    insert(2);
    EXPECT_EQ(cache.size(), 2U);
    insert(3);
    EXPECT_EQ(cache.size(), 1U);
    insert(4);
    EXPECT_EQ(cache.size(), 2U) << "the count has begun anew, too";
}

}  // namespace
}  // namespace trefoil
