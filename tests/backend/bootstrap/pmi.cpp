// SPDX-License-Identifier: BSD-3-Clause
// PMI-1 against a process manager of our own: pieces, limits, refusals, silence.
#include "backend/bootstrap/pmi.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "backend/bootstrap/pmi_wire.hpp"
#include "tests/backend/bootstrap/launcher_fake_pmi.hpp"
#include "topo/error.hpp"

namespace trefoil::pmi {
namespace {

using test::FakeProcessManager;
using Habits = FakeProcessManager::Habits;
using Clock = LauncherLink::Clock;

Clock::time_point soon(int milliseconds = 30000) {
    return Clock::now() + std::chrono::milliseconds(milliseconds);
}

Error error_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error;
    }
    return {Status::success, ""};
}

bool says(const Error& error, const std::string& text) {
    return std::string(error.what()).find(text) != std::string::npos;
}

/// body(link, rank) on a thread for every rank.
void on_ranks(const FakeProcessManager& manager, Rank ranks,
              const std::function<void(LauncherLink&, Rank)>& body) {
    std::vector<std::thread> threads;
    for (Rank r = 0; r < ranks; ++r) {
        threads.emplace_back([&, r] {
            const auto link = make_pmi_link(manager.descriptor(r), r, ranks, soon());
            body(*link, r);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

std::string bytes_of_all_kinds(std::size_t length, int seed) {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) {
        text.push_back(static_cast<char>(i * 7 + static_cast<std::size_t>(seed)));
    }
    return text;
}

TEST(PmiWire, ReadsWords) {
    const pmi::Words words = pmi::parse_line("cmd=get_result rc=0 msg=success value=a=b stray ");
    EXPECT_EQ(
        words,
        (pmi::Words{{"cmd", "get_result"}, {"rc", "0"}, {"msg", "success"}, {"value", "a=b"}}));
    EXPECT_TRUE(pmi::parse_line("").empty());
    EXPECT_EQ(pmi::number_in({{"n", "64"}}, "n"), 64U);
    for (const char* bad : {"0", "-1", "", "6x", "99999999999999999999999"}) {
        EXPECT_EQ(pmi::number_in({{"n", bad}}, "n"), std::nullopt) << bad;
    }
    EXPECT_EQ(pmi::number_in({}, "n"), std::nullopt);
}

TEST(PmiWire, HexadecimalGoesThereAndBack) {
    const std::string all = bytes_of_all_kinds(256, 0);
    EXPECT_EQ(pmi::from_hex(pmi::to_hex(all)), all);
    EXPECT_EQ(pmi::to_hex(std::string("\x00\xff\x1a", 3)), "00ff1a");
    for (const char* bad : {"0", "0g", "0X", "AB"}) {
        EXPECT_EQ(pmi::from_hex(bad), std::nullopt) << bad;
    }
}

TEST(PmiWire, CutsBlobsIntoValues) {
    for (const std::size_t limit : {32U, 33U, 100U, 1000U}) {
        for (const std::size_t length : {0U, 1U, 5U, 6U, 16U, 500U, 4000U}) {
            const std::string blob = bytes_of_all_kinds(length, 3);
            const auto values = pmi::to_values(blob, limit);
            ASSERT_EQ(pmi::announced_values(values[0]), values.size());
            std::string digits(pmi::digits_of(values[0]));
            for (std::size_t i = 0; i < values.size(); ++i) {
                EXPECT_LE(values[i].size(), limit);
                EXPECT_FALSE(values[i].empty());
                digits += i == 0 ? "" : values[i];
            }
            EXPECT_EQ(pmi::from_hex(digits), blob) << length << " bytes by " << limit;
        }
    }
    for (const char* bad : {"", "abc", "0:ab", "x:ab", ":"}) {
        EXPECT_EQ(pmi::announced_values(bad), std::nullopt) << bad;
    }
}

TEST(Pmi, GathersBlobsOfAnyLengthAndBytes) {
    constexpr Rank ranks = 4;
    for (const bool in_small_pieces : {false, true}) {
        Habits habits;
        habits.in_small_pieces = in_small_pieces;
        const FakeProcessManager manager(ranks, habits);
        on_ranks(manager, ranks, [&](LauncherLink& link, Rank rank) {
            EXPECT_EQ(link.rank(), rank);
            EXPECT_EQ(link.ranks(), ranks);
            for (const std::size_t unit : {0U, 1U, 300U, 5000U}) {
                std::vector<std::string> blobs;
                for (Rank r = 0; r < ranks; ++r) {
                    blobs.push_back(bytes_of_all_kinds(unit * static_cast<std::size_t>(r), r));
                }
                EXPECT_EQ(link.gather(blobs[rank], soon()), blobs) << unit;
            }
        });
        EXPECT_EQ(manager.farewells(), ranks);
        EXPECT_LE(manager.longest_line(), 1024U);
    }
}

TEST(Pmi, KeepsToShortValues) {
    Habits habits;
    habits.value_limit = 40;
    const FakeProcessManager manager(2, habits);
    on_ranks(manager, 2, [](LauncherLink& link, Rank rank) {
        const std::string mine = bytes_of_all_kinds(200, rank);
        EXPECT_EQ(link.gather(mine, soon()).at(rank), mine);
    });
    EXPECT_GE(manager.puts(), 2 * 400U / 39U);
}

TEST(Pmi, ReportsALateRank) {
    const FakeProcessManager manager(2, {});
    const auto link = make_pmi_link(manager.descriptor(0), 0, 2, soon());
    const Error error = error_of([&] { link->gather("here", soon(100)); });
    EXPECT_EQ(error.status(), Status::timeout);
    EXPECT_TRUE(says(error, "barrier_in") && says(error, "TREFOIL_TIMEOUT")) << error.what();
    close(manager.descriptor(1));
}

TEST(Pmi, ReportsAManagerThatEnds) {
    Habits habits;
    habits.ends_at_barrier = true;
    const FakeProcessManager manager(1, habits);
    const auto link = make_pmi_link(manager.descriptor(0), 0, 1, soon());
    const Error error = error_of([&] { link->gather("here", soon()); });
    EXPECT_EQ(error.status(), Status::system_error);
    EXPECT_TRUE(says(error, "closed the connection")) << error.what();
    EXPECT_EQ(error_of([&] { link->gather("again", soon()); }).status(), Status::system_error);
}

TEST(Pmi, RefusesNonsense) {
    const auto greeting = [](const Habits& habits) {
        const FakeProcessManager manager(1, habits);
        return error_of([&] { make_pmi_link(manager.descriptor(0), 0, 1, soon()); });
    };
    Habits other_version;
    other_version.version = "2";
    EXPECT_TRUE(says(greeting(other_version), "version 2"));
    Habits other_answer;
    other_answer.instead_of_maxes = "HTTP/1.1 400 Bad Request";
    EXPECT_TRUE(says(greeting(other_answer), "HTTP/1.1"));
    Habits refusal;
    refusal.instead_of_maxes = "cmd=maxes rc=-1";
    EXPECT_TRUE(says(greeting(refusal), "refused"));
    Habits short_values;
    short_values.value_limit = 10;
    EXPECT_TRUE(says(greeting(short_values), "too short"));
    EXPECT_EQ(greeting({}).status(), Status::success);  // so it was the habits
}

TEST(Pmi, RefusesSpoiledValuesAndShortKeys) {
    Habits spoiling;
    spoiling.spoils_values = true;
    const FakeProcessManager manager(2, spoiling);
    on_ranks(manager, 2, [](LauncherLink& link, Rank) {
        const Error error = error_of([&] { link.gather("mine", soon()); });
        EXPECT_EQ(error.status(), Status::mismatch) << error.what();
    });
    Habits short_keys;
    short_keys.key_limit = 8;
    const FakeProcessManager strict(1, short_keys);
    const auto link = make_pmi_link(strict.descriptor(0), 0, 1, soon());
    EXPECT_TRUE(says(error_of([&] { link->gather("mine", soon()); }), "too short"));
}

TEST(Pmi, RefusesADescriptorThatIsNoSocket) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const Error error = error_of([&] { make_pmi_link(pipe_ends[1], 0, 1, soon()); });
    EXPECT_EQ(error.status(), Status::system_error);
    EXPECT_TRUE(says(error, "PMI_FD")) << error.what();
    close(pipe_ends[0]);
}

}  // namespace
}  // namespace trefoil::pmi
