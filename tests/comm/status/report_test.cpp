// SPDX-License-Identifier: BSD-3-Clause
// Reports in words and as JSON.
#include "comm/status/report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace trefoil::test {
namespace {

RankReport example() {
    CallReport running{18, 77, "allreduce of 7 \"my\" type", 3, 2, {}};
    running.missing.push_back({Missing::Kind::message, 4, Port::plus(0), 1, 2, 64});
    running.missing.push_back({Missing::Kind::room, 5, Port::minus(1), 0, 2, 8});
    running.missing.push_back({Missing::Kind::connection, 6, Port::minus(0), 0, 2, 8});
    const CallReport waiting{19, 78, "a barrier", 1, 0, {}};
    const CallReport leaving{17, 76, "a bcast", 1, 1, {}};
    CommunicatorReport comm;
    comm.number = 0xffffffffffffffff;
    comm.rank = 1;
    comm.members = {8, 3};
    comm.torus = "2";
    comm.made = 19;
    comm.failure = "no\nmore";
    comm.calls = {leaving, running, waiting};
    comm.idle = std::chrono::milliseconds(12'340);
    RankReport report;
    report.rank = 3;
    report.ranks = 9;
    report.host = "a";
    report.process = 4711;
    report.inside = true;
    report.communicators = {comm};
    report.addresses = {"127.0.0.1:1/k", "127.0.0.1:2/k"};
    return report;
}

TEST(Report, InWords) {
    EXPECT_EQ(text_of(example()),
              "rank 3 of 9, process 4711 on host a: inside Trefoil\n"
              "communicator of 2 ranks (2), rank 1: 19 calls made, 3 in flight; nothing has moved "
              "for 12.3 s\n"
              "  it has failed: no\nmore\n"
              "  call 17, a bcast: segment 1 of 1; waits for its own puts to leave\n"
              "  call 18, allreduce of 7 \"my\" type: segment 2 of 3; waits for step 2 of part 1 "
              "from rank 4 through port +0, rank 5 to take in what came through port -1 before, "
              "rank 6 to connect to port -0\n"
              "  call 19, a barrier: waits for the calls before it\n");
    RankReport unseen = example();
    unseen.looked = false;
    unseen.communicators.clear();
    EXPECT_NE(text_of(unseen).find("wait for is unknown"), std::string::npos);
}

TEST(Report, AsJson) {
    const auto json = nlohmann::json::parse(json_of(example()));
    EXPECT_EQ(json["rank"], 3);
    EXPECT_EQ(json["inside"], true);
    EXPECT_EQ(json["addresses"][1], "127.0.0.1:2/k");
    const auto& comm = json["communicators"][0];
    EXPECT_EQ(comm["number"], "18446744073709551615") << "too large for JSON's numbers";
    EXPECT_EQ(comm["failure"], "no more");
    EXPECT_EQ(comm["idle_ms"], 12'340);
    EXPECT_EQ(comm["members"], nlohmann::json({8, 3}));
    const auto& call = comm["calls"][1];
    EXPECT_EQ(call["what"], "allreduce of 7 \"my\" type");
    EXPECT_EQ(call["waits"][0]["for"], "message");
    EXPECT_EQ(call["waits"][0]["rank"], 4);
    EXPECT_EQ(call["waits"][0]["port"], "+0");
    EXPECT_EQ(call["waits"][0]["bytes"], 64);
    EXPECT_EQ(call["waits"][2]["for"], "connection");
    EXPECT_TRUE(comm["calls"][2]["waits"].empty());
}

}  // namespace
}  // namespace trefoil::test
