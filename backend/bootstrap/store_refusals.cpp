// SPDX-License-Identifier: BSD-3-Clause
// Counting refusals, and saying them seldom.
#include "backend/bootstrap/store_refusals.hpp"

#include "topo/log/log.hpp"

namespace trefoil::store {

Refusals::~Refusals() {
    for (Kind& kind : kinds_) {
        if (kind.unsaid > 0) {
            say(kind, Clock::now());
        }
    }
}

void Refusals::note(Refusal kind, const std::string& from, const std::string& why,
                    Clock::time_point now) {
    Kind& its = kinds_.at(static_cast<std::size_t>(kind));
    ++its.unsaid;
    its.last = from + ": " + why;
    if (now >= its.quiet_until) {
        say(its, now);
    }
}

void Refusals::say(Kind& kind, Clock::time_point now) {
    log_warning(LogTopic::setup, [&] {
        const std::string others =
            kind.unsaid > 1 ? " (and " + std::to_string(kind.unsaid - 1) + " before)" : "";
        return "the store at " + store_ + " has refused " + kind.last + others;
    });
    kind.unsaid = 0;
    kind.quiet_until = now + pause;
}

}  // namespace trefoil::store
