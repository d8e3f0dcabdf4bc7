// SPDX-License-Identifier: BSD-3-Clause
// Joins traces: arrays with one event in a line.
#include "bench/perf/trace.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "threads/timeline/trace.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

/// Appends the events of `file`; false when it is not a whole trace.
bool append(const std::string& file, std::ofstream& all, bool& first) {
    std::ifstream in(file);
    std::string line;
    if (!std::getline(in, line) || line != "[") {
        return false;
    }
    while (std::getline(in, line) && line != "]") {
        if (line.ends_with(',')) {
            line.pop_back();
        }
        all << (first ? "[\n" : ",\n") << line;
        first = false;
    }
    return line == "]";
}

}  // namespace

void begin_traces(const std::string& file) {
    setenv("TREFOIL_TRACE", file.c_str(), 1);
}

void end_traces() {
    unsetenv("TREFOIL_TRACE");
}

void join_traces(const std::string& file, Rank ranks) {
    std::ofstream all(file);
    std::vector<std::string> joined;
    bool first = true;
    for (Rank rank = 0; rank < ranks; ++rank) {
        const std::string one = trace_file(file, rank);
        if (append(one, all, first)) {
            joined.push_back(one);
        } else {
            fmt::print(stderr, "trefoil: {} lacks rank {}: {} is not here, or not complete\n", file,
                       rank, one);
        }
    }
    all << (first ? "[" : "") << "\n]\n";
    if (!all.flush()) {
        throw Error(Status::system_error,
                    "cannot write --trace " + file + "; the ranks' files are left beside it");
    }
    for (const std::string& one : joined) {
        std::filesystem::remove(one);
    }
}

}  // namespace trefoil::tool
