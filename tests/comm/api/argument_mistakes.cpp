// SPDX-License-Identifier: BSD-3-Clause
// The tables of collectives and of mistakes.
#include "argument_mistakes.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace trefoil::test {

namespace {

constexpr std::size_t most = std::numeric_limits<std::size_t>::max();

/// Of an element of 8 bytes.
trefoil_op_t made_operation(bool freed) {
    trefoil_op_t op = TREFOIL_SUM;
    const auto nothing = [](const void*, void*, size_t, void*) {};
    EXPECT_EQ(trefoil_op_create(nothing, nullptr, 8, 1, &op), TREFOIL_SUCCESS);
    if (freed) {
        EXPECT_EQ(trefoil_op_free(op), TREFOIL_SUCCESS);
    }
    return op;
}

/// Ranks that read lists.
bool lists(const Caller& r) {
    return r.kind.counted && (!r.kind.rooted || r.rank == r.a.root);
}

}  // namespace

const std::vector<Kind>& kinds() {
    using A = const Arguments&;
    static const std::vector<Kind> all{
        {"allreduce", By::all, By::all, true, false, false, false,
         [](A a) { return trefoil_allreduce(a.send, a.recv, a.count, a.type, a.op, a.comm); }},
        {"reduce", By::all, By::the_root, true, true, false, false,
         [](A a) { return trefoil_reduce(a.send, a.recv, a.count, a.type, a.op, a.root, a.comm); }},
        {"scan", By::all, By::all, true, false, false, false,
         [](A a) { return trefoil_scan(a.send, a.recv, a.count, a.type, a.op, a.comm); }},
        {"exscan", By::all, By::all_but_first, true, false, false, false,
         [](A a) { return trefoil_exscan(a.send, a.recv, a.count, a.type, a.op, a.comm); }},
        {"reduce_scatter_block", By::all, By::all, true, false, false, false,
         [](A a) {
             return trefoil_reduce_scatter_block(a.send, a.recv, a.count, a.type, a.op, a.comm);
         }},
        {"reduce_scatter", By::all, By::all, true, false, true, false,
         [](A a) {
             return trefoil_reduce_scatter(a.send, a.recv, a.counts, a.type, a.op, a.comm);
         }},
        {"allgather", By::all, By::all, false, false, false, false,
         [](A a) { return trefoil_allgather(a.send, a.recv, a.count, a.type, a.comm); }},
        {"allgatherv", By::all, By::all, false, false, true, true,
         [](A a) {
             return trefoil_allgatherv(a.send, a.own_count, a.recv, a.counts, a.displacements,
                                       a.type, a.comm);
         }},
        {"bcast", By::nobody, By::all, false, true, false, false,
         [](A a) { return trefoil_bcast(a.recv, a.count, a.type, a.root, a.comm); }},
        {"gather", By::all, By::the_root, false, true, false, false,
         [](A a) { return trefoil_gather(a.send, a.recv, a.count, a.type, a.root, a.comm); }},
        {"gatherv", By::all, By::the_root, false, true, true, true,
         [](A a) {
             return trefoil_gatherv(a.send, a.own_count, a.recv, a.counts, a.displacements, a.type,
                                    a.root, a.comm);
         }},
        {"scatter", By::the_root, By::all, false, true, false, false,
         [](A a) { return trefoil_scatter(a.send, a.recv, a.count, a.type, a.root, a.comm); }},
        {"scatterv", By::the_root, By::all, false, true, true, true,
         [](A a) {
             return trefoil_scatterv(a.send, a.counts, a.displacements, a.recv, a.own_count, a.type,
                                     a.root, a.comm);
         }},
        {"alltoall", By::all, By::all, false, false, false, false,
         [](A a) { return trefoil_alltoall(a.send, a.recv, a.count, a.type, a.comm); }},
        {"alltoallv", By::all, By::all, false, false, true, true,
         [](A a) {
             return trefoil_alltoallv(a.send, a.send_counts, a.send_displacements, a.recv, a.counts,
                                      a.displacements, a.type, a.comm);
         }},
    };
    return all;
}

bool is_alltoallv(const Kind& kind) {
    return kind.name == std::string("alltoallv");
}

bool is_bcast(const Caller& r) {
    return r.kind.name == std::string("bcast");
}

std::vector<Mistake> mistakes() {
    return {
        {"no communicator", [](Caller& r) { return r.a.comm = nullptr, true; }, {"communicator"}},
        {"no send buffer",
         [](Caller& r) { return r.a.send = nullptr, r.sends(); },
         {"send buffer is NULL", " bytes"}},
        {"no receive buffer",
         [](Caller& r) { return r.a.recv = nullptr, r.receives() && !is_bcast(r); },
         {"receive buffer is NULL", " bytes"}},
        {"nothing to broadcast",
         [](Caller& r) { return r.a.recv = nullptr, is_bcast(r); },
         {"broadcast buffer is NULL", "16 bytes"}},
        {"receives in place",
         [](Caller& r) {
             r.a.recv = TREFOIL_IN_PLACE;
             return r.receives() && !(r.kind.sends == By::the_root && r.rank == r.a.root);
         },
         {"buffer is TREFOIL_IN_PLACE", "cannot be"}},
        {"overlapping buffers",
         [](Caller& r) {
             r.a.send = r.recv.data() + 1;
             return r.sends() && r.receives();
         },
         {"overlap", "send", "receive", " bytes at 0x"}},
        {"a negative count",
         [](Caller& r) {
             r.a.count = static_cast<std::size_t>(-4);
             return !r.kind.counted;
         },
         {"count", "18446744073709551612", "address space"}},
        {"a count whose bytes overflow",
         [](Caller& r) {
             r.a.count = most / 4 + 2;
             return !r.kind.counted;
         },
         {"count", "4611686018427387905", "address space"}},
        {"blocks that are too large together",
         [](Caller& r) {
             r.a.count = (std::size_t{1} << 54) - 1;
             const std::string name = r.kind.name;
             return r.ranks > 1 && (name == "gather" || name == "scatter" || name == "allgather" ||
                                    name == "reduce_scatter_block" || name == "alltoall");
         },
         {"18014398509481983", "rank 1", "address space"}},
        {"counts whose sum overflows",
         [](Caller& r) {
             r.a.displacements = nullptr;
             r.counts.assign(r.ranks, most / 2 + 1);
             r.a.own_count = most / 2 + 1;
             return lists(r);
         },
         {"9223372036854775808", "address space"}},
        {"no counts",
         [](Caller& r) { return r.a.counts = nullptr, lists(r); },
         {"counts are NULL"}},
        {"a displacement that overflows",
         [](Caller& r) {
             r.displacements.back() = most - 1;
             return r.kind.displaced && lists(r);
         },
         {"displacement", "18446744073709551614", "address space"}},
        {"a negative displacement",
         [](Caller& r) {
             r.displacements.front() = static_cast<std::size_t>(-8);
             return r.kind.displaced && lists(r);
         },
         {"displacement", "rank 0", "18446744073709551608", "address space"}},
        {"blocks that overlap",
         [](Caller& r) {
             r.displacements[1 % r.ranks] = 2;
             const bool written = r.kind.sends == By::all;
             return r.kind.displaced && lists(r) && r.ranks > 1 && written;
         },
         {"blocks of rank 0 and rank 1 overlap"}},
        {"an own count that the list denies",
         [](Caller& r) {
             r.a.own_count = count + 1;
             return r.kind.displaced && lists(r) && !is_alltoallv(r.kind);
         },
         {"count is 5", "list says 4"}},
        {"no send counts",
         [](Caller& r) { return r.a.send_counts = nullptr, is_alltoallv(r.kind); },
         {"send counts are NULL"}},
        {"a send displacement that overflows",
         [](Caller& r) {
             r.send_displacements.front() = most - 1;
             return is_alltoallv(r.kind);
         },
         {"send block of rank 0", "18446744073709551614", "address space"}},
        {"more to itself than it receives",
         [](Caller& r) {
             r.send_counts[r.rank] = count + 1;
             return is_alltoallv(r.kind);
         },
         {"itself", "is 5", "is 4"}},
        {"no such type",
         [](Caller& r) { return r.a.type = static_cast<trefoil_datatype_t>(99), true; },
         {"datatype 99"}},
        {"an element without its operation",
         [](Caller& r) { return r.a.type = TREFOIL_ELEMENT, true; },
         {"TREFOIL_ELEMENT", "trefoil_op_create"}},
        {"no such operation",
         [](Caller& r) { return r.a.op = static_cast<trefoil_op_t>(99), r.kind.reduces; },
         {"op 99"}},
        {"an operation that was never made",
         [](Caller& r) { return r.a.op = static_cast<trefoil_op_t>(900'000), r.kind.reduces; },
         {"op 900000", "trefoil_op_create"}},
        {"an operation that was freed",
         [](Caller& r) {
             if (r.kind.reduces) {
                 r.a.op = made_operation(true);
                 r.a.type = TREFOIL_ELEMENT;
             }
             return r.kind.reduces;
         },
         {"freed"}},
        {"an operation on other elements",
         [](Caller& r) { return r.kind.reduces && (r.a.op = made_operation(false), true); },
         {"int32", "4 bytes", "8 bytes"}},
        {"a type that the operation does not take",
         [](Caller& r) {
             r.a.type = TREFOIL_FLOAT;
             r.a.op = TREFOIL_BXOR;
             return r.kind.reduces;
         },
         {"bxor", "float"},
         TREFOIL_ERROR_UNSUPPORTED},
        {"a negative root",
         [](Caller& r) { return r.a.root = -1, r.kind.rooted; },
         {"root -1", "0 to"}},
        {"a root beyond the ranks",
         [](Caller& r) { return r.a.root = r.ranks, r.kind.rooted; },
         {"root ", "is not a rank"}},
    };
}

}  // namespace trefoil::test
