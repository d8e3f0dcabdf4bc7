// SPDX-License-Identifier: BSD-3-Clause
// Structs of the interface in every earlier and later size: what a program has is read and written,
// and nothing beside it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "trefoil/trefoil.h"

namespace trefoil::test {
namespace {

/// A struct of this version at the beginning of one that is longer.
template <typename Struct>
struct Longer {
    Struct known;
    std::array<unsigned char, 64> more;
};

template <typename Struct>
unsigned char* bytes_of(Longer<Struct>& longer) {
    return reinterpret_cast<unsigned char*>(&longer);
}

/// Makes bytes that belong to no field alike: the compiler leaves there what it likes.
void forget_padding(Longer<trefoil_resources_t>& longer, std::size_t size) {
    constexpr std::size_t begin =
        offsetof(trefoil_resources_t, connections_out) + sizeof longer.known.connections_out;
    constexpr std::size_t end = offsetof(trefoil_resources_t, landing_bytes);
    if (size >= end) {
        std::memset(bytes_of(longer) + begin, 0, end - begin);
    }
}
void forget_padding(Longer<trefoil_port_t>&, std::size_t) {
    static_assert(sizeof(trefoil_port_t) ==
                  2 * sizeof(unsigned long long) + sizeof(std::size_t) + sizeof(const char*));
}

/// One rank, set by the struct's first fields; all others hold what no call would accept.
Longer<trefoil_config_t> wrong_beyond(std::size_t size) {
    static const int place = -7;
    Longer<trefoil_config_t> longer{TREFOIL_CONFIG_INITIALIZER, {}};
    trefoil_config_t& wrong = longer.known;
    wrong.ranks = -1;
    wrong.allgather = [](const void*, void*, std::size_t, void*) { return 1; };
    wrong.torus = wrong.backend = wrong.provider = wrong.algorithm = wrong.nics = wrong.log =
        "no such thing";
    wrong.port_threads = -99;
    wrong.timeout_seconds = -1;
    wrong.coordinates = &place;
    wrong.dimensions = -1;
    trefoil_config_t right = TREFOIL_CONFIG_INITIALIZER;
    right.size = size;
    right.ranks = 1;
    std::memcpy(&longer, &right, std::min(size, sizeof right));
    return longer;
}

TEST(Structs, EveryEarlierConfigurationIsTaken) {
    for (std::size_t size = sizeof(std::size_t); size <= sizeof(trefoil_config_t);
         size += alignof(trefoil_config_t)) {
        const Longer<trefoil_config_t> config = wrong_beyond(size);
        trefoil_comm_t comm = nullptr;
        EXPECT_EQ(trefoil_comm_create(&config.known, &comm), TREFOIL_SUCCESS)
            << size << " bytes: " << trefoil_last_error(nullptr);
        trefoil_comm_destroy(comm);
    }
}

TEST(Structs, ALaterConfigurationIsTakenUnlessItAsksForMore) {
    const std::size_t size = sizeof(Longer<trefoil_config_t>);
    Longer<trefoil_config_t> config = wrong_beyond(size);
    trefoil_comm_t comm = nullptr;
    EXPECT_EQ(trefoil_comm_create(&config.known, &comm), TREFOIL_SUCCESS)
        << trefoil_last_error(nullptr);
    trefoil_comm_destroy(comm);
    for (const std::size_t place : {0UL, config.more.size() - 1}) {
        config.more.fill(0);
        config.more[place] = 1;
        EXPECT_EQ(trefoil_comm_create(&config.known, &comm), TREFOIL_ERROR_INVALID_ARGUMENT);
        const std::string error = trefoil_last_error(nullptr);
        EXPECT_NE(error.find("config->size is " + std::to_string(size)), std::string::npos)
            << error;
        EXPECT_NE(error.find(std::to_string(sizeof(trefoil_config_t)) + " bytes"),
                  std::string::npos)
            << error;
        EXPECT_NE(error.find("newer"), std::string::npos) << error;
    }
}

TEST(Structs, SizesThatNoStructHasAreRefused) {
    for (const std::size_t size : {0UL, 7UL, 12UL, 5000UL, ~0UL}) {
        trefoil_config_t config = TREFOIL_CONFIG_INITIALIZER;
        config.size = size;
        trefoil_comm_t comm = nullptr;
        EXPECT_EQ(trefoil_comm_create(&config, &comm), TREFOIL_ERROR_INVALID_ARGUMENT) << size;
        EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("config->size is"),
                  std::string::npos);
    }
}

/// A communicator of one rank.
class FilledIn : public testing::Test {
  protected:
    void SetUp() override {
        const Longer<trefoil_config_t> config = wrong_beyond(sizeof config.known);
        ASSERT_EQ(trefoil_comm_create(&config.known, &comm_), TREFOIL_SUCCESS);
    }
    void TearDown() override { trefoil_comm_destroy(comm_); }

    /// Expects that every size gets the fields that it has, zero beyond what this version knows,
    /// and no byte more.
    template <typename Struct, typename Get>
    void expect_as_much_as_there_is(Get&& get) {
        Struct whole{};
        whole.size = sizeof whole;
        ASSERT_EQ(get(&whole), TREFOIL_SUCCESS);
        for (std::size_t size = sizeof(std::size_t); size <= sizeof(Longer<Struct>);
             size += alignof(Struct)) {
            Longer<Struct> longer, expected;
            std::memset(&longer, 0xa5, sizeof longer);
            std::memset(&expected, 0xa5, sizeof expected);
            std::memset(&expected, 0, size);
            std::memcpy(&expected, &whole, std::min(size, sizeof whole));
            longer.known.size = expected.known.size = size;
            ASSERT_EQ(get(&longer.known), TREFOIL_SUCCESS) << size;
            forget_padding(longer, size);
            forget_padding(expected, size);
            EXPECT_TRUE(
                std::equal(bytes_of(longer), bytes_of(longer) + sizeof longer, bytes_of(expected)))
                << size;
        }
        whole.size = 0;
        EXPECT_EQ(get(&whole), TREFOIL_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(get(static_cast<Struct*>(nullptr)), TREFOIL_ERROR_INVALID_ARGUMENT);
    }

    trefoil_comm_t comm_ = nullptr;
};

TEST_F(FilledIn, ResourcesOfEverySize) {
    expect_as_much_as_there_is<trefoil_resources_t>(
        [&](trefoil_resources_t* held) { return trefoil_comm_resources(comm_, held); });
}

TEST_F(FilledIn, PortsOfEverySize) {
    expect_as_much_as_there_is<trefoil_port_t>(
        [&](trefoil_port_t* sent) { return trefoil_comm_port(comm_, 0, sent); });
}

}  // namespace
}  // namespace trefoil::test
