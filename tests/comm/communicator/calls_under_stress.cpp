// SPDX-License-Identifier: BSD-3-Clause
// A program that attacks calls in flight: random mixes on tori and parts of them, over every
// transport, and a table of what was right.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "stressed_job.hpp"

namespace trefoil::test {
namespace {

constexpr const char* help = R"(usage: test_comm_calls_under_stress [options]
Makes random calls on a torus, a duplicate, lines and planes of it, up to 32 in flight, with ranks
that stall; tests and waits in random order; checks every result. Fails if anything is wrong.
  --calls N           that each rank begins, in each job (100)
  --jobs N            one after the other, on each shape over each transport, each with another
                      seed (1)
  --seed N            of the first job (1)
  --shapes A,B        tori (3x3,2x2x2)
  --transports A,B    memory, and of net, rxm, shm, posix, tcp what is there (all of these)
  --port-threads N    of each rank
  --threads           ranks are threads of one process (else processes)
  --seconds N         that all jobs may take (100); what begins later is left out
  --all-jobs          fails if jobs were left out
)";

struct Options {
    std::size_t calls = 100;
    unsigned jobs = 1, seed = 1;
    std::vector<std::string> shapes{"3x3", "2x2x2"};
    std::vector<std::string> transports;  ///< empty: all
    int port_threads = -1;
    bool threads = false, all_jobs = false;
    double seconds = 100;
};

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (begin <= list.size()) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        parts.push_back(list.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

/// False: they are not understood, or ask for help.
bool read(int count, char** arguments, Options& options) {
    for (int i = 1; i < count; ++i) {
        const std::string name = arguments[i];
        if (name == "--threads") {
            options.threads = true;
            continue;
        }
        if (name == "--all-jobs") {
            options.all_jobs = true;
            continue;
        }
        if (i + 1 == count) {
            return false;
        }
        const char* const value = arguments[++i];
        const auto number = static_cast<unsigned>(std::strtoul(value, nullptr, 10));
        if (name == "--calls") {
            options.calls = number;
        } else if (name == "--jobs") {
            options.jobs = number;
        } else if (name == "--seed") {
            options.seed = number;
        } else if (name == "--shapes") {
            options.shapes = split(value);
        } else if (name == "--transports") {
            options.transports = split(value);
        } else if (name == "--port-threads") {
            options.port_threads = static_cast<int>(number);
        } else if (name == "--seconds") {
            options.seconds = std::strtod(value, nullptr);
        } else {
            return false;
        }
    }
    return true;
}

struct Row {
    StressedJob job;
    unsigned jobs = 0;
    StressedJobResult all;
};

void print(const Row& row) {
    std::printf("%-10s %-8s %6u %12zu %8zu %9.1f\n", row.job.transport.name.c_str(),
                row.job.shape.c_str(), row.jobs, static_cast<std::size_t>(row.all.calls),
                static_cast<std::size_t>(row.all.wrong), row.all.seconds);
}

class Attack {
  public:
    explicit Attack(const Options& options) : options_(options) {}

    int run() {
        for (const TransportToTest& transport : transports_to_test()) {
            const auto& asked = options_.transports;
            if (asked.empty() ||
                std::find(asked.begin(), asked.end(), transport.name) != asked.end()) {
                for (const std::string& shape : options_.shapes) {
                    run(transport, shape);
                }
            }
        }
        std::printf("%-10s %-8s %6s %12s %8s %9s\n", "transport", "torus", "jobs", "calls", "wrong",
                    "seconds");
        std::uint64_t calls = 0, wrong = 0;
        unsigned jobs = 0;
        for (const Row& row : rows_) {
            print(row);
            calls += row.all.calls;
            wrong += row.all.wrong;
            jobs += row.jobs;
        }
        const auto left_out = static_cast<unsigned>(rows_.size()) * options_.jobs - jobs;
        std::printf("%u jobs, %u left out; %zu calls of all ranks, %zu wrong\n", jobs, left_out,
                    static_cast<std::size_t>(calls), static_cast<std::size_t>(wrong));
        return wrong == 0 && calls > 0 && (left_out == 0 || !options_.all_jobs) ? 0 : 1;
    }

  private:
    void run(const TransportToTest& transport, const std::string& shape) {
        rows_.push_back({});
        Row& row = rows_.back();
        row.job = {transport,        shape,
                   options_.calls,   options_.seed,
                   options_.threads, options_.port_threads};
        for (; row.jobs < options_.jobs && left_ > 0; ++row.jobs, ++row.job.seed) {
            // A job that hangs is killed; the sanitizers and busy machines are slow.
            row.job.seconds = 120 + static_cast<double>(options_.calls) / 20;
            const StressedJobResult result = run_stressed(row.job);
            row.all.calls += result.calls;
            row.all.wrong += result.wrong;
            row.all.seconds += result.seconds;
            left_ -= result.seconds;
            std::printf("  %s %s, seed %u: %zu calls in %.1f s\n", transport.name.c_str(),
                        shape.c_str(), row.job.seed, static_cast<std::size_t>(result.calls),
                        result.seconds);
            if (!result.what.empty()) {
                std::printf("WRONG: %s\n", result.what.c_str());
            }
            std::fflush(stdout);
        }
    }

    Options options_;
    double left_ = options_.seconds;
    std::vector<Row> rows_;
};

}  // namespace
}  // namespace trefoil::test

int main(int count, char** arguments) {
    testing::InitGoogleTest(&count, arguments);
    trefoil::test::Options options;
    if (!trefoil::test::read(count, arguments, options)) {
        std::fputs(trefoil::test::help, stderr);
        return 2;
    }
    // Landing slots are used again and again.
    setenv("TREFOIL_LANDING_BYTES", "64K", 0);
    setenv("TREFOIL_SEGMENT_BYTES", "8K", 0);
    return trefoil::test::Attack(options).run();
}
