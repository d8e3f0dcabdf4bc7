// SPDX-License-Identifier: BSD-3-Clause
// One rank of a test that looks at interfaces: checked allreduces, and what each interface of this
// network namespace has sent meanwhile, as one line of JSON.
//
// Usage: network_rank ELEMENTS CALLS. Everything else comes from TREFOIL_*.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <trefoil/trefoil.hpp>
#include <vector>

namespace {

std::map<std::string, long long> sent_bytes() {
    std::map<std::string, long long> bytes;
    for (const auto& entry : std::filesystem::directory_iterator("/sys/class/net")) {
        std::ifstream file(entry.path() / "statistics/tx_bytes");
        long long count = 0;
        if (file >> count) {
            bytes[entry.path().filename()] = count;
        }
    }
    return bytes;
}

// Integers: every order of summation gives the same, exact result.
std::size_t reduce_and_check(trefoil::Comm& comm, std::size_t elements, int call) {
    std::vector<std::int32_t> values(elements);
    const auto input = [call](int rank, std::size_t i) {
        return static_cast<std::int32_t>(i % 1009) + 7 * rank + call;
    };
    for (std::size_t i = 0; i < elements; ++i) {
        values[i] = input(comm.rank(), i);
    }
    comm.allreduce(std::span(values));
    std::size_t wrong = 0;
    const int ranks = comm.size();
    for (std::size_t i = 0; i < elements; ++i) {
        const std::int32_t expected = ranks * input(0, i) + 7 * (ranks * (ranks - 1) / 2);
        wrong += values[i] == expected ? 0 : 1;
    }
    return wrong;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        std::fprintf(stderr, "usage: %s ELEMENTS CALLS\n", arguments[0]);
        return 2;
    }
    const std::size_t elements = std::strtoull(arguments[1], nullptr, 10);
    const int calls = std::atoi(arguments[2]);
    try {
        trefoil::Comm comm;
        std::size_t wrong = reduce_and_check(comm, 1, 0);  // connects
        const auto before = sent_bytes();
        wrong += reduce_and_check(comm, 1, 0);  // nobody's bytes pass here before all have looked
        for (int call = 1; call <= calls; ++call) {
            wrong += reduce_and_check(comm, elements, call);
        }
        wrong += reduce_and_check(comm, 1, 0);  // everybody's bytes have left when this returns
        const auto after = sent_bytes();
        std::printf("{\"rank\": %d, \"wrong\": %zu, \"sent\": {", comm.rank(), wrong);
        const char* separator = "";
        for (const auto& [nic, bytes] : after) {
            const auto old = before.find(nic);
            std::printf("%s\"%s\": %lld", separator, nic.c_str(),
                        bytes - (old == before.end() ? 0 : old->second));
            separator = ", ";
        }
        std::printf("}}\n");
        return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const trefoil::CallFailed& error) {
        std::fprintf(stderr, "%s: %s\n", trefoil_status_string(error.status()), error.what());
        return 3;
    }
}
