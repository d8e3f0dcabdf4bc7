// SPDX-License-Identifier: BSD-3-Clause
// The registry: look-up, defaults, what is absent, and transports that a program adds.
#include "backend/registry/transports.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "backend/registry/libraries.hpp"

namespace trefoil {
namespace {

std::string refusal(const std::function<void()>& call, Status expected) {
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), expected) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "was not refused";
    return {};
}

bool contains(const std::string& text, std::string_view piece) {
    return text.find(piece) != std::string::npos;
}

Transport named(std::string_view name) {
    Transport transport;
    transport.name = name;
    return transport;
}

TEST(Transports, AreCompleteOrSayWhyTheyAreAbsent) {
    for (const Transport& each : transports()) {
        EXPECT_FALSE(each.name.empty());
        if (each.built()) {
            EXPECT_FALSE(each.summary.empty()) << each.name;
            EXPECT_TRUE(each.open && each.providers && each.nics) << each.name;
        } else {
            EXPECT_FALSE(each.absent_library.empty()) << each.name;
            const std::string text = refusal([&] { find_transport(each.name); }, Status::not_found);
            EXPECT_TRUE(contains(text, "is not in this build: " + each.absence)) << text;
        }
    }
}

TEST(Transports, AreAllNamedWhenAnotherOneIsAskedFor) {
    const std::string text = refusal([] { find_transport("carrier-pigeon"); }, Status::not_found);
    EXPECT_TRUE(contains(text, "carrier-pigeon")) << text;
    for (const Transport& each : transports()) {
        EXPECT_TRUE(contains(text, each.name)) << text;
    }
}

TEST(Transports, OfAJobThatAsksForNothingReachAllItsRanks) {
    EXPECT_EQ(&default_transport(true), &transports().front());
    EXPECT_FALSE(default_transport(false).one_host_only);
    EXPECT_EQ(transport_for("", true).name, default_transport(true).name);
    EXPECT_EQ(transport_for("memory", false).name, "memory");
}

TEST(Transports, OfAProgramJoinThoseOfTheBuild) {
    const Transport& before = transports().front();
    register_transport(named("test-joins"));
    EXPECT_EQ(find_transport("test-joins").name, "test-joins");
    EXPECT_EQ(&before, &transports().front()) << "references stay valid";
    const std::string text =
        refusal([] { register_transport(named("test-joins")); }, Status::invalid_argument);
    EXPECT_TRUE(contains(text, "test-joins")) << text;
}

TEST(Transports, ThatAreAbsentKeepTheirPlaceAsADefault) {
    // All ranks must take the same, whatever each one's build has: nobody steps in.
    Transport absent = named("test-absent");
    absent.absence = "its library was not found";
    absent.absent_library = "libtest";
    register_transport(absent);
    const std::string text = refusal([] { find_transport("test-absent"); }, Status::not_found);
    EXPECT_TRUE(contains(text, "not in this build: its library was not found")) << text;
    bool told = false;
    for (const LibraryInfo& library : libraries()) {
        told |= library.name == "libtest" && library.version.empty() &&
                library.note == "its library was not found";
    }
    EXPECT_TRUE(told);
}

}  // namespace
}  // namespace trefoil
