// SPDX-License-Identifier: BSD-3-Clause
// One rank of an MPI program that is to be disturbed in MPI_Init or MPI_Finalize, under the layer.
//
// Usage: reliability_mpi_rank_MPI STOP_FILE PHASE FAULT RANK MICROSECONDS AMOUNT, as
// reliability_rank; PHASE is MPI_Init or MPI_Finalize. The lines of the output are those of that
// program, and "signal": one has come that ends the process.
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "mpi/api.hpp"
#include "strike.hpp"

namespace trefoil::test {
namespace {

constexpr int exit_failed = 3;
constexpr int exit_wrong = 5;
/// Of rounds, in seconds: nobody may run for ever.
constexpr double longest = 60;

/// Before MPI can say so.
int own_rank() {
    for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
        if (const char* const text = std::getenv(name)) {
            return std::atoi(text);
        }
    }
    return -1;
}

/// Tells what ends this process, as its parent is the launcher.
void tell_signal(int number) {
    std::array<char, 16> line{'s', 'i', 'g', 'n', 'a', 'l', ' ', '0', ' '};
    line[9] = static_cast<char>('0' + number / 10);
    line[10] = static_cast<char>('0' + number % 10);
    line[11] = '\n';
    if (write(STDOUT_FILENO, line.data(), 12) != 12) {
        _exit(1);
    }
    raise(number);
}

void tell_signals() {
    for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTERM}) {
        struct sigaction action = {};
        action.sa_handler = tell_signal;
        action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
        sigaction(number, &action, nullptr);
    }
}

/// The end of a rank whose call failed. MPI_Finalize would wait for those that are dead.
[[noreturn]] void fail(int code, const char* call) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    std::string line(text.data(), static_cast<std::size_t>(length));
    for (char& letter : line) {
        letter = letter == '\n' ? ' ' : letter;
    }
    report("failed", std::to_string(code) + " " + call + " " + line);
    _exit(exit_failed);
}

/// A checked allreduce. True: rank 0 has seen the file, or enough time has passed.
bool round_is_last(int number, const char* stop_file, double end) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const bool stop = rank == 0 && (access(stop_file, F_OK) == 0 || monotonic_seconds() > end);
    std::array<int, 3> mine{number, rank, stop ? 1 : 0}, sum{};
    const int code = MPI_Allreduce(mine.data(), sum.data(), static_cast<int>(mine.size()), MPI_INT,
                                   MPI_SUM, MPI_COMM_WORLD);
    if (code != MPI_SUCCESS) {
        fail(code, "MPI_Allreduce");
    }
    if (sum[0] != number * ranks || sum[1] != ranks * (ranks - 1) / 2) {
        report("wrong", "allreduce " + std::to_string(number));
        _exit(exit_wrong);
    }
    return sum[2] != 0;
}

int run(int argc, char** argv) {
    const std::string phase = argv[2];
    const Fault fault{argv[3], std::atof(argv[5]) * 1e-6, std::atol(argv[6])};
    const bool mine = own_rank() == std::atoi(argv[4]);
    Striker striker;
    tell_signals();
    report("started", std::to_string(getpid()));
    if (phase == "MPI_Init") {
        report("phase", phase);
        if (mine) {
            striker.arm(fault);
        }
    }
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS) {
        report("failed", "0 MPI_Init");
        return exit_failed;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    report("created");
    const bool finalizes = phase == "MPI_Finalize";
    const double end = monotonic_seconds() + longest;
    for (int i = 1; !round_is_last(i, argv[1], end) && !(finalizes && i == 5); ++i) {
    }
    if (finalizes) {
        report("phase", phase);
        if (mine) {
            striker.arm(fault);
        }
    }
    MPI_Finalize();
    report("done");
    return 0;
}

}  // namespace
}  // namespace trefoil::test

int main(int argc, char** argv) {
    if (argc != 7) {
        std::fprintf(stderr, "usage: %s STOP_FILE PHASE FAULT RANK MICROSECONDS AMOUNT\n", argv[0]);
        return 2;
    }
    return trefoil::test::run(argc, argv);
}
