// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments that an MPI reports from within its collectives: the class is that of the MPI
// below, nobody waits for longer than to a rank's next call, and the next calls are right. Where
// all ranks are wrong alike, the MPI below is asked first.
#include <algorithm>
#include <array>

#include "check.hpp"

namespace trefoil::mpi::test {

namespace {

int class_of(int code) {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    return error_class;
}

/// A communicator of its own for each case: MPI promises nothing of one after an error.
class Scene {
  public:
    Scene() {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        for (int r = 0; r < ranks; ++r) {
            counts.push_back(2);
            places.push_back(2 * r);
            types.push_back(MPI_INT);
            byte_places.push_back(2 * r * static_cast<int>(sizeof(int)));
        }
        send = inputs(rank, 4 * ranks);
        recv.assign(send.size(), -1);
    }
    /// What comes next is right.
    ~Scene() {
        int sum = -1, first = rank;
        std::vector<int> all(static_cast<std::size_t>(ranks), -1);
        EXPECT(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
        EXPECT(sum == ranks * (ranks - 1) / 2);
        EXPECT(MPI_Allgather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, comm) == MPI_SUCCESS);
        EXPECT(all.back() == ranks - 1);
        EXPECT(MPI_Bcast(&first, 1, MPI_INT, ranks - 1, comm) == MPI_SUCCESS);
        EXPECT(first == ranks - 1);
        MPI_Comm_free(&comm);
    }
    Scene(const Scene&) = delete;
    Scene& operator=(const Scene&) = delete;

    MPI_Comm comm = MPI_COMM_NULL;
    std::vector<int> send, recv, counts, places, byte_places;
    std::vector<MPI_Datatype> types;
};

/// `call`(functions of the MPI below, or of this one, scene) makes the same wrong call.
template <typename Below, typename Here>
void check_alike(Below below, Here here, int line) {
    int wanted = MPI_SUCCESS;
    {
        Scene scene;
        wanted = class_of(below(scene));
    }
    Scene scene;
    expect(class_of(here(scene)) == wanted, "the class of the MPI below", line);
}

/// A call of MPI's as it is, and as the MPI below has it. A macro, because it makes names.
#define ALIKE(NAME, ...)                                                             \
    check_alike([&]([[maybe_unused]] Scene& s) { return PMPI_##NAME(__VA_ARGS__); }, \
                [&]([[maybe_unused]] Scene& s) { return MPI_##NAME(__VA_ARGS__); }, __LINE__)

void check_null_buffers() {
    int* const none = nullptr;
    ALIKE(Bcast, none, 2, MPI_INT, 0, s.comm);
    ALIKE(Allreduce, none, s.recv.data(), 2, MPI_INT, MPI_SUM, s.comm);
    ALIKE(Allreduce, s.send.data(), none, 2, MPI_INT, MPI_SUM, s.comm);
    ALIKE(Reduce, none, s.recv.data(), 2, MPI_INT, MPI_SUM, 0, s.comm);
    ALIKE(Exscan, s.send.data(), none, 2, MPI_INT, MPI_SUM, s.comm);
    ALIKE(Reduce_scatter, s.send.data(), none, s.counts.data(), MPI_INT, MPI_SUM, s.comm);
    ALIKE(Reduce_scatter_block, none, s.recv.data(), 2, MPI_INT, MPI_SUM, s.comm);
    ALIKE(Gather, none, 2, MPI_INT, s.recv.data(), 2, MPI_INT, 0, s.comm);
    ALIKE(Scatter, s.send.data(), 2, MPI_INT, none, 2, MPI_INT, 0, s.comm);
    ALIKE(Allgather, s.send.data(), 2, MPI_INT, none, 2, MPI_INT, s.comm);
    ALIKE(Alltoall, none, 2, MPI_INT, s.recv.data(), 2, MPI_INT, s.comm);
    ALIKE(Gatherv, none, 2, MPI_INT, s.recv.data(), s.counts.data(), s.places.data(), MPI_INT, 0,
          s.comm);
    ALIKE(Allgatherv, s.send.data(), 2, MPI_INT, none, s.counts.data(), s.places.data(), MPI_INT,
          s.comm);
    ALIKE(Alltoallv, s.send.data(), s.counts.data(), s.places.data(), MPI_INT, none,
          s.counts.data(), s.places.data(), MPI_INT, s.comm);
    ALIKE(Alltoallw, none, s.counts.data(), s.byte_places.data(), s.types.data(), s.recv.data(),
          s.counts.data(), s.byte_places.data(), s.types.data(), s.comm);
}

void check_uncommitted_types() {
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &op);
    ALIKE(Bcast, s.send.data(), 1, pair, 0, s.comm);
    ALIKE(Allgather, s.send.data(), 1, pair, s.recv.data(), 2, MPI_INT, s.comm);
    ALIKE(Gather, s.send.data(), 1, pair, s.recv.data(), 2, MPI_INT, 0, s.comm);
    ALIKE(Alltoall, s.send.data(), 2, MPI_INT, s.recv.data(), 1, pair, s.comm);
    ALIKE(Allreduce, s.send.data(), s.recv.data(), 1, pair, op, s.comm);
    MPI_Type_commit(&pair);
    Scene scene;  // what was learnt about it is not kept
    EXPECT(MPI_Allgather(scene.send.data(), 1, pair, scene.recv.data(), 2, MPI_INT, scene.comm) ==
           MPI_SUCCESS);
    EXPECT(scene.recv[2] == input(1, 0));
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
}

// MPICH 4.2 lets a too long allgather pass, and calls the others MPI_ERR_IN_STATUS.
#if defined(MPICH) && MPICH_NUMVERSION >= 40200000
#define TOO_LONG(NAME, ...)                              \
    check_alike([](Scene&) { return MPI_ERR_TRUNCATE; }, \
                [&]([[maybe_unused]] Scene& s) { return MPI_##NAME(__VA_ARGS__); }, __LINE__)
#else
#define TOO_LONG(...) ALIKE(__VA_ARGS__)
#endif

/// Blocks that are sent are longer than what is received of them, on all ranks.
void check_too_long_blocks() {
    TOO_LONG(Allgather, s.send.data(), 3, MPI_INT, s.recv.data(), 2, MPI_INT, s.comm);
    TOO_LONG(Alltoall, s.send.data(), 3, MPI_INT, s.recv.data(), 2, MPI_INT, s.comm);
    TOO_LONG(Allgatherv, s.send.data(), 3, MPI_INT, s.recv.data(), s.counts.data(), s.places.data(),
             MPI_INT, s.comm);
    std::vector<int> longer(static_cast<std::size_t>(ranks), 3);
    TOO_LONG(Alltoallv, s.send.data(), longer.data(), s.places.data(), MPI_INT, s.recv.data(),
             s.counts.data(), s.places.data(), MPI_INT, s.comm);
    TOO_LONG(Alltoallw, s.send.data(), longer.data(), s.byte_places.data(), s.types.data(),
             s.recv.data(), s.counts.data(), s.byte_places.data(), s.types.data(), s.comm);
    ALIKE(Alltoallw, s.send.data(), s.counts.data(), s.byte_places.data(), s.types.data(),
          s.send.data(), s.counts.data(), s.byte_places.data(), s.types.data(), s.comm);
}

/// What one rank alone has too long: its error there alone. `looks_first`: Open MPI finds it in an
/// alltoall before its component is called, and then the others wait for this rank's next call.
void check_what_one_rank_has_too_long(int who, bool looks_first) {
    const bool wrong = rank == who;
    const int wanted = wrong ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    {
        Scene s;
        EXPECT(class_of(MPI_Allgather(s.send.data(), wrong ? 3 : 2, MPI_INT, s.recv.data(), 2,
                                      MPI_INT, s.comm)) == wanted);
        EXPECT(s.recv[2 * static_cast<std::size_t>(who) + 1] == input(who, 1));
    }
    {
        Scene s;
        EXPECT(class_of(MPI_Allgatherv(s.send.data(), wrong ? 3 : 2, MPI_INT, s.recv.data(),
                                       s.counts.data(), s.places.data(), MPI_INT, s.comm)) ==
               wanted);
        EXPECT(s.recv[2 * static_cast<std::size_t>(who) + 1] == input(who, 1));
    }
    {
        Scene s;
        EXPECT(class_of(MPI_Alltoall(s.send.data(), wrong ? 3 : 2, MPI_INT, s.recv.data(), 2,
                                     MPI_INT, s.comm)) ==
               (looks_first ? MPI_ERR_TRUNCATE : wanted));
        EXPECT(looks_first ||
               s.recv[2 * static_cast<std::size_t>(who) + 1] == input(who, 3 * rank + 1));
    }
    {
        Scene s;
        EXPECT(class_of(MPI_Gather(s.send.data(), 2, MPI_INT, s.recv.data(), wrong ? 1 : 2, MPI_INT,
                                   who, s.comm)) == wanted);
        EXPECT(!wrong || s.recv[1] == input(1, 0));
    }
    {
        Scene s;
        EXPECT(class_of(MPI_Scatter(s.send.data(), wrong ? 3 : 2, MPI_INT, s.recv.data(), 2,
                                    MPI_INT, who, s.comm)) == wanted);
        EXPECT(s.recv[0] == input(who, 3 * rank) && s.recv[1] == input(who, 3 * rank + 1));
    }
}

/// What the root alone has to look at; the others are right, and done.
void check_what_the_root_misses(int root) {
    int* const none = nullptr;
    const int wanted = rank == root ? MPI_ERR_BUFFER : MPI_SUCCESS;
    {
        Scene s;
        EXPECT(class_of(MPI_Reduce(s.send.data(), rank == root ? none : s.recv.data(), 2, MPI_INT,
                                   MPI_SUM, root, s.comm)) == wanted);
    }
    {
        Scene s;
        EXPECT(class_of(MPI_Gather(s.send.data(), 2, MPI_INT, rank == root ? none : s.recv.data(),
                                   2, MPI_INT, root, s.comm)) == wanted);
    }
    {
        Scene s;
        EXPECT(class_of(MPI_Scatter(rank == root ? none : s.send.data(), 2, MPI_INT, s.recv.data(),
                                    2, MPI_INT, root, s.comm)) == wanted);
        EXPECT(rank != root || s.recv[0] == -1);
    }
    {
        Scene s;
        EXPECT(class_of(MPI_Gatherv(s.send.data(), 2, MPI_INT, rank == root ? none : s.recv.data(),
                                    s.counts.data(), s.places.data(), MPI_INT, root, s.comm)) ==
               wanted);
    }
}

/// One rank alone has wrong arguments: it gets MPI's error at once, and the others do not wait for
/// longer than to its next call. Who only sends is done.
void check_what_one_rank_has_wrong(int who) {
    const bool wrong = rank == who;
    const int root = (who + 1) % ranks;
    const auto wanted = [&](int error_class) { return wrong ? error_class : MPI_SUCCESS; };
    {
        Scene s;
        EXPECT(class_of(MPI_Gather(s.send.data(), wrong ? -1 : 2, MPI_INT, s.recv.data(), 2,
                                   MPI_INT, who, s.comm)) == wanted(MPI_ERR_COUNT));
    }
    {
        Scene s;
        EXPECT(class_of(MPI_Gather(s.send.data(), 2, MPI_INT, s.recv.data(), 2, MPI_INT,
                                   wrong ? ranks : who, s.comm)) == wanted(MPI_ERR_ROOT));
    }
    {
        Scene s;
        EXPECT(class_of(MPI_Gatherv(s.send.data(), 2, wrong ? MPI_DATATYPE_NULL : MPI_INT,
                                    s.recv.data(), s.counts.data(), s.places.data(), MPI_INT, who,
                                    s.comm)) == wanted(MPI_ERR_TYPE));
    }
    {
        Scene s;
        EXPECT(class_of(MPI_Reduce(s.send.data(), s.recv.data(), 2, wrong ? MPI_DOUBLE : MPI_INT,
                                   wrong ? MPI_BAND : MPI_SUM, who, s.comm)) == wanted(MPI_ERR_OP));
    }
    {
        Scene s;
        const int code = class_of(MPI_Scatter(s.send.data(), 2, MPI_INT, s.recv.data(), 2, MPI_INT,
                                              wrong ? -7 : root, s.comm));
        EXPECT(wrong ? code == MPI_ERR_ROOT : code == MPI_SUCCESS || code == MPI_ERR_TRUNCATE);
    }
    {
        Scene s;
        const int code = class_of(MPI_Allreduce(s.send.data(), s.recv.data(), 2, MPI_INT,
                                                wrong ? MPI_OP_NULL : MPI_SUM, s.comm));
        EXPECT(code == (wrong ? MPI_ERR_OP : MPI_ERR_TRUNCATE));
    }
    {
        Scene s;
        EXPECT(class_of(MPI_Bcast(s.send.data(), wrong ? 2 : 3, MPI_INT, who, s.comm)) ==
               (wrong ? MPI_SUCCESS : MPI_ERR_TRUNCATE));
    }
}

/// The same of calls on no communicator, and of wrong calls that the others do not make.
void check_calls_of_one_rank(int who) {
    const bool wrong = rank == who;
    {
        Scene s;
        const int code = MPI_Allreduce(s.send.data(), s.recv.data(), 2, MPI_INT, MPI_SUM,
                                       wrong ? MPI_COMM_NULL : s.comm);
        EXPECT(class_of(code) == (wrong ? MPI_ERR_COMM : MPI_ERR_TRUNCATE));
    }
    Scene s;
    EXPECT(!wrong || class_of(MPI_Bcast(s.send.data(), -1, MPI_INT, 0, s.comm)) == MPI_ERR_COUNT);
}

void overlook(MPI_Comm*, int*, ...) {}

/// The program's own error handler sees errors that nobody else does. Nobody waits then either, and
/// after a few calls more, which may fail, later ones are right.
void check_own_error_handler(int who) {
    const bool wrong = rank == who;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(overlook, &handler);
    for (const bool alike : {true, false}) {
        Scene s;
        MPI_Comm_set_errhandler(s.comm, handler);
        MPI_Allreduce(s.send.data(), s.recv.data(), 2, MPI_INT, wrong ? MPI_OP_NULL : MPI_SUM,
                      s.comm);
        for (int i = 0; i < 8; ++i) {
            const int count = 3 + i;
            alike || i % 2 == 0
                ? MPI_Allreduce(s.send.data(), s.recv.data(), count, MPI_INT, MPI_SUM, s.comm)
                : MPI_Bcast(s.send.data(), count, MPI_INT, i % ranks, s.comm);
        }
    }
    MPI_Errhandler_free(&handler);
}

#if defined(OPEN_MPI)
/// The same of calls that do not block, under the component: their ends tell.
void check_requests_that_one_rank_has_wrong(int who) {
    const bool wrong = rank == who;
    const MPI_Op op = wrong ? MPI_OP_NULL : MPI_SUM;
    for (const bool first : {true, false}) {
        Scene s;
        if (!first) {  // Trefoil is set up
            MPI_Barrier(s.comm);
        }
        MPI_Request request = MPI_REQUEST_NULL;
        int code = MPI_Iallreduce(s.send.data(), s.recv.data(), 2, MPI_INT, op, s.comm, &request);
        EXPECT(class_of(code) == (wrong ? MPI_ERR_OP : MPI_SUCCESS));
        if (!wrong) {
            EXPECT(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE);
        }
    }
    {
        Scene s;
        MPI_Request request = MPI_REQUEST_NULL;
        const int code = PERSISTENT(Allreduce)(s.send.data(), s.recv.data(), 2, MPI_INT, op, s.comm,
                                               MPI_INFO_NULL, &request);
        EXPECT(class_of(code) == (wrong ? MPI_ERR_OP : MPI_ERR_TRUNCATE));
    }
    if (who == 0) {
        // One rank alone gives its call to Open MPI, whose numbers of calls differ then. Other
        // ranks would wait in it for those before them.
        Scene s;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Iscan(s.send.data(), s.recv.data(), 2, wrong ? MPI_CHAR : MPI_INT, MPI_SUM, s.comm,
                  &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        int sum = -1;
        MPI_Barrier(s.comm);
        EXPECT(MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, s.comm, &request) == MPI_SUCCESS);
        EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        EXPECT(sum == ranks * (ranks - 1) / 2);
    }
    {
        Scene s;  // the others' calls wait until they are waited for
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Igather(s.send.data(), wrong ? -1 : 2, MPI_INT, s.recv.data(), 2, MPI_INT, who, s.comm,
                    &request);
        MPI_Barrier(s.comm);
        int sum = -1;
        EXPECT(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, s.comm) == MPI_SUCCESS);
        EXPECT(sum == ranks * (ranks - 1) / 2);
        if (!wrong) {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
}
#endif

}  // namespace

void check_wrong_arguments(bool looks_first) {
    if (is_mpich()) {
        check_null_buffers();
        check_uncommitted_types();
        check_too_long_blocks();
        for (int who = 0; who < ranks; ++who) {
            check_what_the_root_misses(who);
        }
    }
    for (int who = 0; who < ranks; ++who) {
        check_what_one_rank_has_too_long(who, looks_first);
        check_what_one_rank_has_wrong(who);
        check_calls_of_one_rank(who);
        check_own_error_handler(who);
#if defined(OPEN_MPI)
        if (looks_first) {
            check_requests_that_one_rank_has_wrong(who);
        }
#endif
    }
}

/// No block of a rank has data, so it names no datatypes; the others have some.
void check_alltoallw_of_some() {
    const auto n = static_cast<std::size_t>(ranks);
    std::vector<int> sent(n), received(n), send_places(n), recv_places(n);
    std::vector<MPI_Datatype> send_types(n, MPI_INT), recv_types(n, MPI_INT);
    for (int r = 0; r < ranks; ++r) {
        const auto at = static_cast<std::size_t>(r);
        const bool some = r != 0 && rank != 0;
        sent[at] = received[at] = some ? 1 : 0;
        send_places[at] = recv_places[at] = r * static_cast<int>(sizeof(int));
        // Open MPI wants a datatype everywhere.
        send_types[at] = recv_types[at] = some || !is_mpich() ? MPI_INT : MPI_DATATYPE_NULL;
    }
    const std::vector<int> data = inputs(rank, ranks);
    std::vector<int> got(n, -1);
    EXPECT(MPI_Alltoallw(data.data(), sent.data(), send_places.data(), send_types.data(),
                         got.data(), received.data(), recv_places.data(), recv_types.data(),
                         MPI_COMM_WORLD) == MPI_SUCCESS);
    for (int r = 1; rank != 0 && r < ranks; ++r) {
        EXPECT(got[static_cast<std::size_t>(r)] == input(r, rank));
    }
}

/// One buffer for both sides of calls with neighbours, which neither MPI reports.
void check_aliased_neighbours() {
    const std::array<int, 1> sizes{ranks}, periodic{1};
    MPI_Comm ring = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, sizes.data(), periodic.data(), 0, &ring);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    std::array<int, 2> data{input(rank, 0), input(rank, 1)};
    EXPECT(MPI_Neighbor_allgather(data.data(), 1, MPI_INT, data.data(), 1, MPI_INT, ring) ==
           MPI_SUCCESS);
    data = {input(rank, 0), input(rank, 1)};
    EXPECT(MPI_Neighbor_alltoall(data.data(), 1, MPI_INT, data.data(), 1, MPI_INT, ring) ==
           MPI_SUCCESS);
    MPI_Comm_free(&ring);
}

}  // namespace trefoil::mpi::test
