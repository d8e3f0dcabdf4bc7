// SPDX-License-Identifier: BSD-3-Clause
// Several threads in MPI at the same time: each makes calls of all kinds on a communicator of its
// own, blocking and not, and makes and frees communicators, datatypes and operations; two others
// exchange messages meanwhile. Which thread has which communicator differs between ranks.
#include "in_flight.hpp"

#include <random>
#include <thread>

using namespace trefoil::mpi::test;

namespace {

constexpr int workers = 3, calls = 40, rounds = 2;

/// `rank` and `failures` of check.hpp are the main thread's.
struct Worker {
    MPI_Comm comm = MPI_COMM_NULL;
    int number = 0;  ///< the same on all ranks of `comm`
    int wrong = 0, own = 0, all = 0;

    void expect(bool good) { wrong += good ? 0 : 1; }
    void wait(MPI_Request& request, bool tests) {
        int done = 0;
        while (tests && done == 0) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    void reduce(int count, bool in_flight) {
        const Ints mine = inputs(own, count);
        Ints sums = filled(size(count));
        if (in_flight) {
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Iallreduce(mine.data(), sums.data(), count, MPI_INT, MPI_SUM, comm, &request);
            wait(request, own % 2 == 0);
        } else {
            MPI_Allreduce(mine.data(), sums.data(), count, MPI_INT, MPI_SUM, comm);
        }
        expect(is_sum(sums, all));
        MPI_Scan(mine.data(), sums.data(), count, MPI_INT, MPI_SUM, comm);
        expect(is_sum(sums, own + 1));
    }
    void broadcast(int count, int root, bool in_flight) {
        Ints data = own == root ? inputs(root, count) : filled(size(count));
        if (in_flight) {
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Ibcast(data.data(), count, MPI_INT, root, comm, &request);
            wait(request, own % 2 != 0);
        } else {
            MPI_Bcast(data.data(), count, MPI_INT, root, comm);
        }
        expect(data == inputs(root, count));
    }
    void exchange(int count) {
        Ints sent, got = filled(size(count * all));
        for (int r = 0; r < all; ++r) {
            const Ints mine = inputs(own, count);
            sent.insert(sent.end(), mine.begin(), mine.end());
        }
        MPI_Alltoall(sent.data(), count, MPI_INT, got.data(), count, MPI_INT, comm);
        for (int r = 0; r < all; ++r) {
            const Ints theirs = inputs(r, count);
            expect(std::equal(theirs.begin(), theirs.end(), got.begin() + r * count));
        }
    }
    void copy_communicator() {
        MPI_Comm copy = MPI_COMM_NULL;
        MPI_Comm_dup(comm, &copy);
        int one = 1, sum = 0;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy);
        expect(sum == all);
        MPI_Comm_free(&copy);
    }
    void make_handles(int root) {
        MPI_Op last = MPI_OP_NULL;
        MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 0, &last);
        int mine = own, got = -1;
        MPI_Allreduce(&mine, &got, 1, MPI_INT, last, comm);
        expect(got == all - 1);
        MPI_Op_free(&last);
        MPI_Datatype gaps = MPI_DATATYPE_NULL;
        MPI_Type_vector(50, 1, 2, MPI_INT, &gaps);
        MPI_Type_commit(&gaps);
        Ints data = filled(100, own == root ? number : -1);
        MPI_Bcast(data.data(), 1, gaps, root, comm);
        expect(data[98] == number && (own == root || data[99] == -1));
        MPI_Type_free(&gaps);
    }
    void work() {
        MPI_Comm_rank(comm, &own);
        MPI_Comm_size(comm, &all);
        std::mt19937 random(static_cast<unsigned>(number));
        for (int call = 0; call < calls; ++call) {
            const int count = 1 << (random() % 13);
            const int root = static_cast<int>(random() % static_cast<unsigned>(all));
            const bool in_flight = random() % 2 == 0;
            switch (random() % 6) {
                case 0:
                    reduce(count, in_flight);
                    break;
                case 1:
                    broadcast(count, root, in_flight);
                    break;
                case 2:
                    exchange(count / 8 + 1);
                    break;
                case 3:
                    copy_communicator();
                    break;
                case 4:
                    make_handles(root);
                    break;
                default:
                    MPI_Barrier(comm);
            }
        }
    }
    /// Messages around the ring: short and long, some of which wait for their receiver.
    void send_around() {
        MPI_Comm_rank(comm, &own);
        MPI_Comm_size(comm, &all);
        const int left = (own + all - 1) % all, right = (own + 1) % all;
        for (int call = 0; call < calls; ++call) {
            const int count = call % 5 == 0 ? 20000 : call + 1;
            const Ints mine = inputs(own, count);
            Ints theirs = filled(size(count));
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Irecv(theirs.data(), count, MPI_INT, left, call, comm, &request);
            (call % 3 == 0 ? MPI_Ssend : MPI_Send)(mine.data(), count, MPI_INT, right, call, comm);
            wait(request, call % 2 == 0);
            expect(theirs == inputs(left, count));
        }
    }
};

void check_round() {
    std::vector<Worker> all(workers + 2);
    for (int w = 0; w < workers + 2; ++w) {
        Worker& worker = all[size(w)];
        worker.number = w;
        if (w == 1) {
            MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &worker.comm);
        } else {
            MPI_Comm_dup(MPI_COMM_WORLD, &worker.comm);
        }
    }
    std::vector<std::thread> threads;
    for (int t = 0; t < workers; ++t) {
        threads.emplace_back(&Worker::work, &all[size((t + rank) % workers)]);
    }
    threads.emplace_back(&Worker::send_around, &all[workers]);
    if (ranks > 1) {  // MPICH 4.0.2 waits for ever for itself
        all[workers + 1].send_around();
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (Worker& worker : all) {
        EXPECT(worker.wrong == 0);
        MPI_Comm_free(&worker.comm);
    }
}

}  // namespace

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    look_at(MPI_COMM_WORLD);
    for (int round = 0; round < rounds && provided == MPI_THREAD_MULTIPLE; ++round) {
        check_round();
    }
    return finish();
}
