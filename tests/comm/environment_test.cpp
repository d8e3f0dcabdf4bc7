// SPDX-License-Identifier: BSD-3-Clause
// The environment: values, units, refusals, unknown names, NIC lists.
#include "comm/environment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "topo/error.hpp"

namespace trefoil {
namespace {

class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
    ~Variable() { unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
};

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
    const Variable segment("TREFOIL_SEGMENT_BYTES", "65536");
    const Variable threads("TREFOIL_PORT_THREADS", "0");
    const Variable pin("TREFOIL_PIN", "none");
    const Settings s = settings_from_environment();
    EXPECT_EQ(s.timeout.count(), 2500);
    EXPECT_EQ(s.landing_bytes, std::size_t{8} << 20);
    EXPECT_EQ(s.segment_bytes, 65536U);
    EXPECT_EQ(s.port_threads, 0);
    EXPECT_FALSE(s.pin);
}

TEST(Environment, RefusesBadValues) {
    expect_refused("TREFOIL_TIMEOUT", "soon");
    expect_refused("TREFOIL_TIMEOUT", "-1");
    expect_refused("TREFOIL_TIMEOUT", "nan");
    expect_refused("TREFOIL_LANDING_BYTES", "4T");
    expect_refused("TREFOIL_LANDING_BYTES", "12");
    expect_refused("TREFOIL_SIZE", "0");
    expect_refused("TREFOIL_RANK", "3");
    expect_refused("TREFOIL_PORT_THREADS", "-2");
    expect_refused("TREFOIL_PIN", "maybe");
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

TEST(Nics, OneForAllOrOnePerDirection) {
    EXPECT_EQ(parse_nics("", 4), std::vector<std::string>(4));
    EXPECT_EQ(parse_nics("eth0", 2), (std::vector<std::string>{"eth0", "eth0"}));
    EXPECT_EQ(parse_nics("+0=a,-1=b", 4), (std::vector<std::string>{"a", "", "", "b"}));
    EXPECT_THROW(parse_nics("+2=a", 4), Error);
    EXPECT_THROW(parse_nics("+0=", 4), Error);
    EXPECT_THROW(parse_nics("a,+0=b", 4), Error);
}

}  // namespace
}  // namespace trefoil
