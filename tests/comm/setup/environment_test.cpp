// SPDX-License-Identifier: BSD-3-Clause
// The environment: values, units, refusals, unknown names, cores to pin to.
#include "comm/setup/environment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/variable.hpp"
#include "topo/error.hpp"

namespace trefoil::environment_test {
namespace {

using test::Variable;

void expect_refused(const char* name, const char* value) {
    const Variable v(name, value);
    try {
        settings_from_environment();
        ADD_FAILURE() << name << "=" << value << " was accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::invalid_argument);
        EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
}

TEST(Environment, ReadsNumbersSecondsAndBytes) {
    const Variable timeout("TREFOIL_TIMEOUT", "2.5");
    const Variable landing("TREFOIL_LANDING_BYTES", "8M");
    const Variable segment("TREFOIL_SEGMENT_BYTES", "64KiB"), plans("TREFOIL_PLAN_BYTES", "0");
    const Variable threads("TREFOIL_PORT_THREADS", "0");
    const Variable pin("TREFOIL_PIN", "none");
    const Variable who("TREFOIL_PORT_THREADS_BY", "caller");
    const Settings s = settings_from_environment();
    EXPECT_EQ(s.timeout.count(), 2500);
    EXPECT_EQ(s.landing_bytes, std::size_t{8} << 20);
    EXPECT_EQ(s.segment_bytes, 65536U);
    EXPECT_EQ(s.plan_bytes, 0U);
    EXPECT_EQ(s.port_threads, 0);
    EXPECT_FALSE(s.pin);
    EXPECT_EQ(s.port_threads_by, PortThreadsBy::caller);
}

TEST(Environment, RefusesBadValues) {
    expect_refused("TREFOIL_TIMEOUT", "soon");
    expect_refused("TREFOIL_TIMEOUT", "-1");
    expect_refused("TREFOIL_TIMEOUT", "nan");
    expect_refused("TREFOIL_LANDING_BYTES", "4T");
    expect_refused("TREFOIL_LANDING_BYTES", "18446744073709551615G");
    expect_refused("TREFOIL_LANDING_BYTES", "12");
    expect_refused("TREFOIL_SIZE", "0");
    expect_refused("TREFOIL_RANK", "3");
    expect_refused("TREFOIL_PORT_THREADS", "-2");
    expect_refused("TREFOIL_PIN", "maybe");
    expect_refused("TREFOIL_INSTRUCTIONS", "mmx");
    expect_refused("TREFOIL_PORT_THREADS_BY", "opnemp");
    expect_refused("TREFOIL_PIN", "0,,1");
    expect_refused("TREFOIL_PIN", "3-1");
    expect_refused("TREFOIL_PORT_THREADS", "-1");
    expect_refused("TREFOIL_TRACE_EVENTS", "0");
    expect_refused("TREFOIL_FAULTS", "drop=0.5");
}

TEST(Environment, RefusesOldNamesAndTellsTheNew) {
    std::vector<std::string> known;
    for (const EnvironmentVariable& v : environment_variables()) {
        known.emplace_back(v.name);
    }
    ASSERT_FALSE(old_names().empty());
    for (const std::string_view old_name : old_names()) {
        EXPECT_EQ(std::count(known.begin(), known.end(), old_name), 0) << old_name;
        if (old_name.starts_with("TREFOIL_")) {
            expect_refused(old_name.data(), "1");
        }
    }
    const Variable old_name("TREFOIL_DIRECT", "0");
    EXPECT_TRUE(unknown_variables().empty()) << "one message, the right one";
    try {
        settings_from_environment();
        ADD_FAILURE() << "an old name was accepted";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("TREFOIL_SINGLE_COPY"), std::string::npos)
            << error.what();
    }
}

TEST(Environment, ReadsTheCostModel) {
    const Variable text("TREFOIL_MODEL", "rate=100mbit,step=0.04ms");
    const CostModel model = settings_from_environment().cost_model.value();
    EXPECT_DOUBLE_EQ(model.alpha, 40e-6);
    EXPECT_DOUBLE_EQ(model.tau, default_cost_model.tau);
    EXPECT_DOUBLE_EQ(model.beta, 8.0 / 100e6);
    EXPECT_EQ(to_string(model),
              "step=40us,hop=0.2us,rate=0.1gbit,wait=0us,message=0us,forward=0us,busiest=0us,"
              "byte=0us,copy=0.0001us,pull=0.0001us,reduce=0us,inside-step=0.3us,"
              "inside-message=0us,"
              "inside-byte=0.0002us");
    EXPECT_EQ(to_string(parse_cost_model(to_string(model))), to_string(model));
    for (const char* bad : {"step", "step=", "step=2", "step=-1us", "step=nanus", "rate=0gbit",
                            "rate=1us", "speed=1gbit", "wait=1gbit", "byte=-1ns", "copy=1gbit",
                            "pull=1gbit", "step=2us;rate=1gbit"}) {
        expect_refused("TREFOIL_MODEL", bad);
    }
}

TEST(Environment, UnknownNamesOfferTheNearest) {
    const Variable typo("TREFOIL_TORAS", "3x3");
    const auto messages = unknown_variables();
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_NE(messages[0].find("TREFOIL_TORUS"), std::string::npos) << messages[0];
}

TEST(Environment, EveryVariableIsExplained) {
    for (const EnvironmentVariable& v : environment_variables()) {
        EXPECT_TRUE(v.name.starts_with("TREFOIL_"));
        EXPECT_FALSE(v.help.empty());
        EXPECT_FALSE(v.type.empty());
    }
}

TEST(Environment, ReadsHowToPin) {
    EXPECT_TRUE(settings_from_environment().pin);
    {
        const Variable none("TREFOIL_PIN", "none");
        EXPECT_FALSE(settings_from_environment().pin);
    }
    const Variable list("TREFOIL_PIN", "6,0-2");
    EXPECT_TRUE(settings_from_environment().pin);
    EXPECT_EQ(settings_from_environment().pin_cores, (std::vector<int>{6, 0, 1, 2}));
}

}  // namespace
}  // namespace trefoil::environment_test
