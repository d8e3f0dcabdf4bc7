// SPDX-License-Identifier: BSD-3-Clause
// An MPI program whose collectives do not block. It checks its own results, and does what MPI
// allows and a layer can get wrong: right with the layer and without it.
#include "in_flight.hpp"

#include <chrono>
#include <random>
#include <string_view>
#include <thread>

using namespace trefoil::mpi::test;

namespace {

/// The first calls of communicators do not block, come in another order on each rank, and one rank
/// needs a message first that another sends before its own.
void check_first_calls() {
    MPI_Comm comms[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Request requests[2];
    int sums[2] = {0, 0}, token = 0;
    const int values[2] = {input(rank, 0), input(rank, 1)};
    for (int i = 0; i < 2; ++i) {
        const int which = (rank + i) % 2;
        MPI_Iallreduce(&values[which], &sums[which], 1, MPI_INT, MPI_SUM, comms[which],
                       &requests[i]);
        if (i == 0 && rank == 0) {
            MPI_Ssend(&token, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
        } else if (i == 0 && rank == 1) {
            MPI_Recv(&token, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    EXPECT(sums[0] == sum_before(ranks, 0) && sums[1] == sum_before(ranks, 1));
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
}

/// Two communicators, in opposite orders, both under way at the same time; then a call that blocks
/// on one while the other's goes on.
void check_orders() {
    MPI_Comm comms[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Request requests[2];
    int values[2] = {input(rank, 0), input(rank, 1)}, sums[2] = {0, 0};
    for (int i = 0; i < 2; ++i) {
        const int which = (rank + i) % 2;
        MPI_Iallreduce(&values[which], &sums[which], 1, MPI_INT, MPI_SUM, comms[which],
                       &requests[which]);
    }
    // Some wait before the barrier, some after it.
    if (rank % 2 == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (rank % 2 != 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    EXPECT(sums[0] == sum_before(ranks, 0) && sums[1] == sum_before(ranks, 1));
    // Blocking and nonblocking calls of one communicator, the first of them not blocking; those
    // that MPI runs among them.
    MPI_Comm mixed = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &mixed);
    long double odd = rank, odd_sum = 0;
    int last = rank == 0 ? 42 : 0;
    MPI_Iallreduce(&values[0], &sums[0], 1, MPI_INT, MPI_SUM, mixed, &requests[0]);
    MPI_Iallreduce(&odd, &odd_sum, 1, MPI_LONG_DOUBLE, MPI_SUM, mixed, &requests[1]);
    MPI_Bcast(&last, 1, MPI_INT, 0, mixed);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    EXPECT(last == 42 && sums[0] == sum_before(ranks, 0) && odd_sum == ranks * (ranks - 1) / 2);
    for (MPI_Comm* const comm : {&comms[0], &comms[1], &mixed}) {
        MPI_Comm_free(comm);
    }
}

/// Communicators and datatypes that are freed while calls need them; a copy that is made meanwhile.
void check_freed_early() {
    for (int i = 0; i < 5; ++i) {
        MPI_Comm comm = MPI_COMM_NULL, copy = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Datatype gaps = MPI_DATATYPE_NULL;
        MPI_Type_vector(4, 1, 2, MPI_INT, &gaps);
        MPI_Type_commit(&gaps);
        Ints data = filled(8, rank == 0 ? i : -1), sums = filled(4), mine = inputs(rank, 4);
        MPI_Request requests[3];
        MPI_Ibcast(data.data(), 1, gaps, 0, comm, &requests[0]);
        MPI_Iallreduce(mine.data(), sums.data(), 4, MPI_INT, MPI_SUM, comm, &requests[1]);
        MPI_Comm_idup(comm, &copy, &requests[2]);
        MPI_Type_free(&gaps);
        MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
        MPI_Comm_free(&comm);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        EXPECT(data[0] == i && data[2] == i && data[6] == i && is_sum(sums, ranks));
        EXPECT(rank == 0 || data[1] == -1);
        int sum = 0;
        MPI_Allreduce(&mine[0], &sum, 1, MPI_INT, MPI_SUM, copy);
        EXPECT(sum == sum_before(ranks, 0));
        MPI_Comm_free(&copy);
    }
}

/// A datatype for each peer, all freed at once. On a communicator with a topology Open MPI 4.1
/// keeps only as many as there are neighbours.
void check_freed_lists() {
    const int no = 0;
    MPI_Comm line = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &no, 0, &line);
    const auto peers = static_cast<std::size_t>(ranks);
    const std::vector<int> ones(peers, 1);
    std::vector<int> places(peers), data(6 * peers, -1), sent(3 * peers), send_places(peers);
    std::vector<MPI_Datatype> gaps(peers, MPI_DATATYPE_NULL), threes(gaps), others(gaps);
    for (std::size_t p = 0; p < peers; ++p) {
        places[p] = static_cast<int>(6 * p * sizeof(int));
        send_places[p] = static_cast<int>(3 * p * sizeof(int));
        MPI_Type_vector(3, 1, 2, MPI_INT, &gaps[p]);
        MPI_Type_contiguous(3, MPI_INT, &threes[p]);
        MPI_Type_commit(&gaps[p]);
        MPI_Type_commit(&threes[p]);
        for (std::size_t i = 0; i < 3; ++i) {
            sent[3 * p + i] = input(rank, static_cast<int>(10 * p + i));
        }
    }
    if (rank == 0) {  // the others' calls are under way when their types are freed
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ialltoallw(sent.data(), ones.data(), send_places.data(), threes.data(), data.data(),
                   ones.data(), places.data(), gaps.data(), line, &request);
    for (std::size_t p = 0; p < peers; ++p) {
        MPI_Datatype first = threes[p], second = gaps[p];
        MPI_Type_free(&first);
        MPI_Type_free(&second);
    }
    for (MPI_Datatype& other : others) {  // which take their memory
        MPI_Type_vector(2, 2, 3, MPI_CHAR, &other);
        MPI_Type_commit(&other);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (std::size_t p = 0; p < peers; ++p) {
        for (std::size_t i = 0; i < 6; ++i) {
            EXPECT(data[6 * p + i] ==
                   (i % 2 == 1 ? -1
                               : input(static_cast<int>(p), 10 * rank + static_cast<int>(i / 2))));
        }
        MPI_Type_free(&others[p]);
    }
    MPI_Comm_free(&line);
}

/// MPI lets each rank start its persistent calls in an order of its own.
void check_starts() {
    constexpr int calls = 4;
    std::vector<Ints> sums(calls, filled(3)), mine;
    std::vector<MPI_Request> requests(calls);
    for (int c = 0; c < calls; ++c) {
        mine.push_back(inputs(rank, 3));
    }
    for (std::size_t c = 0; c < calls; ++c) {
        PERSISTENT(Allreduce)
        (mine[c].data(), sums[c].data(), 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
         &requests[c]);
    }
    std::mt19937 random(static_cast<unsigned>(rank));
    Ints order{0, 1, 2, 3};
    for (int round = 0; round < 20; ++round) {
        std::ranges::shuffle(order, random);
        for (const int c : order) {
            set(sums[size(c)], filled(3));
            MPI_Start(&requests[size(c)]);
        }
        MPI_Waitall(calls, requests.data(), MPI_STATUSES_IGNORE);
        EXPECT(std::ranges::all_of(sums, [](const Ints& one) { return is_sum(one, ranks); }));
    }
    MPI_Startall(calls, requests.data());
    MPI_Waitall(calls, requests.data(), MPI_STATUSES_IGNORE);
    for (MPI_Request& request : requests) {
        MPI_Request_free(&request);
    }
}

void first_of_two(void* in, void* inout, int* count, MPI_Datatype*) {
    std::copy_n(static_cast<int*>(in), *count, static_cast<int*>(inout));
}

/// What a persistent call needs is freed before its start. MPI allows it; Open MPI 4.1.4 by itself
/// crashes, so this is asked for.
void check_freed_before_start() {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(first_of_two, 0, &op);
    MPI_Datatype gaps = MPI_DATATYPE_NULL;
    MPI_Type_vector(4, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    const Ints send = inputs(rank, 5);
    Ints recv = filled(5), data = filled(8);
    MPI_Request requests[2];
    PERSISTENT(Allreduce)
    (send.data(), recv.data(), 5, MPI_INT, op, comm, MPI_INFO_NULL, &requests[0]);
    PERSISTENT(Bcast)(data.data(), 1, gaps, 0, comm, MPI_INFO_NULL, &requests[1]);
    MPI_Op_free(&op);
    MPI_Type_free(&gaps);
    MPI_Comm_free(&comm);
    for (int start = 0; start < 3; ++start) {
        set(recv, filled(5));
        set(data, filled(8, rank == 0 ? start : -1));
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        EXPECT(recv == inputs(0, 5) && data[0] == start && data[6] == start);
        EXPECT(rank == 0 || data[1] == -1);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/// Its communicator is freed, and the request never: MPI_Finalize does not wait for that.
void leave_unfreed() {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    static const Ints send = inputs(rank, 5);
    static Ints recv = filled(5);
    MPI_Request request = MPI_REQUEST_NULL;
    PERSISTENT(Allreduce)
    (send.data(), recv.data(), 5, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
    MPI_Comm_free(&comm);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(recv[0] == sum_before(ranks, 0));
}

/// Many calls of all sizes in flight, ended in any order.
void check_many(MPI_Comm comm, unsigned seed) {
    std::mt19937 shared(seed), own(seed + static_cast<unsigned>(rank));
    constexpr int most = 16;
    std::vector<MPI_Request> requests(most, MPI_REQUEST_NULL);
    std::vector<Ints> send(most), recv(most), right(most);
    for (int call = 0; call < 400; ++call) {
        int place = 0;
        const auto free = std::ranges::find(requests, MPI_REQUEST_NULL);
        // All ranks begin the same calls; each ends them in its own order.
        if (free == requests.end()) {
            if (own() % 2 == 0) {
                MPI_Waitany(most, requests.data(), &place, MPI_STATUS_IGNORE);
            } else {
                place = static_cast<int>(own() % most);
                MPI_Wait(&requests[size(place)], MPI_STATUS_IGNORE);
            }
        } else {
            place = static_cast<int>(free - requests.begin());
        }
        const auto p = size(place);
        EXPECT(recv[p] == right[p]);
        const int count = 1 << (shared() % 14);
        const int root = static_cast<int>(shared() % static_cast<unsigned>(ranks));
        send[p] = inputs(rank, count);
        recv[p] = filled(size(count));
        right[p].resize(size(count));
        switch (shared() % 3) {
            case 0:
                for (int i = 0; i < count; ++i) {
                    right[p][size(i)] = sum_before(ranks, i);
                }
                MPI_Iallreduce(send[p].data(), recv[p].data(), count, MPI_INT, MPI_SUM, comm,
                               &requests[p]);
                break;
            case 1:
                right[p] = inputs(root, count);
                recv[p] = rank == root ? right[p] : recv[p];
                MPI_Ibcast(recv[p].data(), count, MPI_INT, root, comm, &requests[p]);
                break;
            default:
                recv[p].resize(size(count * ranks), -1);
                right[p].clear();
                for (int r = 0; r < ranks; ++r) {
                    const Ints theirs = inputs(r, count);
                    right[p].insert(right[p].end(), theirs.begin(), theirs.end());
                }
                MPI_Iallgather(send[p].data(), count, MPI_INT, recv[p].data(), count, MPI_INT, comm,
                               &requests[p]);
        }
    }
    MPI_Waitall(most, requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t p = 0; p < most; ++p) {
        EXPECT(recv[p] == right[p]);
    }
}

void check_two_threads(bool many_threads) {
    MPI_Comm comms[2];
    for (MPI_Comm& comm : comms) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    }
    if (many_threads) {
        std::thread other([&] { check_many(comms[1], 5); });
        check_many(comms[0], 6);
        other.join();
    }
    for (MPI_Comm& comm : comms) {
        MPI_Comm_free(&comm);
    }
}

/// As MPI has them: a call with wrong arguments is refused at once, and the next ones are right.
void check_refusals() {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Request request = MPI_REQUEST_NULL;
    int value = input(rank, 0), sum = 0;
    EXPECT(MPI_Iallreduce(&value, &sum, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request) !=
           MPI_SUCCESS);
    EXPECT(MPI_Ibcast(&value, 1, MPI_INT, ranks, MPI_COMM_WORLD, &request) != MPI_SUCCESS);
    EXPECT(MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request) ==
           MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(sum == sum_before(ranks, 0));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

}  // namespace

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    look_at(MPI_COMM_WORLD);
    check_first_calls();  // before any call on MPI_COMM_WORLD
    check_every_way();
    check_orders();
    check_freed_early();
    check_freed_lists();
    if (try_persistent) {
        check_starts();
    }
    check_many(MPI_COMM_WORLD, 4);
    check_two_threads(provided == MPI_THREAD_MULTIPLE);
    check_refusals();
    if (argc > 1 && std::string_view(argv[1]) == "freed") {
        check_freed_before_start();
        leave_unfreed();
    }
    return finish();
}
