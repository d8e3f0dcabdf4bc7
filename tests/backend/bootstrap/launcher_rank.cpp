// SPDX-License-Identifier: BSD-3-Clause
// A program that launchers start as ranks: it makes communicators from the environment alone.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "include/trefoil/trefoil.h"

namespace {

[[noreturn]] void give_up() {
    std::printf("error %s\n", trefoil_last_error(nullptr));
    std::fflush(stdout);
    std::_Exit(3);
}

void require(trefoil_status_t status) {
    if (status != TREFOIL_SUCCESS) {
        give_up();
    }
}

trefoil_comm_t create() {
    trefoil_comm_t comm = nullptr;
    require(trefoil_comm_create(nullptr, &comm));
    return comm;
}

long long sum_of_ranks(trefoil_comm_t comm) {
    int rank = 0;
    require(trefoil_comm_rank(comm, &rank));
    long long value = rank + 1;
    require(trefoil_allreduce(TREFOIL_IN_PLACE, &value, 1, TREFOIL_INT64, TREFOIL_SUM, comm));
    return value;
}

/// One write, so that lines of several ranks do not mix.
void report(trefoil_comm_t comm) {
    int rank = 0;
    int ranks = 0;
    const long long sum = sum_of_ranks(comm);
    require(trefoil_comm_rank(comm, &rank));
    require(trefoil_comm_size(comm, &ranks));
    require(trefoil_barrier(comm));
    std::printf("rank %d of %d: sum %lld\n", rank, ranks, sum);
    std::fflush(stdout);
}

/// Communicators one after the other, and two at once, first used in an order that differs between
/// the ranks and from two threads.
void use_several() {
    for (int i = 0; i < 3; ++i) {
        trefoil_comm_t comm = create();
        sum_of_ranks(comm);
        require(trefoil_barrier(comm));
        require(trefoil_comm_destroy(comm));
    }
    trefoil_comm_t comms[2] = {create(), create()};
    int rank = 0;
    require(trefoil_comm_rank(comms[0], &rank));
    const auto use = [&](int which) { sum_of_ranks(comms[which]); };
    std::thread other(use, (rank + 1) % 2);
    use(rank % 2);
    other.join();
    report(comms[0]);
    for (trefoil_comm_t comm : comms) {
        require(trefoil_barrier(comm));
        require(trefoil_comm_destroy(comm));
    }
}

/// A child that ends in the ordinary way must not end its parent's connection.
void fork_and_go_on() {
    trefoil_comm_t comm = create();
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        std::exit(0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) {
        std::printf("error the child ended with status %d\n", status);
        std::_Exit(3);
    }
    trefoil_comm_t another = create();
    report(another);
    require(trefoil_comm_destroy(another));
    require(trefoil_comm_destroy(comm));
}

bool is_rank_one() {
    for (const char* name : {"TREFOIL_RANK", "PMIX_RANK", "PMI_RANK"}) {
        const char* value = std::getenv(name);
        if (value != nullptr) {
            return std::string(value) == "1";
        }
    }
    return false;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string what = count > 1 ? arguments[1] : "";
    if (what == "sum") {
        trefoil_comm_t comm = create();
        report(comm);
        require(trefoil_comm_destroy(comm));
    } else if (what == "several") {
        use_several();
    } else if (what == "fork") {
        fork_and_go_on();
    } else if (what == "leave") {
        // In place when the process ends; volatile, so that it really is kept.
        static trefoil_comm_t volatile kept;
        kept = create();
        report(kept);
    } else if (what == "late") {
        if (is_rank_one()) {
            std::this_thread::sleep_for(std::chrono::seconds(2));  // longer than TREFOIL_TIMEOUT
            return 0;
        }
        create();
    } else {
        std::fprintf(stderr, "usage: launcher_rank sum|several|fork|leave|late\n");
        return 2;
    }
    return 0;
}
