// SPDX-License-Identifier: BSD-3-Clause
// Networks as JSON say what their text says; what is refused, and where.
#include "algorithms/json/network.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "topo/error.hpp"

namespace trefoil {
namespace {

std::string there_and_back(const std::string& text) {
    return read_network(network_json(Fabric::parse(text)).dump()).name();
}

TEST(NetworkJson, SaysWhatTheTextSays) {
    for (const char* text :
         {"1", "9", "3x3", "4mx4", "1x2mx3", "4x4:node=5", "4x4:node=5=0.5", "3x3:cable=+0@4",
          "3x3:link=-1@4", "3x3:cable=+0@4=0.125", "4x4x8:twist=0=2+4:twist=1=2+4",
          "2x2:cable=+0@0:cable=+0@2", "4x8:twist=0=1+4:cable=+0@24=0.001",
          "4x4:node=0:node=5=0.5:cable=+1@9:link=+0@9=0.25"}) {
        EXPECT_EQ(there_and_back(text), Fabric::parse(text).name());
    }
}

/// A network with a bit of everything, as often as not above what its nodes' rates allow.
Fabric drawn(unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](int end) {
        return static_cast<int>(random() % static_cast<unsigned>(end));
    };
    std::vector<Rank> sizes;
    std::vector<bool> lines;
    for (int j = below(3); j >= 0; --j) {
        sizes.push_back(1 + below(5));
        lines.push_back(below(4) == 0);
    }
    Fabric fabric{Torus(sizes, lines)};
    const Torus& torus = fabric.torus();
    for (int j = 1; j < torus.dimensions(); ++j) {
        if (!torus.is_line(0) && !torus.is_line(j) && torus.size(0) > 1 && below(3) == 0) {
            fabric.set_twist(0, j, below(torus.size(j)));
        }
    }
    const auto rate = [&] { return below(3) == 0 ? 0 : below(Fabric::whole + 1); };
    for (int i = below(4); i > 0; --i) {
        fabric.set_node(below(torus.ranks()), below(Fabric::whole) + 1);
    }
    if (torus.ranks() > 1) {
        fabric.set_node(below(torus.ranks()), rate());
    }
    for (int i = below(8); i > 0; --i) {
        const Link link{below(torus.ranks()), Port{below(torus.ports())}};
        if (fabric.has_link(link)) {
            below(2) == 0 ? fabric.set_cable(link, rate()) : fabric.set_link(link, rate());
        }
    }
    return fabric;
}

TEST(NetworkJson, SaysWhatADrawnNetworkIs) {
    for (unsigned seed = 0; seed < 2000; ++seed) {
        const Fabric fabric = drawn(seed);
        const std::string text = network_json(fabric).dump();
        ASSERT_EQ(Fabric::parse(fabric.name()).name(), fabric.name()) << "seed " << seed;
        ASSERT_EQ(read_network(text).name(), fabric.name()) << "seed " << seed << ": " << text;
        ASSERT_EQ(network_json(read_network(text)).dump(), text) << "seed " << seed;
    }
}

TEST(NetworkJson, HasThisForm) {
    EXPECT_EQ(network_json(Fabric::parse("4mx4:node=5:cable=+1@0=0.5:link=-1@9")).dump(),
              R"({"dimensions":[{"size":4,"closes":false},{"size":4}],)"
              R"("nodes":[{"place":5,"rate":0}],)"
              R"("cables":[{"place":0,"direction":"+1","rate":0.5}],)"
              R"("links":[{"place":9,"direction":"-1","rate":0}]})");
    EXPECT_EQ(read_network(R"({"links": [{"direction": "+0", "place": 0, "rate": 0},
                                         {"direction": "-0", "place": 3, "rate": 0}],
                               "dimensions": [{"size": 3, "closes": true}, {"size": 3}]})")
                  .name(),
              "3x3:cable=+0@0");
    EXPECT_EQ(read_network(R"({"dimensions": [{"size": 3}], "nodes": [{"place": 1, "rate": 1.0}]})")
                  .name(),
              "3");
}

TEST(NetworkJson, IsRefusedWithThePlace) {
    const auto with = [](const std::string& more) {
        return R"({"dimensions": [{"size": 3}, {"size": 4}])" + more + "}";
    };
    const std::vector<std::pair<std::string, std::string>> cases{
        {"", "not JSON"},
        {"{\n\"dimensions\": [}", "line 2"},
        {"[]", "is not an object"},
        {"{}", "\"dimensions\" is missing"},
        {R"({"dimensions": []})", "dimensions: "},
        {R"({"dimensions": {"size": 3}})", "\"dimensions\" is not a list"},
        {R"({"dimensions": [3]})", "dimensions[0]: is not an object"},
        {R"({"dimensions": [{"size": 0}]})", "dimensions[0]: \"size\" is 0"},
        {R"({"dimensions": [{"size": 65536}, {"size": 65536}]})", "dimensions: "},
        {R"({"dimensions": [{"size": 65536}, {"size": 257}]})", "dimensions: the torus 65536x257"},
        {R"({"dimensions": [{"size": 3, "closes": "no"}]})", "dimensions[0]: \"closes\""},
        {R"({"dimensions": [{"size": 3, "twist": 1}]})", "dimensions[0].twist: "},
        {R"({"dimensions": [{"size": 3}, {"size": 4, "twist": {"along": 1, "shift": 1}}]})",
         "dimensions[1].twist: a twist of"},
        {with(R"(, "node": [])"), "did you mean \"nodes\""},
        {with(R"(, "nodes": [{"place": 5}])"), "nodes[0]: \"rate\" is missing"},
        {with(R"(, "nodes": [{"place": 1, "rate": 0}, {"place": 12, "rate": 0}])"),
         "nodes[1]: there is no node 12"},
        {with(R"(, "nodes": [{"place": 1, "rate": 0}, {"place": 1, "rate": 0.5}])"),
         "nodes[1]: this node is described before"},
        {with(R"(, "nodes": [{"place": 1, "rate": 1.5}])"), "nodes[0]: \"rate\" is 1.5"},
        {with(R"(, "nodes": [{"place": 1, "rate": 0.1234}])"), "three digits"},
        {with(R"(, "nodes": [{"place": 1, "rate": "0.5"}])"), "nodes[0]: \"rate\""},
        {with(R"(, "cables": [{"place": 1, "direction": "+2", "rate": 0}])"),
         "cables[0]: \"direction\" is \"+2\""},
        {with(R"(, "links": [{"place": 12, "direction": "+1", "rate": 0}])"), "links[0]: +1@12"},
        {with(R"(, "cables": [{"place": 0, "direction": "+0", "rate": 0},
                              {"place": 4, "direction": "-0", "rate": 0.5}])"),
         "cables[1]: this link is described before"},
        {with(R"(, "cables": [{"place": 0, "direction": "+0", "rate": 0}],
                   "links": [{"place": 4, "direction": "-0", "rate": 0.5}])"),
         "links[0]: this link is described before"},
    };
    for (const auto& [text, part] : cases) {
        try {
            read_network(text);
            ADD_FAILURE() << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.status(), Status::invalid_argument);
            EXPECT_NE(std::string(error.what()).find("the network cannot be used"),
                      std::string::npos)
                << error.what();
            EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
                << part << " is not in: " << error.what();
        }
    }
}

}  // namespace
}  // namespace trefoil
