// SPDX-License-Identifier: BSD-3-Clause
// What hundreds of communicators cost that are made from one: a row per way to make them. Run by
// several ranks: trefoil run --torus 3x3 -- trefoil_communicators [how many].
#include <dirent.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "trefoil/trefoil.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double resident_bytes() {
    std::ifstream file("/proc/self/statm");
    long size = 0, resident = 0;
    file >> size >> resident;
    return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

int entries_of(const char* folder) {
    int entries = 0;
    DIR* const directory = opendir(folder);
    while (directory != nullptr && readdir(directory) != nullptr) {
        ++entries;
    }
    closedir(directory);
    return entries;
}

void use(trefoil::Comm& comm) {
    double sum = 1;
    comm.allreduce(std::span(&sum, 1));
    if (sum != comm.size()) {
        std::printf("a wrong sum: %g of %d ranks\n", sum, comm.size());
        std::exit(EXIT_FAILURE);
    }
}

double microseconds(Clock::duration time, int count) {
    return std::chrono::duration<double, std::micro>(time).count() / count;
}

/// They stay, in `made`: the next ones do not get their memory.
void measure(const char* way, trefoil::Comm& whole, int count, std::vector<trefoil::Comm>& made,
             const std::function<trefoil::Comm()>& make) {
    made.reserve(made.size() + static_cast<std::size_t>(count));
    whole.barrier();
    const double before = resident_bytes();
    const int descriptors = entries_of("/proc/self/fd"), threads = entries_of("/proc/self/task");
    Clock::duration making{}, using_first{};
    for (int i = 0; i < count; ++i) {
        const auto begin = Clock::now();
        made.push_back(make());
        const auto there = Clock::now();
        use(made.back());
        using_first += Clock::now() - there;
        making += there - begin;
    }
    whole.barrier();
    const double bytes = (resident_bytes() - before) / count;
    const int more_descriptors = entries_of("/proc/self/fd") - descriptors;
    const int more_threads = entries_of("/proc/self/task") - threads;
    const int peers = made.back().resources().peers;
    if (whole.rank() == 0) {
        std::printf("| %s | %s %s | %d | %d | %.1f | %.1f | %.1f | %d | %+d | %+d |\n", way,
                    whole.transport().backend.c_str(), whole.transport().provider.c_str(),
                    whole.size(), count, microseconds(making, count),
                    microseconds(using_first, count), bytes / 1024, peers, more_descriptors,
                    more_threads);
        std::fflush(stdout);
    }
    whole.barrier();
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const int count = argc > 1 ? std::atoi(argv[1]) : 1000;
        trefoil::Comm whole;
        use(whole);
        if (whole.rank() == 0) {
            std::printf(
                "| way | transport | ranks | communicators | us to make | us for the first call | "
                "KiB resident | peers | descriptors | threads |\n"
                "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
        }
        std::vector<trefoil::Comm> made;
        measure("dup", whole, count, made, [&] { return whole.dup(); });
        for (std::size_t j = 0; whole.torus().size() > 1 && j < whole.torus().size(); ++j) {
            std::vector<bool> keep(whole.torus().size());
            keep[j] = true;
            const std::string way = "sub, dimension " + std::to_string(j);
            measure(way.c_str(), whole, count, made, [&] { return whole.sub(keep); });
        }
        whole.barrier();
        return EXIT_SUCCESS;
    } catch (const trefoil::CallFailed& error) {
        std::printf("%s\n", error.what());
        return EXIT_FAILURE;
    }
}
