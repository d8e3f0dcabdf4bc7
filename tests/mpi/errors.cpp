// SPDX-License-Identifier: BSD-3-Clause
// What the MPI below reports it reports under the layer, too, in the same class. What only the root
// of a gatherv or scatterv can see wrong: its own MPI error there, elsewhere nothing in a gatherv
// and an error in a scatterv instead of a wait, and a communicator that goes on. Without the layer
// MPI promises nothing of the kind; and Open MPI does not call its component then ("component"
// leaves that out).
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "check.hpp"

using namespace trefoil::mpi::test;
using trefoil::mpi::is_mpich;

namespace {

int class_of(int code) {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    return error_class;
}

/// MPI defines no logic on Fortran's integers: some MPIs run it, some do not.
void check_logic_on_fortran_integers() {
    for (const MPI_Datatype type : {MPI_INTEGER, MPI_INTEGER4, MPI_2INTEGER}) {
        for (const MPI_Op op : {MPI_LAND, MPI_LOR, MPI_LXOR, MPI_SUM, MPI_MAXLOC}) {
            std::int64_t in = 0, out = -1;
            const int below = PMPI_Allreduce(&in, &out, 1, type, op, MPI_COMM_WORLD);
            const int here = MPI_Allreduce(&in, &out, 1, type, op, MPI_COMM_WORLD);
            EXPECT(class_of(here) == class_of(below));
        }
    }
}

/// One buffer for both sides, which MPI does not allow: an error where MPI sees it, else the right
/// result, which not every MPI has.
void check_aliased_exchanges(int count) {
    const auto n = static_cast<std::size_t>(ranks);
    std::vector<int> data, counts(n, count), other_counts(n, count), places(n);
    for (int r = 0; r < ranks; ++r) {
        places[static_cast<std::size_t>(r)] = r * count;
    }
    const auto check = [&](auto&& below, auto&& here) {
        data = inputs(rank, ranks * count);
        const int error_class = below();
        data = inputs(rank, ranks * count);
        EXPECT(here() == error_class);
        for (int r = 0; error_class == MPI_SUCCESS && r < ranks; ++r) {
            EXPECT(data[static_cast<std::size_t>(r * count)] == input(r, rank * count));
            EXPECT(data[static_cast<std::size_t>((r + 1) * count - 1)] ==
                   input(r, (rank + 1) * count - 1));
        }
    };
    const auto alltoall = [&](auto call, int sent, MPI_Datatype type) {
        return [&data, call, sent, type, count] {
            return class_of(
                call(data.data(), sent, type, data.data(), count, MPI_INT, MPI_COMM_WORLD));
        };
    };
    check(alltoall(PMPI_Alltoall, count, MPI_INT), alltoall(MPI_Alltoall, count, MPI_INT));
    const int bytes = count * static_cast<int>(sizeof(int));
    check(alltoall(PMPI_Alltoall, bytes, MPI_BYTE), alltoall(MPI_Alltoall, bytes, MPI_BYTE));
    const auto alltoallv = [&](auto call, const std::vector<int>& received) {
        return [&data, &counts, &places, &received, call] {
            return class_of(call(data.data(), counts.data(), places.data(), MPI_INT, data.data(),
                                 received.data(), places.data(), MPI_INT, MPI_COMM_WORLD));
        };
    };
    check(alltoallv(PMPI_Alltoallv, counts), alltoallv(MPI_Alltoallv, counts));
    check(alltoallv(PMPI_Alltoallv, other_counts), alltoallv(MPI_Alltoallv, other_counts));
}

/// Two buffers that are one at the root alone: an error where MPI has one, else the right result,
/// and nobody waits.
void check_aliased_moves(int root) {
    std::vector<int> data = inputs(rank, ranks), one = inputs(rank, 1);
    const auto check = [&](int code, int place) {
        if (is_mpich() && rank == root && place == rank) {
            EXPECT(class_of(code) == MPI_ERR_BUFFER);
            return false;
        }
        EXPECT(code == MPI_SUCCESS);
        return code == MPI_SUCCESS && rank == root;
    };
    for (const int place : {0, root}) {
        const auto refill = [&] {
            const std::vector<int> again = inputs(rank, ranks);
            std::copy(again.begin(), again.end(), data.begin());
            one[0] = again[0];
        };
        int* const mine = rank == root ? &data[static_cast<std::size_t>(place)] : one.data();
        refill();
        const int sent = *mine;
        if (check(MPI_Gather(mine, 1, MPI_INT, data.data(), 1, MPI_INT, root, MPI_COMM_WORLD),
                  place)) {
            for (int r = 0; r < ranks; ++r) {
                EXPECT(data[static_cast<std::size_t>(r)] == (r == rank ? sent : input(r, 0)));
            }
        }
        refill();
        const int code =
            MPI_Scatter(data.data(), 1, MPI_INT, mine, 1, MPI_INT, root, MPI_COMM_WORLD);
        if (check(code, place)) {
            EXPECT(*mine == input(rank, rank));
        } else if (rank != root) {
            EXPECT(*mine == input(root, rank));
        }
    }
}

/// The same of gatherv and scatterv, whose blocks lie `gap` ints apart.
void check_aliased_uneven_moves(int root, int gap) {
    const auto n = static_cast<std::size_t>(ranks);
    std::vector<int> counts(n, 1), places(n), data, one;
    for (int r = 0; r < ranks; ++r) {
        places[static_cast<std::size_t>(r)] = r * (1 + gap);
    }
    const auto refill = [&] {
        data = inputs(rank, ranks * (1 + gap));
        one = inputs(rank, 1);
    };
    const auto place = [&](int r) { return static_cast<std::size_t>(r * (1 + gap)); };
    const int wanted = is_mpich() && rank == root ? MPI_ERR_BUFFER : MPI_SUCCESS;
    refill();
    const int sent = rank == root ? data[place(root)] : one[0];
    int code = MPI_Gatherv(rank == root ? &data[place(root)] : one.data(), 1, MPI_INT, data.data(),
                           counts.data(), places.data(), MPI_INT, root, MPI_COMM_WORLD);
    EXPECT(class_of(code) == wanted);
    for (int r = 0; wanted == MPI_SUCCESS && rank == root && r < ranks; ++r) {
        EXPECT(data[place(r)] == (r == rank ? sent : input(r, 0)));
    }
    refill();
    code = MPI_Scatterv(data.data(), counts.data(), places.data(), MPI_INT,
                        rank == root ? &data[place(root)] : one.data(), 1, MPI_INT, root,
                        MPI_COMM_WORLD);
    EXPECT(class_of(code) == wanted);
    EXPECT(rank == root || one[0] == input(root, rank * (1 + gap)));
}

/// One buffer for both sides of an allgatherv: this rank's own block lies where rank 0's comes to
/// lie. MPICH notices that on rank 0 alone.
void check_aliased_allgatherv() {
    const auto n = static_cast<std::size_t>(ranks);
    std::vector<int> counts(n, 1), places(n), data = inputs(rank, ranks);
    for (int r = 0; r < ranks; ++r) {
        places[static_cast<std::size_t>(r)] = r;
    }
    const int code = MPI_Allgatherv(data.data(), 1, MPI_INT, data.data(), counts.data(),
                                    places.data(), MPI_INT, MPI_COMM_WORLD);
    EXPECT(class_of(code) == (is_mpich() && rank == 0 ? MPI_ERR_BUFFER : MPI_SUCCESS));
    for (int r = 0; code == MPI_SUCCESS && r < ranks; ++r) {
        EXPECT(data[static_cast<std::size_t>(r)] == input(r, 0));
    }
}

/// What a gather's root alone has wrong about what it receives: its error, and the others have
/// sent.
void check_wrong_gather(int root) {
    std::vector<int> data(static_cast<std::size_t>(ranks));
    const auto gather = [&](auto call, void* target, int count, MPI_Datatype type) {
        return class_of(call(&rank, 1, MPI_INT, target, count, type, root, MPI_COMM_WORLD));
    };
    const auto check = [&](void* target, int count, MPI_Datatype type) {
        // MPI below looks at the arguments before anything moves, so the root may ask it alone.
        const int wanted = rank == root ? gather(PMPI_Gather, target, count, type) : MPI_SUCCESS;
        EXPECT(rank != root || wanted != MPI_SUCCESS);
        EXPECT(gather(MPI_Gather, target, count, type) == wanted);
    };
    check(data.data(), -1, MPI_INT);
    check(data.data(), 1, MPI_DATATYPE_NULL);
    check(MPI_IN_PLACE, 1, MPI_INT);
}

/// The same of allgather. Without Trefoil MPICH may end the program there, and Open MPI gives ranks
/// another one's block.
void check_aliased_allgather() {
    std::vector<int> data = inputs(rank, ranks);
    const int code =
        MPI_Allgather(data.data(), 1, MPI_INT, data.data(), 1, MPI_INT, MPI_COMM_WORLD);
    if (is_mpich() && rank == 0) {
        EXPECT(class_of(code) == MPI_ERR_BUFFER);
        return;
    }
    EXPECT(code == MPI_SUCCESS);
    for (int r = 0; r < ranks; ++r) {
        EXPECT(data[static_cast<std::size_t>(r)] == input(r, 0));
    }
}

void check_aliased_reduce(int root) {
    int data = input(rank, 0), other = 0;
    const int code =
        MPI_Reduce(&data, rank == root ? &data : &other, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    EXPECT(class_of(code) == (rank != root ? MPI_SUCCESS
                              : is_mpich() ? MPI_ERR_BUFFER
                                           : MPI_ERR_ARG));
    MPI_Barrier(MPI_COMM_WORLD);  // later calls are right
    int sum = 0;
    EXPECT(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
    EXPECT(sum == ranks * (ranks - 1) / 2);
}

void check_what_the_root_alone_sees() {
    int a = 1, b = 0;
    std::vector<int> counts(static_cast<std::size_t>(ranks), -1), places(counts);
    // MPI below looks at the arguments before anything moves, so the root may ask it alone.
    const auto gatherv = [&](auto call) {
        return class_of(
            call(&a, 1, MPI_INT, &b, counts.data(), places.data(), MPI_INT, 0, MPI_COMM_WORLD));
    };
    const auto scatterv = [&](auto call) {
        return class_of(
            call(&a, counts.data(), places.data(), MPI_INT, &b, 1, MPI_INT, 0, MPI_COMM_WORLD));
    };
    const int gatherv_class = rank == 0 ? gatherv(PMPI_Gatherv) : MPI_SUCCESS;
    const int scatterv_class = rank == 0 ? scatterv(PMPI_Scatterv) : MPI_ERR_ARG;
    EXPECT((rank != 0 || gatherv_class != MPI_SUCCESS) && scatterv_class != MPI_SUCCESS);
    EXPECT(gatherv(MPI_Gatherv) == gatherv_class);
    EXPECT(scatterv(MPI_Scatterv) == scatterv_class);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    look_at(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);  // MPI 4's for MPI_COMM_NULL
    const std::string_view part = argc > 1 ? argv[1] : "all";
    check_wrong_arguments(part == "component");
    if (part != "component") {
        check_what_the_root_alone_sees();
        for (int root = 0; root < ranks; ++root) {
            check_aliased_reduce(root);
            check_wrong_gather(root);
        }
    }
    for (int root = 0; root < ranks; ++root) {
        check_aliased_moves(root);
        check_aliased_uneven_moves(root, 0);
        check_aliased_uneven_moves(root, 2);
    }
    check_aliased_allgather();
    check_aliased_allgatherv();
    check_alltoallw_of_some();
    check_aliased_neighbours();
    int a = 1, b = 0;
    MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(b == ranks);
    check_logic_on_fortran_integers();
    check_aliased_exchanges(1);
    check_aliased_exchanges(50);
    return finish();
}
