// SPDX-License-Identifier: BSD-3-Clause
// Finds out which providers can be tested here.
#include "tests/backend/ofi/providers.hpp"

#include <rdma/fabric.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "backend/ofi/ofi.hpp"

namespace trefoil::conformance {

namespace {

struct Candidate {
    const char* test;
    const char* provider;
};
// Releases of libfabric after 1.17 call "net" "tcp".
constexpr std::array candidates = {Candidate{"net", "net"}, Candidate{"tcp", "tcp"},
                                   Candidate{"rxm", "tcp;ofi_rxm"}, Candidate{"shm", "shm"},
                                   Candidate{"verbs", "verbs;ofi_rxm"}};

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

unsigned find_out() {
    const pid_t child = fork();
    if (child == 0) {
        _exit(static_cast<int>(look_up()));
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? static_cast<unsigned>(WEXITSTATUS(status))
               : 0;
}

unsigned offered() {
    static const unsigned found = find_out();
    return found;
}

bool is_offered(const Subject& subject) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (subject.provider == candidates[i].provider) {
            return (offered() >> i & 1U) != 0;
        }
    }
    return false;
}

const char* why_not_abandoned(const Candidate& each) {
    const bool crashes = each.test == std::string_view("rxm") && FI_MAJOR_VERSION >= 2;
    return crashes ? "rxm of libfabric 2.1 crashes when the connection breaks off a message "
                     "(rxm_handle_comp_error reads through the null context of a receive)"
                   : nullptr;
}

}  // namespace

std::vector<Subject> providers_to_test() {
    std::vector<Subject> all;
    for (const Candidate& each : candidates) {
        const std::string name = std::string("ofi_") + each.test;
        const char* const why_not = why_not_abandoned(each);
        all.push_back({name + "_threads", "ofi", each.provider, false, is_offered, why_not});
        all.push_back({name + "_processes", "ofi", each.provider, true, is_offered, why_not});
    }
    return all;
}

std::vector<std::string> missing_providers() {
    const unsigned found = offered();
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        // Either name will do for the one provider that was renamed.
        const bool renamed = i < 2 && (found & 3U) != 0;
        const bool common =
            candidates[i].test != std::string_view("verbs");  // no device, no matter
        if ((found >> i & 1U) == 0 && !renamed && common) {
            missing.push_back(candidates[i].provider);
        }
    }
    return missing;
}

}  // namespace trefoil::conformance
