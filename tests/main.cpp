// SPDX-License-Identifier: BSD-3-Clause
// Runs the tests of a room: all of them, or those that --only names by the files in which they
// stand and by patterns, such as --only=comm/setup/job_test.cpp,Memory/*. --gtest_filter chooses
// among these.
#include <gtest/gtest.h>

#include <algorithm>
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

/// Those of `only` by name; all if it is empty.
std::vector<std::string> names_of(const std::vector<std::string>& only) {
    std::vector<std::string> names;
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); ++j) {
            const testing::TestInfo& test = *suite.GetTestInfo(j);
            std::string name = std::string(suite.name()) + '.' + test.name();
            if (only.empty() || is_named(test, name, only)) {
                names.push_back(std::move(name));
            }
        }
    }
    return names;
}

/// --gtest_filter's patterns: what is wanted, and what is not.
struct Filter {
    std::vector<std::string> wanted, unwanted;

    explicit Filter(const std::string& text) {
        const std::size_t dash = text.find('-');
        wanted = dash == 0 ? std::vector<std::string>{"*"} : split(text.substr(0, dash), ':');
        if (dash != std::string::npos) {
            unwanted = split(text.substr(dash + 1), ':');
        }
    }

    /// A pattern that fits none of `names`, or "": a mistake that would leave out a test, or leave
    /// it in, without a word.
    std::string idle_pattern(const std::vector<std::string>& names) const {
        for (const auto* const patterns : {&wanted, &unwanted}) {
            for (const std::string& pattern : *patterns) {
                if (std::none_of(names.begin(), names.end(), [&](const std::string& name) {
                        return fits(pattern.c_str(), name.c_str());
                    })) {
                    return pattern;
                }
            }
        }
        return "";
    }
};

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
    const std::vector<std::string> names = names_of(only);
    const Filter filter(testing::GTEST_FLAG(filter));
    if (const std::string pattern = filter.idle_pattern(names); !pattern.empty()) {
        std::fprintf(stderr, "no test of %s%s fits '%s', a pattern of '%s'\n", argv[0],
                     only.empty() ? "" : " that --only names", pattern.c_str(),
                     testing::GTEST_FLAG(filter).c_str());
        return 2;
    }
    std::string chosen;
    for (const std::string& name : names) {
        if (fits_one_of(filter.wanted, name) && !fits_one_of(filter.unwanted, name)) {
            chosen += (chosen.empty() ? "" : ":") + name;
        }
    }
    if (chosen.empty()) {
        std::fprintf(stderr, "no test of this program is named by --only and fits '%s'\n",
                     testing::GTEST_FLAG(filter).c_str());
        return 2;
    }
    testing::GTEST_FLAG(filter) = chosen;
    return RUN_ALL_TESTS();
}
