// SPDX-License-Identifier: BSD-3-Clause
// Buffered sends whose room suffices for one round: a barrier says that all of a round have been
// received, so the next one finds the room again. From several threads, if MPI has them.
#include <array>
#include <thread>

#include "check.hpp"

using namespace trefoil::mpi::test;

namespace {

constexpr int threads = 4, messages = 8, numbers = 4096, rounds = 20;

void make_round(bool several) {
    const auto work = [](int tag) {
        std::vector<int> data(numbers, tag);
        for (int i = 0; i < messages; ++i) {
            if (rank == 0) {
                EXPECT(MPI_Bsend(data.data(), numbers, MPI_INT, 1, tag, MPI_COMM_WORLD) ==
                       MPI_SUCCESS);
            } else if (rank == 1) {
                MPI_Recv(data.data(), numbers, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
        }
    };
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) {
        if (several) {
            others.emplace_back(work, t);
        } else {
            work(t);
        }
    }
    work(0);
    for (std::thread& one : others) {
        one.join();
    }
}

}  // namespace

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    look_at(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    constexpr int room =
        threads * messages * (numbers * static_cast<int>(sizeof(int)) + MPI_BSEND_OVERHEAD);
    std::vector<char> buffer(room);
    MPI_Buffer_attach(buffer.data(), room);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < rounds && failures == 0; ++i) {
        make_round(provided == MPI_THREAD_MULTIPLE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (failures > 0) {  // the other rank waits for what could not be sent
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return finish();
}
