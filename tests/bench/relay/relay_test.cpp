// SPDX-License-Identifier: BSD-3-Clause
// The relay of emulated links: when frames leave, in which order, and for whom they are.
#include <gtest/gtest.h>
#include <net/if.h>

#include <array>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/relay/counts.hpp"
#include "bench/relay/frames.hpp"
#include "bench/relay/links.hpp"
#include "bench/relay/wire.hpp"
#include "topo/error.hpp"

namespace trefoil::relay {
namespace {

constexpr Time us = 1000;

TEST(Wire, delays_a_frame_and_lets_its_tail_follow_at_the_rate) {
    Wire wire(10e6, 100 * us);  // 1250 bytes take a millisecond
    const Wire::Passage passage = wire.enter(5 * us, 1250);
    EXPECT_EQ(105 * us, passage.head);
    EXPECT_EQ(1105 * us, passage.tail);
}

TEST(Wire, is_busy_for_a_frame_that_comes_too_early) {
    Wire wire(10e6, 100 * us);
    wire.enter(0, 1250);
    const Wire::Passage second = wire.enter(200 * us, 1250);
    EXPECT_EQ(1100 * us, second.head);
    EXPECT_EQ(2100 * us, second.tail);
    EXPECT_EQ(5100 * us, wire.enter(5000 * us, 1250).head) << "idle again";
}

TEST(Wire, without_a_rate_takes_its_delay_alone) {
    Wire wire(0, 7 * us);
    wire.enter(0, 9000);
    EXPECT_EQ(7 * us, wire.enter(0, 9000).tail);
}

/// The last bit of a message of several frames after some hops: each node passes heads on.
TEST(Wire, cuts_through) {
    std::array<Wire, 3> wires{Wire(10e6, 100 * us), Wire(10e6, 100 * us), Wire(10e6, 100 * us)};
    Time last = 0;
    for (int frame = 0; frame < 4; ++frame) {
        Time at = 0;
        for (Wire& wire : wires) {
            const Wire::Passage passage = wire.enter(at, 1250);
            at = passage.head;
            last = passage.tail;
        }
    }
    EXPECT_EQ(4 * 1000 * us + 3 * 100 * us, last);
}

TEST(Frames, leave_by_time_and_then_by_arrival) {
    Frames frames(4);
    const Slot first = frames.take(), second = frames.take(), third = frames.take();
    EXPECT_EQ(1U, frames.free());
    frames.schedule(first, 20);
    frames.schedule(second, 10);
    frames.schedule(third, 20);
    EXPECT_EQ(10, frames.next_due());
    EXPECT_EQ(second, frames.take_due());
    EXPECT_EQ(first, frames.take_due());
    EXPECT_EQ(third, frames.take_due());
    EXPECT_TRUE(frames.empty());
    frames.give_back(third);
    EXPECT_EQ(third, frames.take()) << "the one used last is still cached";
    EXPECT_NE(frames.bytes(first), frames.bytes(second));
}

std::array<std::byte, 42> packet_to(std::uint8_t third_byte, std::uint8_t type = 8) {
    std::array<std::byte, 42> frame{};
    frame[12] = std::byte{type};
    frame[30] = std::byte{10};
    frame[31] = std::byte{77};
    frame[32] = std::byte{third_byte};
    frame[33] = std::byte{1};
    return frame;
}

TEST(Links, tell_whom_a_frame_is_for) {
    const NodeAddress node{10, 77, 4};
    EXPECT_TRUE(ends_at(packet_to(4), node));
    EXPECT_FALSE(ends_at(packet_to(5), node));
    EXPECT_TRUE(ends_at(packet_to(5, 9), node)) << "no IPv4: nobody passes it on";
    const auto packet = packet_to(5);
    EXPECT_TRUE(ends_at(std::span(packet).first(20), node)) << "too short to tell";
}

std::string refusal(const std::string& text) {
    std::istringstream input(text);
    try {
        read_links(input, 0, 0);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(Links, are_read_or_refused_with_a_reason) {
    std::istringstream good("lo 10.77.0 lo 10.77.1\n");
    const Ways ways = read_links(good, 1e6, us);
    ASSERT_EQ(1U, ways.size());  // both ends are the one interface that every machine has
    EXPECT_EQ(static_cast<int>(if_nametoindex("lo")), ways.begin()->second.interface);
    EXPECT_EQ((NodeAddress{10, 77, 1}), ways.begin()->second.node);
    EXPECT_NE(std::string::npos, refusal("").find("no link"));
    EXPECT_NE(std::string::npos, refusal("lo 10.77.0 lo\n").find("is not a link"));
    EXPECT_NE(std::string::npos, refusal("lo 10.77.0 lo 10.77.1 x\n").find("is not a link"));
    EXPECT_NE(std::string::npos, refusal("lo 10.777.0 lo 10.77.1\n").find("is not a node"));
    EXPECT_NE(std::string::npos, refusal("lo 10.77.0 none 10.77.1\n").find("\"none\""));
}

TEST(Counts, tell_what_was_sent_and_how_late) {
    Counts counts(0);
    counts.sent(100, 500);
    counts.sent(100, 2500);
    counts.sent(60, 2999);
    counts.sent(60, -5);
    counts.sent(60, Time{1} << 40);
    counts.sent(60, 1278900);
    counts.lost(2);
    const auto told = nlohmann::json::parse(counts.json(3000000000));
    EXPECT_EQ(3, told["seconds"]);
    EXPECT_EQ(6, told["frames"]);
    EXPECT_EQ(440, told["bytes"]);
    EXPECT_EQ(2, told["lost"]);
    EXPECT_EQ(nlohmann::json::parse("[[0,2],[2,2],[1200,1],[20000,1]]"), told["late_us"]);
}

}  // namespace
}  // namespace trefoil::relay
