// SPDX-License-Identifier: BSD-3-Clause
// `trefoil-simgrid`: times one collective by SimGrid, for `trefoil sim --engine simgrid`.
//
// A program of its own, as SimGrid has one engine per process and takes some time to load.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/simgrid/job.hpp"
#include "bench/simgrid/platform.hpp"
#include "bench/simgrid/ranks.hpp"

namespace {

using namespace trefoil::simgrid_engine;

/// What makes SimGrid a plain model of flows: max-min fair, no TCP window, no share lost to
/// acknowledgements, links without latency; and contexts for many thousand small actors.
constexpr const char* settings[] = {"--cfg=network/model:CM02",     "--cfg=network/crosstraffic:0",
                                    "--cfg=network/TCP-gamma:0",    "--cfg=network/weight-S:0",
                                    "--cfg=contexts/stack-size:64", "--cfg=contexts/guard-size:0",
                                    "--log=root.thres:error"};

double simulate(const Job& job, double vector_bytes, char* program) {
    std::vector<std::string> words(std::begin(settings), std::end(settings));
    std::vector<char*> arguments{program};
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    simgrid::s4u::Engine engine(&count, arguments.data());
    if (job.messages.empty()) {
        return 0;
    }
    const Platform platform(job);
    Ranks ranks(job, platform, vector_bytes);
    ranks.begin();
    engine.run();
    if (ranks.left() > 0) {
        throw std::runtime_error(std::to_string(ranks.left()) + " messages were never sent");
    }
    return ranks.last();
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc != 2) {
            throw std::invalid_argument(
                "give the bytes of the vector, and the job on standard input; "
                "trefoil sim --engine simgrid does");
        }
        const Job job = read_job(std::cin);
        std::printf("%.17g\n", simulate(job, std::stod(argv[1]), argv[0]));
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "trefoil-simgrid: %s\n", error.what());
        return 1;
    }
}
