// SPDX-License-Identifier: BSD-3-Clause
// In each allgather of a creation, and after the last, all ranks tell whether they still go on: a
// rank that failed on its own would leave the others waiting for it.
#include "mpi/creation.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "mpi/api.hpp"
#include "mpi/layer.hpp"

namespace trefoil::mpi {

namespace {

/// How many descriptors this process has; without /proc, the first that is free, which is no more.
rlim_t descriptors_in_use() {
    std::error_code error;
    rlim_t count = 0;
    for (std::filesystem::directory_iterator each("/proc/self/fd", error), end;
         !error && each != end; each.increment(error)) {
        ++count;
    }
    if (count > 0) {
        return count;
    }
    const int lowest_free = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (lowest_free >= 0) {
        close(lowest_free);
        return static_cast<rlim_t>(lowest_free);
    }
    return errno == EMFILE ? RLIM_INFINITY : 0;
}

/// The program, and the MPI below, get by without Trefoil as long as it leaves them descriptors.
Outcome look_at_descriptors() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || descriptors_in_use() < limit.rlim_cur / 4 * 3) {
        return {};
    }
    return {TREFOIL_ERROR_SYSTEM, "of the descriptors that this process may have (ulimit -n: " +
                                      std::to_string(limit.rlim_cur) +
                                      ") three quarters are in use"};
}

class Creator {
  public:
    Creator(int ranks, const Exchange& exchange)
        : ranks_(static_cast<std::size_t>(ranks)), exchange_(exchange), outer_(here) {
        here = this;
    }
    ~Creator() { here = outer_; }
    Creator(const Creator&) = delete;
    Creator& operator=(const Creator&) = delete;

    /// After all that a rank could do, or could not. If one has failed, all learn from it why,
    /// once.
    void conclude(const Outcome& mine) {
        std::vector<Packet> packets(ranks_);
        exchange_packets(mine, nullptr, 0, packets);
    }
    const Outcome& failure() const { return failure_; }
    bool all_have(bool mine) {
        std::vector<Packet> packets(ranks_);
        const std::byte told{mine};
        return exchange_packets({}, &told, 1, packets) &&
               std::ranges::all_of(packets,
                                   [](const Packet& one) { return one.data[0] != std::byte{0}; });
    }

    static int allgather(const void* mine, void* all, std::size_t bytes, void*) {
        return here->gather(static_cast<const std::byte*>(mine), static_cast<std::byte*>(all),
                            bytes);
    }

  private:
    /// What a rank exchanges, whether it goes on or not; small blocks are in it.
    struct Packet {
        bool failed = false;
        std::array<std::byte, 1023> data;
    };
    int gather(const std::byte* mine, std::byte* all, std::size_t bytes);
    bool exchange_packets(const Outcome& mine, const std::byte* data, std::size_t bytes,
                          std::vector<Packet>& packets);
    void tell(const Outcome& mine);

    std::size_t ranks_;
    const Exchange& exchange_;
    Outcome failure_;
    Creator* outer_;
    // Trefoil calls the allgather from the thread that creates; its context is that of `progress`.
    static thread_local Creator* here;
};
thread_local Creator* Creator::here = nullptr;

int Creator::gather(const std::byte* mine, std::byte* all, std::size_t bytes) {
    std::vector<Packet> packets(ranks_);
    const bool small = bytes <= sizeof Packet{}.data;
    if (!exchange_packets({}, mine, small ? bytes : 0, packets)) {
        return MPI_ERR_OTHER;
    }
    if (!small) {
        return exchange_(mine, all, bytes);
    }
    for (std::size_t r = 0; r < ranks_; ++r) {
        std::copy_n(packets[r].data.begin(), bytes, all + r * bytes);
    }
    return MPI_SUCCESS;
}

/// False: a rank has failed.
bool Creator::exchange_packets(const Outcome& mine, const std::byte* data, std::size_t bytes,
                               std::vector<Packet>& packets) {
    Packet packet{.failed = mine.status != TREFOIL_SUCCESS, .data = {}};
    std::copy_n(data, bytes, packet.data.begin());
    if (exchange_(&packet, packets.data(), sizeof packet) != MPI_SUCCESS) {
        failure_ = {TREFOIL_ERROR_TIMEOUT,
                    "not all ranks of this communicator came to set up Trefoil in time"};
        return false;
    }
    if (std::ranges::none_of(packets, &Packet::failed)) {
        return true;
    }
    tell(mine);
    return false;
}

void Creator::tell(const Outcome& mine) {
    struct Told {
        trefoil_status_t status;
        std::array<char, 508> text;
    };
    Told told{mine.status, {}};
    mine.text.copy(told.text.data(), told.text.size() - 1);
    std::vector<Told> all(ranks_);
    failure_ = {TREFOIL_ERROR_TIMEOUT,
                "a rank could not report to the others why it cannot set up Trefoil"};
    if (exchange_(&told, all.data(), sizeof told) != MPI_SUCCESS) {
        return;
    }
    const auto failing =
        std::ranges::find_if(all, [](const Told& one) { return one.status != TREFOIL_SUCCESS; });
    // Who waited for it in vain is not who has failed.
    auto first = std::ranges::find_if(all, [](const Told& one) {
        return one.status != TREFOIL_SUCCESS && one.status != TREFOIL_ERROR_TIMEOUT &&
               one.status != TREFOIL_ERROR_PEER_LOST;
    });
    first = first == all.end() ? failing : first;
    failure_ = {first->status,
                "rank " + std::to_string(first - all.begin()) +
                    " cannot set up its part of this communicator: " + first->text.data()};
}

Outcome outcome_of(trefoil_status_t status) {
    return {status, status == TREFOIL_SUCCESS ? "" : trefoil_last_error(nullptr)};
}

/// While a Creator is there, to whom the ranks tell what they have.
Outcome make(const Creation& creation, trefoil_comm_t* made) {
    trefoil_config_t config = TREFOIL_CONFIG_INITIALIZER;
    config.rank = creation.rank;
    config.ranks = creation.ranks;
    config.allgather = &Creator::allgather;
    config.progress = creation.progress;
    config.context = creation.context;
    config.torus = creation.torus.empty() ? nullptr : creation.torus.c_str();
    config.port_threads = creation.serial ? -1 : 0;
    config.timeout_seconds = layer.has_time_out ? 0 : std::chrono::duration<double>(no_end).count();
    config.flags =
        TREFOIL_CONFIG_EXPECT_STALLS |
        TREFOIL_CONFIG_ALLOW_OVERLAP |  // neither MPI compares them, nor does its own code
        (creation.find_node ? TREFOIL_CONFIG_FIND_NODE : 0);
    const Outcome descriptors = look_at_descriptors();
    return descriptors.status == TREFOIL_SUCCESS ? outcome_of(trefoil_comm_create(&config, made))
                                                 : descriptors;
}

}  // namespace

Created create(const Creation& creation, const Exchange& exchange) {
    Creator creator(creation.ranks, exchange);
    Created made;
    const bool duplicates =
        creation.may_duplicate && creator.all_have(creation.original != nullptr);
    Outcome mine;
    if (creator.failure().status == TREFOIL_SUCCESS) {
        mine = duplicates ? outcome_of(trefoil_comm_dup(creation.original, &made.comm))
                          : make(creation, &made.comm);
        if (creation.of_world && mine.status == TREFOIL_SUCCESS) {
            mine = outcome_of(trefoil_comm_dup(made.comm, &made.original));
        }
    }
    if (creator.failure().status == TREFOIL_SUCCESS) {  // else an allgather has told already
        creator.conclude(mine);
    }
    made.outcome = creator.failure();
    if (made.outcome.status != TREFOIL_SUCCESS) {
        trefoil_comm_destroy(made.original);
        trefoil_comm_destroy(made.comm);
        made.comm = made.original = nullptr;
    }
    return made;
}

}  // namespace trefoil::mpi
