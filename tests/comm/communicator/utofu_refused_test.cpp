// SPDX-License-Identifier: BSD-3-Clause
// Jobs where uTofu is missing, of another version, or has nothing left: who asked for it hears why
// on every rank, who did not gets another backend.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "comm/setup/configuration.hpp"
#include "process_job.hpp"

namespace trefoil::test {
namespace {

using Variables = std::map<std::string, std::string>;

std::string file_text(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// What two ranks say when their job cannot begin; "begun" of a rank whose job could.
std::vector<std::string> words_of_job(const char* backend, const Variables& everywhere,
                                      const Variables& on_rank_1 = {}) {
    const std::string name = testing::TempDir() + "utofu_refused." + std::to_string(getpid()) + ".";
    const Job job = start(
        2, "2", backend, [](int, trefoil_comm_t) { return 0; }, everywhere,
        [&](int rank) {
            for (const auto& [variable, value] : rank == 1 ? on_rank_1 : Variables{}) {
                setenv(variable.c_str(), value.c_str(), 1);
            }
            // Unbuffered as before, as the ranks end by _exit().
            return freopen((name + std::to_string(rank)).c_str(), "w", stderr) != nullptr &&
                   setvbuf(stderr, nullptr, _IONBF, 0) == 0;
        });
    const StoreServer store;
    job.meet_at(store.port());
    const auto deadline = Clock::now() + std::chrono::seconds(60);
    std::vector<std::string> all;
    for (std::size_t rank = 0; rank < job.pids.size(); ++rank) {
        const int code = finish(job.pids[rank], deadline);
        const std::string file = name + std::to_string(rank);
        all.push_back(code == 0    ? "begun"
                      : code == 90 ? file_text(file)
                                   : "ended with code " + std::to_string(code));
        unlink(file.c_str());
    }
    return all;
}

void expect_words(const std::vector<std::string>& texts, const std::vector<std::string>& words) {
    for (const std::string& text : texts) {
        for (const std::string& word : words) {
            EXPECT_NE(text.find(word), std::string::npos) << "no \"" << word << "\" in: " << text;
        }
    }
}

/// What a job of two hosts takes that asks for nothing, on a machine with these settings.
std::string taken_by_itself(const Variables& settings) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
        for (const auto& [variable, value] : settings) {
            setenv(variable.c_str(), value.c_str(), 1);
        }
        std::vector<RankProcess> processes(2);
        processes[0].host = "a";
        processes[1].host = "b";
        Settings open;
        complete(open, trefoil::Job(0, processes), Torus({2}));
        const auto written = write(ends[1], open.backend.data(), open.backend.size());
        _exit(written < 0 ? 1 : 0);
    }
    close(ends[1]);
    std::array<char, 100> name{};
    const ssize_t bytes = read(ends[0], name.data(), name.size());
    close(ends[0]);
    EXPECT_EQ(finish(child, Clock::now() + std::chrono::seconds(20)), 0);
    return {name.data(), static_cast<std::size_t>(bytes > 0 ? bytes : 0)};
}

const Variables another_version{{"EMULATED_TOFU_PIGGYBACK", "16"}};
const Variables no_interface{{"EMULATED_TOFU_INTERFACES", "0"}};

TEST(UtofuRefused, WhoAsksForItHearsWhyOnEveryRank) {
    expect_words(words_of_job("utofu", {}), {"begun"});
    expect_words(words_of_job("utofu", another_version),
                 {"16 bytes within a descriptor", "of another version", "TREFOIL_BACKEND"});
    expect_words(words_of_job("utofu", no_interface), {"no network interface", "compute node"});
    expect_words(words_of_job("utofu", {{"EMULATED_TOFU_VCQS", "0"}}),
                 {"no virtual control queue is left", "FULL", "TREFOIL_BACKEND"});
    expect_words(words_of_job("utofu", {{"EMULATED_TOFU_REGISTRATIONS", "1"}}),
                 {"register", "OUT_OF_RESOURCE"});
}

TEST(UtofuRefused, OneRankThatCannotIsNamedByTheOthers) {
    const auto texts = words_of_job("utofu", {}, another_version);
    expect_words({texts[0]}, {"rank 1", "of another version"});
    expect_words({texts[1]}, {"of another version"});
}

TEST(UtofuRefused, WhoAsksForNothingGetsAnotherBackend) {
    EXPECT_EQ(taken_by_itself({}), "utofu");
    for (const Variables& lacking : {another_version, no_interface}) {
        const std::string taken = taken_by_itself(lacking);
        EXPECT_NE(taken, "utofu");
        EXPECT_NE(taken, "memory");  // which cannot leave a host
        EXPECT_NE(taken, "");
    }
}

// The library is not even loaded, although nobody says what the torus is.
TEST(UtofuRefused, JobsOnOneHostDoNotAskForIt) {
    for (const char* backend : {"", "utofu"}) {
        const Job job = start(2, "", backend, [&](int, trefoil_comm_t) {
            const bool loaded =
                file_text("/proc/self/maps").find("libtofucom") != std::string::npos;
            return loaded == (*backend != '\0') ? 0 : 1;
        });
        const StoreServer store;
        job.meet_at(store.port());
        for (const pid_t pid : job.pids) {
            EXPECT_EQ(finish(pid, Clock::now() + std::chrono::seconds(30)), 0) << backend;
        }
    }
}

// Run where there is no emulation.
TEST(UtofuAbsentJob, SaysWhyAndTakesAnotherBackendByItself) {
    expect_words(words_of_job("utofu", {}),
                 {"cannot load the library", "libtofucom.so", "TREFOIL_BACKEND"});
    EXPECT_NE(taken_by_itself({}), "utofu");
}

}  // namespace
}  // namespace trefoil::test
