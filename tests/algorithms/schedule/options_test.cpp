// SPDX-License-Identifier: BSD-3-Clause
// The table of options: every value is printed as it is read, and refused where it is not
// understood.
#include "algorithms/schedule/options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace trefoil {
namespace {

std::string modifier(const Option& option, const OptionValue& value) {
    return std::string(value.text) + (option.is_number() ? "8" : "");
}

TEST(Options, ArePrintedAsTheyAreRead) {
    std::set<std::string> seen;
    for (const Option& option : option_table()) {
        for (const OptionValue& value : option.values) {
            const std::string text = modifier(option, value);
            EXPECT_TRUE(seen.insert(text).second) << text << " means two things";
            BuildOptions options;
            EXPECT_EQ(add_modifier(options, text), "");
            EXPECT_NE(option.get(options), 0) << text;
            EXPECT_EQ(modifiers_text(options), ":" + text);
        }
    }
    EXPECT_EQ(modifiers_text({}), "");
}

TEST(Options, AddUp) {
    BuildOptions options;
    EXPECT_EQ(add_modifier(options, "signals"), "");
    EXPECT_EQ(add_modifier(options, "radix-4"), "");
    EXPECT_EQ(add_modifier(options, "class"), "");
    const BuildOptions expected{
        .radix = 4, .rotation = Rotation::whole, .sync = PhaseSync::signals};
    EXPECT_EQ(options, expected);
    EXPECT_EQ(modifiers_text(options), ":radix-4:class:signals");
}

TEST(Options, AreUnderstoodByThoseWithTheAbilityAlone) {
    for (const Option& option : option_table()) {
        for (const OptionValue& value : option.values) {
            BuildOptions options;
            const std::string text = modifier(option, value);
            ASSERT_EQ(add_modifier(options, text), "");
            const std::string reason = not_understood(options, {});
            EXPECT_EQ(reason.find(std::string(value.lacking) + "; leave " + text + " out, or take"),
                      0U)
                << reason;
            Abilities able;
            able.*value.ability = true;
            EXPECT_EQ(not_understood(options, able), "");
            const std::vector<std::string> words = modifiers(able);
            EXPECT_NE(std::find(words.begin(), words.end(), text), words.end()) << text;
        }
    }
    EXPECT_EQ(not_understood({}, {}), "");
    EXPECT_EQ(not_understood({.sync = PhaseSync::signals}, {.barriers = true}),
              "has no signals between its phases; leave signals out, or take barrier");
}

TEST(Options, NumbersHaveARange) {
    for (const char* wrong :
         {"radix-1", "radix-", "radix-x", "radix-8x", "radix--2", "radix-99999999999999999999",
          "ports-0", "ports-3000000000", "pieces-0", "pieces-65537"}) {
        BuildOptions options;
        EXPECT_NE(add_modifier(options, wrong).find("needs a whole number of at least"),
                  std::string::npos)
            << wrong;
        EXPECT_EQ(options, BuildOptions{}) << wrong;
    }
    // Set without a text.
    EXPECT_EQ(not_understood({.radix = 1}, {.radix = true}), "takes radix of at least 2, not 1");
    EXPECT_EQ(not_understood({.pieces = 70000}, {.pieces = true}),
              "takes pieces of at least 1 and at most 65536, not 70000");
}

TEST(Options, OneTakesItsOwnValuesOnly) {
    for (const Option& option : option_table()) {
        BuildOptions options;
        EXPECT_NE(set_option(options, option, "backwards"), "") << option.name;
        EXPECT_EQ(options, BuildOptions{});
        if (!option.is_number()) {
            EXPECT_EQ(set_option(options, option, option.values.back().text), "");
            EXPECT_NE(options, BuildOptions{});
            EXPECT_EQ(set_option(options, option, option.unset), "");
            EXPECT_EQ(options, BuildOptions{}) << option.name;
        }
    }
    BuildOptions options;
    EXPECT_EQ(set_option(options, option_table().front(), "split"),
              "there is no layout \"split\"; there are block-by-block, permute, send, "
              "two-transmissions");
}

}  // namespace
}  // namespace trefoil
