// SPDX-License-Identifier: BSD-3-Clause
// Each scenario as it is, then with one ordering after the other made weaker.
#include "tests/weak_order/proof.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>

namespace trefoil::weak {

namespace {

std::vector<std::string> lines_of(std::string path) {
    // The compiler may have been given a path from the folder of the build.
    while (path.starts_with("../") || path.starts_with("./")) {
        path.erase(0, path.find('/') + 1);
    }
    std::ifstream file(path.starts_with("/") ? path : TREFOIL_SOURCES + ("/" + path));
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        const std::size_t start = line.find_first_not_of(' ');
        line.erase(0, start == std::string::npos ? line.size() : start);
        lines.push_back(line.substr(0, line.find("//")));
    }
    return lines;
}

std::string line_of(const Site& site) {
    const auto lines = lines_of(site.file);
    const auto number = static_cast<std::size_t>(site.line);
    return number > 0 && number <= lines.size() ? lines[number - 1] : std::string();
}

/// The lines in which a statement names an order that is more than relaxed: first and last.
std::vector<std::pair<int, int>> ordered_statements(const char* path) {
    std::vector<std::pair<int, int>> found;
    int first = 1, number = 0;
    bool ordered = false;
    for (const std::string& line : lines_of(path)) {
        ++number;
        for (const char* order : {"acquire", "release", "acq_rel", "seq_cst"}) {
            ordered |= line.find(std::string("memory_order_") + order) != std::string::npos;
        }
        const std::size_t end = line.find_last_not_of(' ');
        if (end == std::string::npos || std::string(";{}:").find(line[end]) != std::string::npos) {
            if (ordered) {
                found.emplace_back(first, number);
            }
            ordered = false;
            first = number + 1;
        }
    }
    return found;
}

bool excuses(const Excuse& excuse, const Site& site) {
    return std::string(site.file).ends_with(excuse.file) &&
           line_of(site).find(excuse.statement) != std::string::npos;
}

bool contains(const std::vector<Access>& accesses, const Access& access) {
    return std::any_of(accesses.begin(), accesses.end(), [&](const Access& known) {
        return known.site == access.site && known.kind == access.kind;
    });
}

/// Which scenario fails, and how; empty: none of those that come to the access.
std::string caught(const std::vector<Named>& scenarios,
                   const std::vector<std::vector<Access>>& reached, const Access& access,
                   std::memory_order order) {
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
        const Named& each = scenarios[i];
        if (!contains(reached[i], access)) {
            continue;
        }
        const Outcome outcome = explore(each.scenario, each.bounds, &access, order);
        if (!outcome.failure.empty()) {
            return std::string(each.name) + ": " + outcome.failure;
        }
    }
    return {};
}

}  // namespace

void prove(const std::vector<const char*>& files, const std::vector<Named>& scenarios,
           const std::vector<Excuse>& excused) {
    std::vector<Access> accesses;
    std::vector<std::vector<Access>> reached_by;
    for (const Named& each : scenarios) {
        const Outcome outcome = explore(each.scenario, each.bounds);
        EXPECT_EQ(outcome.failure, "") << each.name << ", run " << outcome.runs;
        EXPECT_TRUE(outcome.complete) << each.name << ": more than " << outcome.runs << " runs";
        std::printf("%-44s %8llu runs\n", each.name, static_cast<unsigned long long>(outcome.runs));
        for (const Access& access : outcome.accesses) {
            if (!contains(accesses, access)) {
                accesses.push_back(access);
            }
        }
        reached_by.push_back(outcome.accesses);
    }
    std::set<const Excuse*> used;
    for (const char* file : files) {
        const auto statements = ordered_statements(file);
        EXPECT_FALSE(statements.empty()) << file << " has no orders";
        for (const auto& [first, last] : statements) {
            const bool reached =
                std::any_of(accesses.begin(), accesses.end(),
                            [&, first = first, last = last](const Access& access) {
                                return std::string(access.site.file).ends_with(file) &&
                                       access.site.line >= first && access.site.line <= last;
                            });
            bool excused_here = false;
            for (const Excuse& excuse : excused) {
                for (int line = first; !reached && line <= last; ++line) {
                    if (excuses(excuse, {file, line})) {
                        used.insert(&excuse);
                        excused_here = true;
                    }
                }
            }
            EXPECT_TRUE(reached || excused_here)
                << "no scenario comes to " << file << ":" << first << " to " << last;
        }
    }
    for (const Access& access : accesses) {
        if (std::none_of(files.begin(), files.end(), [&](const char* file) {
                return std::string(access.site.file).ends_with(file);
            })) {
            continue;
        }
        for (const std::memory_order order : weaker(access)) {
            const std::string how = caught(scenarios, reached_by, access, order);
            const auto excuse =
                std::find_if(excused.begin(), excused.end(),
                             [&](const Excuse& each) { return excuses(each, access.site); });
            if (how.empty() && excuse != excused.end()) {
                used.insert(&*excuse);
                continue;
            }
            std::printf("%s, %s for %s: %s\n", access.site.text().c_str(), to_string(order).c_str(),
                        to_string(access.order).c_str(),
                        how.empty() ? "NOTHING FAILS" : how.c_str());
            EXPECT_FALSE(how.empty()) << access.site.text() << ": " << line_of(access.site);
        }
    }
    for (const Excuse& excuse : excused) {
        EXPECT_EQ(used.count(&excuse), 1U)
            << "not needed: " << excuse.file << ", " << excuse.statement;
    }
}

}  // namespace trefoil::weak
