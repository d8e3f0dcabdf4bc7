// SPDX-License-Identifier: BSD-3-Clause
// The syntax of TREFOIL_MPI.
#include "mpi/switches.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace trefoil::mpi {
namespace {

TEST(Switches, AllOrNothing) {
    for (const char* text : {"", "on"}) {
        const Switches all(text);
        EXPECT_TRUE(all.on(Kind::allreduce, 0) && all.on(Kind::barrier, unknown_bytes)) << text;
    }
    EXPECT_FALSE(Switches("off").on(Kind::allreduce));
}

TEST(Switches, AListTakesWhatItNames) {
    const Switches some("allreduce,bcast:1Ki-4Mi,bcast:-8");
    EXPECT_TRUE(some.on(Kind::allreduce, 1));
    EXPECT_FALSE(some.on(Kind::barrier));
    EXPECT_TRUE(some.on(Kind::bcast, 1024) && some.on(Kind::bcast, 4 << 20));
    EXPECT_FALSE(some.on(Kind::bcast, 1023) || some.on(Kind::bcast, (4 << 20) + 1));
    EXPECT_TRUE(some.on(Kind::bcast, 8));
    EXPECT_FALSE(some.on(Kind::bcast, 9));
}

TEST(Switches, ANegatedListLeavesWhatItNames) {
    const Switches most("^barrier,gatherv,allreduce:-64,allreduce:1M-");
    EXPECT_FALSE(most.on(Kind::barrier) || most.on(Kind::gatherv));
    EXPECT_TRUE(most.on(Kind::reduce, 1));
    EXPECT_FALSE(most.on(Kind::allreduce, 64) || most.on(Kind::allreduce, 1 << 20));
    EXPECT_TRUE(most.on(Kind::allreduce, 65) && most.on(Kind::allreduce));
}

TEST(Switches, MistakesAreNamed) {
    const auto message = [](const char* text) -> std::string {
        try {
            Switches{text};
            return "";
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
    };
    EXPECT_NE(message("alreduce").find("'alreduce' names no collective"), std::string::npos);
    EXPECT_NE(message("bcast,").find("names no collective"), std::string::npos);
    EXPECT_NE(message("bcast,^barrier").find("at the front"), std::string::npos);
    EXPECT_NE(message("gatherv:1-2").find("not all ranks know"), std::string::npos);
    for (const char* range : {"bcast:", "bcast:5", "bcast:-", "bcast:9-3", "bcast:1Kib-",
                              "bcast:x-2", "bcast:1-99999999999999999999"}) {
        EXPECT_NE(message(range).find("no valid range"), std::string::npos) << range;
    }
}

}  // namespace
}  // namespace trefoil::mpi
