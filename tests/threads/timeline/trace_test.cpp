// SPDX-License-Identifier: BSD-3-Clause
// Rings that keep the last events, names of files, and files that are refused.
#include "threads/timeline/trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "topo/error.hpp"

namespace trefoil {
namespace {

class Directory {
  public:
    Directory() {
        std::string name = testing::TempDir() + "trefoil-trace-XXXXXX";
        path_ = mkdtemp(name.data());
    }
    ~Directory() { std::filesystem::remove_all(path_); }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    std::string file(const std::string& name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

TraceOptions options_for(const std::string& pattern) {
    TraceOptions options;
    options.pattern = pattern;
    options.events = 4;
    options.rank = 3;
    options.host = "a \"host\"";
    options.workers = {"port thread 0: +0", "port thread 1: -0"};
    return options;
}

TraceEvent reduction(std::int64_t begin) {
    TraceEvent event;
    event.kind = TraceEvent::Kind::reduce;
    event.begin = begin;
    event.end = begin + 1500;
    event.bytes = 65536;
    return event;
}

std::string text_of(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

TEST(TraceRing, KeepsTheLastEvents) {
    TraceRing ring(4);
    for (int i = 0; i < 3; ++i) {
        ring.add(reduction(i));
    }
    EXPECT_EQ(ring.kept(), 3U);
    EXPECT_EQ(ring.dropped(), 0U);
    for (int i = 3; i < 11; ++i) {
        ring.add(reduction(i));
    }
    EXPECT_EQ(ring.kept(), 4U);
    EXPECT_EQ(ring.dropped(), 7U);
    std::vector<std::int64_t> begins;
    for (std::size_t i = 0; i < ring.kept(); ++i) {
        begins.push_back(ring[i].begin);
    }
    std::sort(begins.begin(), begins.end());
    EXPECT_EQ(begins, (std::vector<std::int64_t>{7, 8, 9, 10}));
}

TEST(TraceFile, HasTheRankWhereThePatternSays) {
    EXPECT_EQ(trace_file("out.json", 3), "out.3.json");
    EXPECT_EQ(trace_file("/tmp/a.b/out", 3), "/tmp/a.b/out.3");
    EXPECT_EQ(trace_file("dir/.out", 3), "dir/.out.3");
    EXPECT_EQ(trace_file("rank%r/%r.json", 12), "rank12/12.json");
}

TEST(Trace, SaysWhichFileItCannotWrite) {
    try {
        const Trace trace(options_for("/nowhere/out.json"));
        FAIL() << "was accepted";
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_EQ(error.status(), Status::invalid_argument);
        for (const char* part : {"TREFOIL_TRACE", "/nowhere/out.3.json", "No such file"}) {
            EXPECT_NE(text.find(part), std::string::npos) << text;
        }
    }
}

TEST(Trace, SaysHowManyEventsItDropped) {
    const Directory directory;
    Trace trace(options_for(directory.file("out.json")));
    for (int i = 0; i < 6; ++i) {
        trace.ring(1).add(reduction(1000 * i));
    }
    EXPECT_EQ(trace.dropped(), 2U);
    ASSERT_TRUE(trace.write());
    const std::string text = text_of(trace.file());
    EXPECT_NE(text.find("2 earlier events were dropped"), std::string::npos) << text;
    EXPECT_NE(text.find("\"ts\":3.000,\"dur\":1.500,\"name\":\"reduce 64 KiB\""), std::string::npos)
        << text;
    EXPECT_NE(text.find("rank 3 on a \\\"host\\\""), std::string::npos) << text;
}

TEST(Trace, OfASecondCommunicatorHasAFileOfItsOwn) {
    const Directory directory;
    const Trace first(options_for(directory.file("out.json")));
    const Trace second(options_for(directory.file("out.json")));
    EXPECT_EQ(first.file(), directory.file("out.3.json"));
    EXPECT_EQ(second.file(), directory.file("out.3-2.json"));
}

TEST(Trace, SaysWhenTheFileIsNotComplete) {
    const Directory directory;
    std::filesystem::create_symlink("/dev/full", directory.file("full.3"));
    const Trace trace(options_for(directory.file("full")));
    EXPECT_FALSE(trace.write());
}

}  // namespace
}  // namespace trefoil
