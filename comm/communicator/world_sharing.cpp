// SPDX-License-Identifier: BSD-3-Clause
// Whether the ranks of a host reach each other's memory: found out by trying, ahead of any use.
#include "backend/registry/transports.hpp"
#include "comm/communicator/world.hpp"
#include "topo/blob.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

/// Something of this rank's that others try to map.
World::Outcome World::take_sample(Sample& own) {
    try {
        const Transport& memory = default_transport(true);
        own = memory.sample != nullptr ? memory.sample() : Sample{};
        return {Status::success, own.description};
    } catch (const Error& error) {
        return {error.status(), error.what()};
    }
}

/// Whether this rank reaches the memory of the rank of its host that comes after it, where memory
/// is what they will use. When all do so, in a ring, all reach all: where the kernel refuses one
/// user's process to another's, or has two hosts behind one name, some rank is refused by the next.
World::Outcome World::try_next_sample(const std::vector<Outcome>& samples) const {
    const Transport& memory = default_transport(true);
    const bool inside = ports_->groups().has_inside;
    if (memory.try_sample == nullptr || ranks() == 1 || !job_->why_no_memory().empty() ||
        (settings_.backend != memory.name && !inside)) {
        return {};
    }
    // Where all ports are memory's, all ranks are to be reached, whatever their hosts are called.
    const std::vector<Rank>& local = job_->local_ranks();
    const auto after = (static_cast<std::size_t>(job_->local_rank()) + 1) % local.size();
    const Rank next = inside ? local[after] : (rank() + 1) % ranks();
    Outcome outcome = samples[static_cast<std::size_t>(next)];
    try {
        if (outcome.good()) {
            memory.try_sample(outcome.text);
            return {};
        }
    } catch (const Error& error) {
        outcome = {error.status(), error.what()};
    }
    outcome.text = "rank " + std::to_string(rank()) + " cannot map memory of rank " +
                   std::to_string(next) + ": " + outcome.text;
    return outcome;
}

/// What all ranks propose for their ports. Where ranks of a host turn out not to reach each other's
/// memory, they propose once more, without it; or all fail alike, where it was asked for.
std::vector<std::string> World::propose_ports(Introductions& introductions) {
    const Settings asked = settings_;
    for (;;) {
        const auto told = agreement_.allgather("settings and NICs", [&] {
            settings_ = asked;
            take_place(introductions);
            BlobWriter mine;
            mine.text(choose_ports());
            const Outcome outcome = try_next_sample(introductions.samples);
            mine.number(outcome.status);
            mine.text(outcome.text);
            return mine.bytes();
        });
        std::vector<std::string> proposals;
        Outcome first;
        for (const std::string& one : told) {
            BlobReader blob(one);
            proposals.push_back(blob.text());
            const auto status = blob.number<Status>();
            first = first.good() ? Outcome{status, blob.text()} : first;
        }
        if (first.good()) {
            return proposals;
        }
        if (!asked.backend.empty() && settings_.backend == default_transport(true).name) {
            throw Error(first.status, first.text);
        }
        introductions.why_no_memory = first.text;
        if (rank() == 0) {
            log_warning(LogTopic::transport,
                        [&] { return "ranks of one host use the network, because " + first.text; });
        }
    }
}

}  // namespace trefoil
