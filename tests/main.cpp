// SPDX-License-Identifier: BSD-3-Clause
// Runs the tests of a room: all of them, or those that --only names by the files in which they
// stand and by patterns, such as --only=comm/setup/job_test.cpp,Memory/*. --gtest_filter chooses
// among these.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::string_view option = "--only=";

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

/// Whether `name` is what a pattern of --gtest_filter describes: `*` is any text, `?` any
/// character.
bool fits(const char* pattern, const char* name) {
    if (*pattern == '*') {
        return fits(pattern + 1, name) || (*name != '\0' && fits(pattern, name + 1));
    }
    if (*pattern == '\0' || *name == '\0') {
        return *pattern == *name;
    }
    return (*pattern == '?' || *pattern == *name) && fits(pattern + 1, name + 1);
}

bool fits_one_of(const std::vector<std::string>& patterns, const std::string& name) {
    for (const std::string& pattern : patterns) {
        if (fits(pattern.c_str(), name.c_str())) {
            return true;
        }
    }
    return false;
}

/// Whether the test stands in one of the files of `only`, or has a name that fits one of its
/// patterns.
bool is_named(const testing::TestInfo& test, const std::string& name,
              const std::vector<std::string>& only) {
    const std::string_view path = test.file();
    for (const std::string& one : only) {
        if (one.ends_with(".cpp") ? path.ends_with("/" + one) : fits(one.c_str(), name.c_str())) {
            return true;
        }
    }
    return false;
}

/// The filter for the tests of `only` that `filter` lets through; "" where there is none.
std::string filter_of(const std::vector<std::string>& only, const std::string& filter) {
    const std::size_t dash = filter.find('-');
    const std::vector<std::string> wanted =
        dash == 0 ? std::vector<std::string>{"*"} : split(filter.substr(0, dash), ':');
    const std::vector<std::string> unwanted = dash == std::string::npos
                                                  ? std::vector<std::string>{}
                                                  : split(filter.substr(dash + 1), ':');
    std::string names;
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); ++j) {
            const testing::TestInfo& test = *suite.GetTestInfo(j);
            const std::string name = std::string(suite.name()) + '.' + test.name();
            if (is_named(test, name, only) && fits_one_of(wanted, name) &&
                !fits_one_of(unwanted, name)) {
                names += (names.empty() ? "" : ":") + name;
            }
        }
    }
    return names;
}

}  // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    std::vector<std::string> only;
    for (int i = 1; i < argc; ++i) {
        if (!std::string_view(argv[i]).starts_with(option)) {
            std::fprintf(
                stderr,
                "%s takes --only=FILE_OR_PATTERN[,...] and GoogleTest's options, not '%s'\n",
                argv[0], argv[i]);
            return 2;
        }
        for (std::string& one : split(std::string_view(argv[i]).substr(option.size()), ',')) {
            only.push_back(std::move(one));
        }
    }
    if (!only.empty()) {
        const std::string names = filter_of(only, testing::GTEST_FLAG(filter));
        if (names.empty()) {
            std::fprintf(stderr, "no test of this program is named by --only and fits '%s'\n",
                         testing::GTEST_FLAG(filter).c_str());
            return 2;
        }
        testing::GTEST_FLAG(filter) = names;
    }
    return RUN_ALL_TESTS();
}
