// SPDX-License-Identifier: BSD-3-Clause
// Schedules as text: what is written is read back alike, and what is wrong is refused with the
// place.
#include "algorithms/json/user_schedule.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "algorithms/json/read.hpp"
#include "algorithms/json/write.hpp"
#include "algorithms/registry/registry.hpp"
#include "topo/error.hpp"

namespace trefoil {
namespace {

using json = nlohmann::ordered_json;

std::string lines_of(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options) {
    std::string text;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        text += schedule_json(torus, algorithm, options, algorithm.build(torus, r, options)).dump();
        text += '\n';
    }
    return text;
}

TEST(UserSchedule, ReadsWhatIsWritten) {
    for (const char* name : {"2x3", "5", "2", "1"}) {
        const Torus torus = Torus::parse(name);
        for (const Algorithm& algorithm : algorithms()) {
            const BuildOptions options{.root = torus.ranks() - 1};
            if (!algorithm.refusal(torus, options).empty()) {
                continue;
            }
            SCOPED_TRACE(std::string(algorithm.name) + " of " +
                         std::string(to_string(algorithm.collective)) + " on " + name);
            const std::string text = lines_of(torus, algorithm, options);
            const UserSchedule read(algorithm.collective, text);
            EXPECT_EQ(read.torus(), torus);
            EXPECT_EQ(read.algorithm().traits.reads_peers,
                      algorithm.traits.reads_peers && torus.ranks() > 1);
            EXPECT_EQ(read.algorithm().traits.steered, algorithm.traits.steered);
            if (algorithm.traits.order_preserving && traits_of(algorithm.collective).reduces) {
                EXPECT_TRUE(read.algorithm().traits.order_preserving);
            }
            // Written again, all but the name must be the same.
            const BuildOptions root{.root = read.root()};
            json again = json::array(), before = json::array();
            for (Rank r = 0; r < torus.ranks(); ++r) {
                const Schedule mine = read.algorithm().build(torus, r, root);
                again.push_back(schedule_json(torus, read.algorithm(), root, mine));
                again.back().erase("algorithm");
                before.push_back(
                    schedule_json(torus, algorithm, options, algorithm.build(torus, r, options)));
                before.back().erase("algorithm");
            }
            EXPECT_EQ(again, before);
            // A slot that the builder's bound fills holds what the exact count says.
            EXPECT_LE(read.algorithm().landing(torus, root),
                      algorithm.landing(torus, options) * (1 + 1e-9));
        }
    }
}

/// The ring's allreduce on three ranks, as one list.
json ring() {
    json all = json::array();
    const Torus torus({3});
    const Algorithm& algorithm = find_algorithm(Collective::allreduce, "ring");
    for (Rank r = 0; r < 3; ++r) {
        all.push_back(schedule_json(torus, algorithm, {}, algorithm.build(torus, r)));
    }
    return all;
}

std::string refusal_of(const std::string& text) {
    try {
        const UserSchedule read(Collective::allreduce, text);
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::invalid_argument) << error.what();
        return error.what();
    }
    return "";
}

TEST(UserSchedule, TakesPortsFromTheTorus) {
    json all = ring();
    for (json& rank : all) {
        for (json& part : rank["parts"]) {
            for (json& step : part["steps"]) {
                for (const char* kind : {"sends", "receives"}) {
                    for (json& message : step[kind]) {
                        message.erase("port");
                    }
                }
            }
        }
    }
    EXPECT_EQ(refusal_of(all.dump()), "");
}

TEST(UserSchedule, SaysWhatIsWrongAndWhere) {
    struct Mistake {
        std::function<void(json&)> edit;
        const char* expected;
    };
    const auto step = [](json& all) -> json& { return all[1]["parts"][0]["steps"][2]; };
    const Mistake mistakes[] = {
        {[&](json& a) { step(a)["sends"] = json::array(); }, "no matching send in this step"},
        {[&](json& a) { step(a)["receives"][0]["applications"][0]["action"] = "reduce"; }, "twice"},
        {[&](json& a) {
             step(a)["sends"][0]["extents"] = {{0, 2}};
         },
         "has 2 blocks"},
        {[&](json& a) {
             step(a)["sends"][0]["extents"] = {{3, 1}};
         },
         "rank 1, part 0, step 2, send 0: the first block is 3"},
        {[&](json& a) {
             step(a)["sends"][0]["extents"] = {{0, 4294967297}};
         },
         "the number of blocks is 4294967297"},
        {[&](json& a) {
             step(a)["sends"][0]["extents"] = {{18446744073709551615U, 1}};
         },
         "the first block is 18446744073709551615"},
        {[&](json& a) { step(a)["sends"][0]["extents"] = {{0}}; }, "[first, count], not [0]"},
        {[&](json& a) { step(a)["sends"][0]["peer"] = 3; }, "\"peer\" is 3"},
        {[&](json& a) { step(a)["sends"][0]["peer"] = 1; }, "is the rank itself"},
        {[&](json& a) { step(a)["sends"][0]["port"] = "+1"; }, "the ports are +0, -0"},
        {[&](json& a) { step(a)["sends"][0]["port"] = "-0"; }, "the wrong port"},
        {[&](json& a) { step(a)["send"] = json::array(); },
         "rank 1, part 0, step 2: there is no field \"send\"; did you mean \"sends\"?"},
        {[&](json& a) { a[1]["parts"][0]["steps"].erase(3); }, "has 3 steps, but rank 0 has 4"},
        {[&](json& a) { a[1]["parts"][0]["vector_blocks"] = 0; }, "\"vector_blocks\" is 0"},
        {[&](json& a) { a[1]["parts"][0]["vector_blocks"] = 4; }, "other numbers of blocks"},
        {[&](json& a) { a[1]["parts"][0]["vector_blocks"] = "3"; }, "\"vector_blocks\" is \"3\""},
        {[&](json& a) { a[1].erase("parts"); }, "object 1: \"parts\" is missing"},
        {[&](json& a) { a[1]["rank"] = 0; }, "two schedules of it"},
        {[&](json& a) { a[1]["torus"] = "1x3"; }, "differ from those of rank 0"},
        {[&](json& a) { a[1] = 7; }, "object 1: is not an object"},
        {[&](json& a) { a.erase(2); }, "schedules of 2 ranks, but the torus 3 has 3"},
        {[&](json& a) { a = json::array(); }, "there is no object in it"},
        {[&](json& a) {
             for (json& rank : a) {
                 rank["collective"] = "reduce";
             }
         },
         "schedule of reduce, not of allreduce"},
    };
    for (const Mistake& mistake : mistakes) {
        json all = ring();
        mistake.edit(all);
        EXPECT_NE(refusal_of(all.dump()).find(mistake.expected), std::string::npos)
            << "expected: " << mistake.expected << "\n"
            << refusal_of(all.dump());
    }
    EXPECT_EQ(refusal_of(ring().dump()), "") << "without a mistake it is taken";
    EXPECT_NE(refusal_of("").find("the text is empty"), std::string::npos);
    EXPECT_NE(refusal_of("{\"collective\": ").find("line 1"), std::string::npos);
    EXPECT_NE(refusal_of("[[").find("it is not JSON"), std::string::npos);
}

// Two texts never go by one name by chance, and a name is what a user can type.
TEST(UserSchedule, IsNamedAfterItsText) {
    const std::string text = ring().dump();
    const UserSchedule one(Collective::allreduce, text), same(Collective::allreduce, text),
        other(Collective::allreduce, text + " ");
    EXPECT_EQ(one.algorithm().name, same.algorithm().name);
    EXPECT_NE(one.algorithm().name, other.algorithm().name);
    EXPECT_EQ(one.algorithm().name.substr(0, 9), "schedule-");
}

}  // namespace
}  // namespace trefoil
