// SPDX-License-Identifier: BSD-3-Clause
// Which calls count as alike, and until when they are kept.
#include "mpi/kept_calls.hpp"

#include <gtest/gtest.h>

namespace trefoil::mpi {
namespace {

CallMark allreduce(const void* send, MPI_Count count, MPI_Datatype type, MPI_Op op,
                   Way way = Way::blocking, std::size_t ranks = 2) {
    void* const recv = nullptr;
    return mark_of<Kind::allreduce>(way, ranks, send, recv, count, type, op, MPI_COMM_WORLD);
}

TEST(KeptCalls, WhatDecidesMakesCallsDifferentAndNothingElse) {
    const int here = 0, there = 0;
    const CallMark one = allreduce(&here, 4, MPI_INT, MPI_SUM);
    EXPECT_TRUE(one == allreduce(&there, 4, MPI_INT, MPI_SUM));
    EXPECT_FALSE(one == allreduce(MPI_IN_PLACE, 4, MPI_INT, MPI_SUM));
    EXPECT_FALSE(one == allreduce(&here, 5, MPI_INT, MPI_SUM));
    EXPECT_FALSE(one == allreduce(&here, 4, MPI_FLOAT, MPI_SUM));
    EXPECT_FALSE(one == allreduce(&here, 4, MPI_INT, MPI_MAX));
    EXPECT_FALSE(one == allreduce(&here, 4, MPI_INT, MPI_SUM, Way::nonblocking));
    EXPECT_FALSE(one == allreduce(&here, 4, MPI_INT, MPI_SUM, Way::blocking, 3));
    void* const recv = nullptr;
    const void* const send = &here;
    EXPECT_FALSE(one == mark_of<Kind::scan>(Way::blocking, 2, send, recv, MPI_Count{4}, MPI_INT,
                                            MPI_SUM, MPI_COMM_WORLD));
    EXPECT_TRUE(one == mark_of<Kind::allreduce>(Way::blocking, 2, send, recv, MPI_Count{4}, MPI_INT,
                                                MPI_SUM, MPI_COMM_SELF));
}

TEST(KeptCalls, EachOfTwoAddressesInPlaceCounts) {
    const void* const send = nullptr;
    void* const recv = nullptr;
    const auto gather = [](const void* from, void* to) {
        return mark_of<Kind::gather>(Way::blocking, 2, from, 1, MPI_INT, to, 1, MPI_INT, 0,
                                     MPI_COMM_WORLD);
    };
    EXPECT_FALSE(gather(MPI_IN_PLACE, recv) == gather(send, recv));
    EXPECT_FALSE(gather(MPI_IN_PLACE, recv) == gather(send, MPI_IN_PLACE));
}

TEST(KeptCalls, ListsAndNeighboursHaveNoMarks) {
    EXPECT_TRUE((has_mark<Kind::allreduce, const void*, void*, int, MPI_Datatype, MPI_Comm>));
    EXPECT_FALSE((has_mark<Kind::allgatherv, const void*, int, const int*, MPI_Comm>));
    EXPECT_FALSE((has_mark<Kind::alltoallw, const void*, const MPI_Datatype*, MPI_Comm>));
    EXPECT_FALSE((has_mark<Kind::neighbor_allgather, const void*, int, MPI_Comm>));
}

TEST(KeptCalls, AreKeptUpToACall) {
    KeptCalls kept{};
    const CallMark small = allreduce(nullptr, 4, MPI_INT, MPI_SUM);
    const CallMark other = allreduce(nullptr, 8, MPI_INT, MPI_SUM);
    EXPECT_FALSE(kept.has(small, 1));
    EXPECT_FALSE(kept.has(CallMark{}, 1));
    kept.keep(small, 10);
    EXPECT_TRUE(kept.has(small, 10));
    EXPECT_FALSE(kept.has(small, 11));
    EXPECT_FALSE(kept.has(other, 10));
    // What is kept may go, but never counts for another call.
    for (MPI_Count count = 1; count < 100; ++count) {
        const CallMark mark = allreduce(nullptr, count, MPI_FLOAT, MPI_SUM);
        EXPECT_FALSE(kept.has(mark, 1));
        kept.keep(mark, 1);
        EXPECT_TRUE(kept.has(mark, 1));
        EXPECT_FALSE(kept.has(mark, 2));
    }
    EXPECT_FALSE(kept.has(small, 1));
}

TEST(KeptCalls, SmallCallsInALoopAreKeptBesideEachOther) {
    KeptCalls kept{};
    constexpr MPI_Count calls = 8;
    const auto mark = [](MPI_Count count) {
        return allreduce(nullptr, count, MPI_DOUBLE, MPI_SUM);
    };
    for (MPI_Count count = 1; count <= calls; ++count) {
        kept.keep(mark(count), 10);
    }
    int there = 0;
    for (MPI_Count count = 1; count <= calls; ++count) {
        there += kept.has(mark(count), 10) ? 1 : 0;
    }
    EXPECT_GE(there, calls / 2);
}

}  // namespace
}  // namespace trefoil::mpi
