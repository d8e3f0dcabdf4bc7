// SPDX-License-Identifier: BSD-3-Clause
// Runtimes of devices, made up: found when they are loaded, and asked about addresses.
#include "topo/device_memory.hpp"

#include <array>
#include <string>

#include "tests/topo/fake_device/fake_device.hpp"
#include "topo/error.hpp"

namespace trefoil::test {
namespace {

struct Kind {
    const char* file;
    const char* name;
    bool remembers_errors;
};

class DeviceMemory : public testing::TestWithParam<Kind> {};

// Each in a process of its own: what was found stays known.
TEST_P(DeviceMemory, IsToldByARuntimeThatIsLoaded) {
    const Kind& kind = GetParam();
    std::array<char, 64> device{}, host{};
    look_for_device_runtimes();
    EXPECT_EQ(device_of(device.data()), nullptr);  // nobody can tell

    FakeDevice fake(kind.file);
    fake.owns(device.data(), device.size());
    EXPECT_EQ(device_of(device.data()), nullptr);  // nobody has looked
    look_for_device_runtimes();
    EXPECT_STREQ(device_of(device.data()), kind.name);
    EXPECT_STREQ(device_of(device.data() + 63), kind.name);
    EXPECT_EQ(device_of(host.data()), nullptr);
    EXPECT_EQ(device_of(nullptr), nullptr);

    fake.is_managed() = 1;
    EXPECT_EQ(device_of(device.data()), nullptr);
    fake.is_managed() = 0;
    look_for_device_runtimes();
    EXPECT_STREQ(device_of(device.data()), kind.name);

    try {
        require_host_memory(host.data(), "send buffer");
        require_host_memory(device.data(), "send buffer");
        ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::unsupported);
        const std::string text = error.what();
        EXPECT_EQ(text.find("the send buffer at 0x"), 0U) << text;
        EXPECT_NE(text.find(kind.name), std::string::npos) << text;
    }
}

TEST_P(DeviceMemory, AskingLeavesNoErrorBehind) {
    const Kind& kind = GetParam();
    if (!kind.remembers_errors) {
        GTEST_SKIP() << kind.name << " remembers no errors";
    }
    const char host = 0;
    FakeDevice fake(kind.file);
    look_for_device_runtimes();
    for (const int error_of_the_program : {0, 7}) {
        fake.last_error() = error_of_the_program;
        const int asked = fake.questions();
        EXPECT_EQ(device_of(&host), nullptr);
        EXPECT_EQ(fake.questions(), asked + 1);
        EXPECT_EQ(fake.last_error() != 0, error_of_the_program != 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Cuda, DeviceMemory, testing::Values(Kind{FAKE_CUDA, "CUDA", false}));
INSTANTIATE_TEST_SUITE_P(Hip5, DeviceMemory, testing::Values(Kind{FAKE_HIP5, "HIP", true}));
INSTANTIATE_TEST_SUITE_P(Hip6, DeviceMemory, testing::Values(Kind{FAKE_HIP6, "HIP", true}));

}  // namespace
}  // namespace trefoil::test
