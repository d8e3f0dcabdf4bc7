// SPDX-License-Identifier: BSD-3-Clause
// The secret of a communicator: alike on its ranks, and nothing follows from it for another one.
#include "comm/setup/session.hpp"

#include <gtest/gtest.h>

#include <set>

namespace trefoil::test {
namespace {

TEST(Session, IsAlikeForEqualContributionsOnly) {
    const std::string all = Session::contribution() + Session::contribution();
    EXPECT_EQ(Session(all).of_calls(), Session(all).of_calls());
    EXPECT_EQ(Session(all).proof(1, 2, 3, 4), Session(all).proof(1, 2, 3, 4));
    std::string other = all;
    other.back() = static_cast<char>(other.back() + 1);
    EXPECT_NE(Session(all).of_calls(), Session(other).of_calls());
    EXPECT_NE(Session(all).proof(1, 2, 3, 4), Session(other).proof(1, 2, 3, 4));
    EXPECT_NE(Session::contribution(), Session::contribution());
}

TEST(Session, EveryChannelHasAProofOfItsOwn) {
    const Session session(Session::contribution());
    std::set<std::uint32_t> proofs;
    for (Rank sender = 0; sender < 4; ++sender) {
        for (Rank receiver = 0; receiver < 4; ++receiver) {
            for (std::uint32_t id = 0; id < 4; ++id) {
                proofs.insert(session.proof(sender, receiver, id % 2, id));
            }
        }
    }
    EXPECT_GE(proofs.size(), 63U) << "one of 64 may be like another by chance";
}

}  // namespace
}  // namespace trefoil::test
