// SPDX-License-Identifier: BSD-3-Clause
// Read, proved, and described by what the proof found.
#include "algorithms/json/user_schedule.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "algorithms/analysis/verify.hpp"
#include "algorithms/json/read.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

/// FNV-1a, 64 bits.
std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
    return hash;
}

std::string name_of(std::string_view text) {
    char name[32];
    std::snprintf(name, sizeof name, "schedule-%016llx",
                  static_cast<unsigned long long>(hash_of(text)));
    return name;
}

Verification prove(const ScheduleSet& set) {
    const Verification proof =
        verify(set.torus, Goal{set.collective, set.root, set.owners}, set.schedules);
    if (!proof.ok()) {
        std::string text = "the schedule is wrong, the verifier says: ";
        for (std::size_t i = 0; i < std::min<std::size_t>(proof.errors.size(), 3); ++i) {
            text += (i > 0 ? "; " : "") + proof.errors[i];
        }
        throw Error(Status::invalid_argument, text);
    }
    return proof;
}

bool pulls(const ScheduleSet& set) {
    return std::ranges::any_of(set.schedules, [](const Schedule& schedule) {
        return std::ranges::any_of(schedule.moves, &Move::pulls);
    });
}

}  // namespace

UserSchedule::UserSchedule(Collective collective, std::string_view text)
    : name_(name_of(text)), set_(read_schedules(text)) {
    if (set_.collective != collective) {
        throw Error(Status::invalid_argument, "the schedule cannot be used: it is a schedule of " +
                                                  std::string(to_string(set_.collective)) +
                                                  ", not of " + std::string(to_string(collective)));
    }
    const bool reads_peers = pulls(set_);
    if (reads_peers && landing_needs(set_).vectors > 0) {
        throw Error(Status::unsupported,
                    "the schedule cannot be used: it pulls from other ranks' memory and also sends "
                    "messages with data; Trefoil runs the one or the other");
    }
    const Verification proof = prove(set_);
    shapes_ = set_.torus.name();
    algorithm_.name = name_;
    algorithm_.collective = collective;
    algorithm_.summary = "the user's schedule";
    algorithm_.paper = "the user";
    algorithm_.shapes = shapes_;
    algorithm_.traits = {.identical_results = proof.identical_results,
                         .order_preserving = proof.order_preserving,
                         .steered = set_.steered,
                         .reads_peers = reads_peers};
    algorithm_.selection = {.most_ranks = 0};
    algorithm_.set = &set_;
}

}  // namespace trefoil
