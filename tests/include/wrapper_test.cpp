// SPDX-License-Identifier: BSD-3-Clause
// The C++ wrapper on a job of one rank, linked with the shared library as users link it.
#include <gtest/gtest.h>

#include <algorithm>
#include <trefoil/trefoil.hpp>

namespace {

static_assert(trefoil::datatype_of<signed char>() == TREFOIL_INT8);
static_assert(trefoil::datatype_of<unsigned short>() == TREFOIL_UINT16);
static_assert(trefoil::datatype_of<int>() == TREFOIL_INT32);
static_assert(trefoil::datatype_of<long long>() == TREFOIL_INT64);
static_assert(trefoil::datatype_of<unsigned long>() ==
              (sizeof(long) == 8 ? TREFOIL_UINT64 : TREFOIL_UINT32));
static_assert(trefoil::datatype_of<std::complex<double>>() == TREFOIL_COMPLEX_DOUBLE);
static_assert(trefoil::datatype_of<trefoil::ValueIndex<float>>() == TREFOIL_FLOAT_INT);
static_assert(trefoil::datatype_of<trefoil::ValueIndex<double>>() == TREFOIL_DOUBLE_INT);
static_assert(trefoil::datatype_of<trefoil::ValueIndex<long>>() == TREFOIL_LONG_INT);
static_assert(trefoil::datatype_of<trefoil::ValueIndex<int>>() == TREFOIL_2INT);
static_assert(trefoil::datatype_of<trefoil::ValueIndex<short>>() == TREFOIL_SHORT_INT);
static_assert(!trefoil::is_element_type<trefoil::ValueIndex<unsigned>>);
static_assert(!trefoil::is_element_type<bool> && !trefoil::is_element_type<long double>);
static_assert(!std::is_copy_constructible_v<trefoil::Comm>);

int copy(const void* mine, void* all, std::size_t bytes, void*) {
    const auto* from = static_cast<const unsigned char*>(mine);
    std::copy(from, from + bytes, static_cast<unsigned char*>(all));
    return 0;
}

/// One rank by callback, so that the test does not depend on its environment.
trefoil_config_t one_rank() {
    trefoil_config_t config = TREFOIL_CONFIG_INITIALIZER;
    config.ranks = 1;
    config.allgather = copy;
    config.backend = "memory";
    config.torus = "1x1";
    return config;
}

TEST(Wrapper, knows_the_job) {
    const trefoil::Comm comm(one_rank());
    EXPECT_EQ(comm.rank(), 0);
    EXPECT_EQ(comm.size(), 1);
    EXPECT_EQ(comm.torus(), (std::vector<int>{1, 1}));
    EXPECT_EQ(comm.coordinates(0), (std::vector<int>{0, 0}));
}

TEST(Wrapper, exchanges_blocks) {
    trefoil::Comm comm(one_rank());
    const std::vector<int> send{4, 5};
    std::vector<int> recv(2, 0);
    comm.alltoall(std::span(send), std::span(recv));
    EXPECT_EQ(recv, send);
    comm.alltoall(std::span(recv));
    EXPECT_EQ(recv, send);
    const std::vector<std::size_t> counts{2};
    recv.assign(2, 0);
    comm.alltoallv(send, counts, recv, counts);
    EXPECT_EQ(recv, send);
    EXPECT_THROW(comm.alltoallv(send, counts, std::span(recv).first(1), counts),
                 trefoil::CallFailed);
}

TEST(Wrapper, reduces_out_of_place_and_in_place) {
    trefoil::Comm comm(one_rank());
    const std::vector<double> send{1, 2, 3};
    std::vector<double> recv(3, 0);
    comm.allreduce(std::span(send), std::span(recv));
    EXPECT_EQ(recv, send);
    comm.allreduce(std::span(recv), TREFOIL_MAX);
    EXPECT_EQ(recv, send);
    comm.barrier();
}

TEST(Wrapper, moves_and_reduces_blocks) {
    trefoil::Comm comm(one_rank());
    const std::vector<int> send{1, 2, 3};
    const auto received = [&](auto&& call) {
        std::vector<int> recv(3, 0);
        call(std::span<const int>(send), std::span(recv));
        return recv;
    };
    EXPECT_EQ(received([&](auto a, auto b) { comm.reduce(a, b, 0); }), send);
    EXPECT_EQ(received([&](auto a, auto b) { comm.reduce_scatter(a, b); }), send);
    EXPECT_EQ(received([&](auto a, auto b) { comm.allgather(a, b); }), send);
    EXPECT_EQ(received([&](auto a, auto b) { comm.gather(a, b, 0); }), send);
    EXPECT_EQ(received([&](auto a, auto b) { comm.scatter(a, b, 0); }), send);
    std::vector<int> buffer = send;
    comm.bcast(std::span(buffer), 0);
    EXPECT_EQ(buffer, send);
    std::vector<int> longer(4);
    EXPECT_THROW(comm.allgather(std::span(send), std::span(longer)), trefoil::CallFailed);
    EXPECT_THROW(comm.bcast(std::span(buffer), 1), trefoil::CallFailed);
}

template <typename T>
void expect_the_size_of() {
    EXPECT_EQ(trefoil_datatype_size(trefoil::datatype_of<T>()), sizeof(T));
}

TEST(Wrapper, pairs_are_laid_out_as_the_library_reads_them) {
    expect_the_size_of<trefoil::ValueIndex<float>>();
    expect_the_size_of<trefoil::ValueIndex<double>>();
    expect_the_size_of<trefoil::ValueIndex<long>>();
    expect_the_size_of<trefoil::ValueIndex<int>>();
    expect_the_size_of<trefoil::ValueIndex<short>>();
}

TEST(Wrapper, locates_a_minimum) {
    trefoil::Comm comm(one_rank());
    std::vector<trefoil::ValueIndex<double>> best{{2.5, 7}, {-1, 0}};
    const auto before = best;
    comm.allreduce(std::span(best), TREFOIL_MINLOC);
    EXPECT_EQ(best, before);
    EXPECT_THROW(comm.allreduce(std::span(best)), trefoil::CallFailed);  // no sum of pairs
}

TEST(Wrapper, turns_a_status_into_an_exception) {
    trefoil::Comm comm(one_rank());
    try {
        comm.set_algorithm("allreduce", "no-such-algorithm");
        FAIL() << "an unknown algorithm was accepted";
    } catch (const trefoil::CallFailed& error) {
        EXPECT_EQ(error.status(), TREFOIL_ERROR_NOT_FOUND);
        EXPECT_NE(std::string(error.what()).find("no-such-algorithm"), std::string::npos);
    }
}

TEST(Wrapper, refuses_spans_of_different_lengths) {
    trefoil::Comm comm(one_rank());
    const std::vector<int> send{1, 2, 3};
    std::vector<int> recv{7, 7};
    EXPECT_THROW(comm.allreduce(std::span(send), std::span(recv)), trefoil::CallFailed);
    EXPECT_EQ(recv, (std::vector<int>{7, 7}));
}

TEST(Wrapper, a_moved_communicator_has_one_owner) {
    trefoil::Comm first(one_rank());
    const trefoil_comm_t handle = first.handle();
    trefoil::Comm second(std::move(first));
    EXPECT_EQ(second.handle(), handle);
    trefoil::Comm third(one_rank());
    third = std::move(second);
    EXPECT_EQ(third.handle(), handle);
    EXPECT_EQ(third.size(), 1);
}

}  // namespace
