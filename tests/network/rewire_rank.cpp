// SPDX-License-Identifier: BSD-3-Clause
// One rank of a test of circuits that change: allreduces by a schedule from a file, while rank 0
// has the links of the emulated torus moved. One line of JSON on rank 0.
//
// Usage: network_rewire_rank SCHEDULE ELEMENTS CALLS [COMMAND WORDS ...]: the command that takes
// circuits as scripts/torusnet rewire does; without it links stay. Everything else comes from
// TREFOIL_*.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <trefoil/trefoil.hpp>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Switch {
    int rank = 0;
    std::vector<std::string> command;
    int changes = 0;
    double seconds = 0;

    static int rewire(const trefoil_circuit_t* circuits, int count, void* context) {
        auto* const self = static_cast<Switch*>(context);
        const auto begin = Clock::now();
        const int told = self->rank == 0 ? self->move_links(circuits, count) : 0;
        self->seconds += since(begin);
        ++self->changes;
        return told;
    }

  private:
    int move_links(const trefoil_circuit_t* circuits, int count) const {
        std::vector<std::string> words = command;
        for (int i = 0; i < count; ++i) {
            words.push_back(std::to_string(circuits[i].from) + "+" +
                            std::to_string(circuits[i].port / 2) + ":" +
                            std::to_string(circuits[i].to));
        }
        std::vector<char*> list;
        for (std::string& word : words) {
            list.push_back(word.data());
        }
        list.push_back(nullptr);
        const pid_t child = fork();
        if (child == 0) {
            (void)dup2(STDERR_FILENO, STDOUT_FILENO);
            execv(list[0], list.data());
            _exit(127);
        }
        int status = 0;
        return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
    }
};

// Integers: every order of summation gives the same, exact result.
std::size_t reduce_and_check(trefoil::Comm& comm, std::size_t elements, int call, double& seconds) {
    std::vector<std::int32_t> values(elements);
    const auto input = [call](int rank, std::size_t i) {
        return static_cast<std::int32_t>(i % 1009) + 7 * rank + call;
    };
    for (std::size_t i = 0; i < elements; ++i) {
        values[i] = input(comm.rank(), i);
    }
    comm.barrier();
    const auto begin = Clock::now();
    comm.allreduce(std::span(values));
    seconds += since(begin);
    std::size_t wrong = 0;
    const int ranks = comm.size();
    for (std::size_t i = 0; i < elements; ++i) {
        const std::int32_t expected = ranks * input(0, i) + 7 * (ranks * (ranks - 1) / 2);
        wrong += values[i] == expected ? 0 : 1;
    }
    return wrong;
}

std::string text_of(const char* file) {
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 4) {
        std::fprintf(stderr, "usage: %s SCHEDULE ELEMENTS CALLS [COMMAND ...]\n", arguments[0]);
        return 2;
    }
    const std::size_t elements = std::strtoull(arguments[2], nullptr, 10);
    const int calls = std::atoi(arguments[3]);
    try {
        trefoil::Comm comm;
        Switch own{comm.rank(), {arguments + 4, arguments + count}};
        comm.set_schedule("allreduce", text_of(arguments[1]));
        if (!own.command.empty()) {
            comm.set_rewire(&Switch::rewire, &own);
        }
        double first = 0, seconds = 0;
        std::size_t wrong = reduce_and_check(comm, elements, 0, first);  // connects
        own.seconds = 0;
        own.changes = 0;
        for (int call = 1; call <= calls; ++call) {
            wrong += reduce_and_check(comm, elements, call, seconds);
        }
        std::printf(
            "{\"rank\": %d, \"wrong\": %zu, \"seconds\": %.4f, \"changes\": %.2f, "
            "\"changing\": %.4f}\n",
            comm.rank(), wrong, seconds / calls, 1.0 * own.changes / calls, own.seconds / calls);
        return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const trefoil::CallFailed& error) {
        std::fprintf(stderr, "%s: %s\n", trefoil_status_string(error.status()), error.what());
        return 3;
    }
}
