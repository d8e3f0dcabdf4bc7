// SPDX-License-Identifier: BSD-3-Clause
// A program that launchers start as ranks: it makes communicators from the environment alone, or
// with an allgather of its own.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "backend/bootstrap/bootstrap.hpp"
#include "backend/bootstrap/launcher_store.hpp"
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

int number_in(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? 0 : std::atoi(value);
}

int own_rank() {
    for (const char* name : {"TREFOIL_RANK", "PMIX_RANK", "PMI_RANK"}) {
        if (std::getenv(name) != nullptr) {
            return number_in(name);
        }
    }
    return 0;
}

/// An allgather that waits for ever, as MPI's does.
int gather_for_ever(const void* mine, void* all, size_t bytes, void* meeting) {
    const auto blobs = static_cast<trefoil::Bootstrap*>(meeting)->allgather(
        std::string(static_cast<const char*>(mine), bytes));
    char* place = static_cast<char*>(all);
    for (const std::string& blob : blobs) {
        place = std::copy(blob.begin(), blob.end(), place);
    }
    return 0;
}

/// LAUNCHER_RANK_MEETS=host:port of a store: the allgather is this program's own.
/// LAUNCHER_RANK_TOKEN: the program gives the token.
trefoil_status_t try_to_create(trefoil_comm_t* comm) {
    const char* place = std::getenv("LAUNCHER_RANK_MEETS");
    const char* token = std::getenv("LAUNCHER_RANK_TOKEN");
    if (place == nullptr && token == nullptr) {
        return trefoil_comm_create(nullptr, comm);
    }
    trefoil_config_t config = TREFOIL_CONFIG_INITIALIZER;
    if (place == nullptr) {
        config.token = token;
        return trefoil_comm_create(&config, comm);
    }
    using namespace trefoil;
    static const StoreAddress address = parse_store_address(place);
    static const int ranks = number_in("LAUNCHER_RANK_OF");
    static const std::unique_ptr<Bootstrap> meeting = make_store_bootstrap(
        {address.host, address.port, {}, own_rank(), ranks, std::chrono::hours(1)}, "own");
    config.rank = own_rank();
    config.ranks = ranks;
    config.allgather = gather_for_ever;
    config.context = meeting.get();
    return trefoil_comm_create(&config, comm);
}

trefoil_comm_t create() {
    trefoil_comm_t comm = nullptr;
    require(try_to_create(&comm));
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

/// One write, and then the others' are waited for: a launcher may end them when one has failed.
void report_error(trefoil_status_t status) {
    std::printf("error of rank %d: %s: %s\n", own_rank(), trefoil_status_string(status),
                trefoil_last_error(nullptr));
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::seconds(1));
}

void limit(__rlimit_resource resource, rlim_t most) {
    rlimit values{};
    getrlimit(resource, &values);
    values.rlim_cur = most;
    setrlimit(resource, &values);
}

/// Between the creation and the first call rank 4 loses what it needs for connections.
void starve(const std::string& of_what) {
    trefoil_comm_t comm = create();
    if (own_rank() == 4 && of_what == "files") {
        limit(RLIMIT_NOFILE, 3);
    } else if (own_rank() == 4) {
        long pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        limit(RLIMIT_AS, static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE)) + (1 << 20));
    }
    long long value = 1;
    const trefoil_status_t status =
        trefoil_allreduce(TREFOIL_IN_PLACE, &value, 1, TREFOIL_INT64, TREFOIL_SUM, comm);
    report_error(status);
    trefoil_comm_destroy(comm);
}

/// Communicators one after the other, for a second or two.
void come_again(int times) {
    int right = 0, ranks = 0;
    for (int i = 0; i < times; ++i) {
        trefoil_comm_t comm = create();
        require(trefoil_comm_size(comm, &ranks));
        right += sum_of_ranks(comm) == ranks * (ranks + 1) / 2 ? 1 : 0;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        require(trefoil_barrier(comm));
        require(trefoil_comm_destroy(comm));
    }
    std::printf("rank %d of %d: %d sums of %d\n", own_rank(), ranks, right,
                ranks * (ranks + 1) / 2);
}

/// Rank 4 is given nonsense by its environment; then all try again without.
void mislead() {
    if (own_rank() == 4) {
        setenv("TREFOIL_SEGMENT_BYTES", "a lot", 1);
    }
    trefoil_comm_t comm = nullptr;
    report_error(try_to_create(&comm));
    unsetenv("TREFOIL_SEGMENT_BYTES");
    comm = create();
    report(comm);
    require(trefoil_comm_destroy(comm));
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
        if (own_rank() == 1) {
            std::this_thread::sleep_for(std::chrono::seconds(2));  // longer than TREFOIL_TIMEOUT
            return 0;
        }
        create();
    } else if (what == "starve" && count > 2) {
        starve(arguments[2]);
    } else if (what == "again" && count > 2) {
        come_again(std::atoi(arguments[2]));
    } else if (what == "mislead") {
        mislead();
    } else {
        std::fprintf(stderr,
                     "usage: launcher_rank sum|several|fork|leave|late|mislead|again TIMES|starve "
                     "files|starve "
                     "memory\n");
        return 2;
    }
    return 0;
}
