// SPDX-License-Identifier: BSD-3-Clause
// Host files: what is read, who gets which line, and what is refused with which words.
#include "topo/host_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "topo/error.hpp"

namespace trefoil {
namespace {

using Places = std::vector<std::vector<Rank>>;

void expect_refused(const std::string& text, const std::vector<std::string>& hosts,
                    const std::string& words) {
    try {
        coordinates_by_host(parse_host_file(text, "F"), hosts);
        ADD_FAILURE() << text << " was accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::invalid_argument);
        EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
}

TEST(HostFile, ReadsCommentsBlankLinesAndSizes) {
    const HostFile file =
        parse_host_file("# head\n\n torus 2x3 # sizes\na 0 1\n\tb  1 2 # x\n", "F");
    EXPECT_EQ(file.torus, Torus({2, 3}));
    EXPECT_EQ(parse_host_file("torus 1x2h\na 0 0\na 0 1\n", "nodes").torus, Torus::parse("1x2h"));
    ASSERT_EQ(file.lines.size(), 2U);
    EXPECT_EQ(file.lines[1].host, "b");
    EXPECT_EQ(file.lines[1].number, 5);
    EXPECT_EQ(file.lines[1].coordinates, (std::vector<Rank>{1, 2}));
}

TEST(HostFile, LinesOfAHostGoToItsRanksInOrder) {
    const HostFile file = parse_host_file("a 0 0\nb 0 1\na 1 0\nb 1 1\n", "F");
    EXPECT_EQ(coordinates_by_host(file, {"b", "b", "a", "a"}),
              (Places{{0, 1}, {1, 1}, {0, 0}, {1, 0}}));
}

TEST(HostFile, ShortNamesAndLocalhostMatch) {
    const HostFile file = parse_host_file("n1 0\nn2.example.org 1\n", "F");
    EXPECT_EQ(coordinates_by_host(file, {"n2", "n1.example.org"}), (Places{{1}, {0}}));
    expect_refused("n1.a 0\n", {"n1.b"}, "host n1.b");
    EXPECT_EQ(coordinates_by_host(parse_host_file("localhost 0\n", "F"), {"n7"}), (Places{{0}}));
}

TEST(HostFile, RefusesWithFileLineAndMend) {
    expect_refused("a 0 0\na 1\n", {"a", "a"},
                   "host file F, line 2: there are 1 coordinates, not 2");
    expect_refused("torus 2x2\na 1\n", {"a"}, "line 2");
    expect_refused("a 0 -1\n", {"a"}, "\"-1\" is not a coordinate");
    expect_refused("a x\n", {"a"}, "\"x\" is not a coordinate");
    expect_refused("a\n", {"a"}, "0 coordinates, not 1");
    expect_refused("torus 2y\na 0\n", {"a"}, "2y");
    expect_refused("# nothing\n", {"a"}, "no line places a rank");
    expect_refused("a 0\n", {"a", "a"}, "2 ranks of the job run on host a, but 1 lines");
    expect_refused("a 0\n", {"b"}, "1 ranks of the job run on host b, but 0 lines");
    expect_refused("a 0\nb 1\n", {"a"}, "line 2: no rank of the job runs on host b");
}

TEST(HostFile, AFileThatIsNotThereIsNamed) {
    try {
        read_host_file("/no/such/file");
        FAIL() << "it was read";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::not_found);
        EXPECT_NE(std::string(error.what()).find("/no/such/file"), std::string::npos);
    }
}

TEST(HostFile, WhatIsNoRegularFileIsNotWaitedFor) {
    const auto refused = [](const std::string& path, const std::string& words) {
        try {
            read_host_file(path);
            ADD_FAILURE() << path << " was read";
        } catch (const Error& error) {
            EXPECT_EQ(error.status(), Status::invalid_argument);
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        }
    };
    const std::string path = testing::TempDir() + "hosts" + std::to_string(getpid());
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    refused(path, "host file " + path + " is not a regular file");
    ASSERT_EQ(unlink(path.c_str()), 0);
    refused("/dev/zero", "not a regular file");
    refused("/", "not a regular file");
    ASSERT_TRUE(std::ofstream(path) << "a 0\n");
    EXPECT_EQ(read_host_file(path).lines.size(), 1U);
    ASSERT_EQ(truncate(path.c_str(), (off_t{16} << 20) + 1), 0);
    refused(path, "16 MiB");
    ASSERT_EQ(unlink(path.c_str()), 0);
}

}  // namespace
}  // namespace trefoil
