// SPDX-License-Identifier: BSD-3-Clause
// Finds out which providers can be tested here.
#include "tests/backend/ofi/providers.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "backend/ofi/ofi.hpp"

namespace trefoil::conformance {

namespace {

struct Candidate {
    const char* test;
    const char* provider;
};
// Releases of libfabric after 1.17 call "net" "tcp".
constexpr std::array candidates = {Candidate{"net", "net"}, Candidate{"tcp", "tcp"},
                                   Candidate{"rxm", "tcp;ofi_rxm"}, Candidate{"shm", "shm"}};

// One bit per candidate that is offered.
unsigned look_up() {
    unsigned found = 0;
    for (const ProviderInfo& info : ofi_transport().providers()) {
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            found |= info.provider == candidates[i].provider ? 1U << i : 0U;
        }
    }
    return found;
}

unsigned offered() {
    const pid_t child = fork();
    if (child == 0) {
        _exit(static_cast<int>(look_up()));
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? static_cast<unsigned>(WEXITSTATUS(status))
               : 0;
}

}  // namespace

std::vector<Subject> offered_transports() {
    const unsigned found = offered();
    std::vector<Subject> transports;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if ((found >> i & 1U) != 0) {
            const std::string name = std::string("ofi_") + candidates[i].test;
            transports.push_back({name + "_threads", "ofi", candidates[i].provider, false});
            transports.push_back({name + "_processes", "ofi", candidates[i].provider, true});
        }
    }
    return transports;
}

std::vector<std::string> missing_providers() {
    const unsigned found = offered();
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        // Either name will do for the one provider that was renamed.
        const bool renamed = i < 2 && (found & 3U) != 0;
        if ((found >> i & 1U) == 0 && !renamed) {
            missing.push_back(candidates[i].provider);
        }
    }
    return missing;
}

}  // namespace trefoil::conformance
