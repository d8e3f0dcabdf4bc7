// SPDX-License-Identifier: BSD-3-Clause
// From schedules to a table of messages.
#include "algorithms/simulation/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "topo/error.hpp"

namespace trefoil {

namespace {

std::string mebibytes(double bytes) {
    return std::to_string(std::llround(std::ceil(bytes / (1 << 20)))) + " MiB";
}

/// How many ranks that a symmetry leaves out are compared with their representatives.
constexpr Rank compared = 8;

}  // namespace

std::shared_ptr<const Symmetry> common_symmetry(const Network& network, const Algorithm& algorithm,
                                                const BuildOptions& options) {
    const std::vector<Rank> translations = algorithm.alike_ranks(network.torus(), options);
    if (translations.empty()) {
        return std::make_shared<const Symmetry>(network.torus());
    }
    return std::make_shared<const Symmetry>(
        network.torus(), translations,
        [&network](Rank translation) { return network.looks_alike(translation); });
}

Traffic::Traffic(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options,
                 std::size_t most_bytes)
    : Traffic(torus, algorithm, options, {most_bytes, false},
              std::make_shared<const Symmetry>(torus)) {}

Traffic::Traffic(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options,
                 const Limits& limits, std::shared_ptr<const Symmetry> symmetry)
    : symmetry_(std::move(symmetry)),
      row_(traits_of(algorithm.collective)),
      steered_(algorithm.traits.steered),
      with_work_(limits.with_work) {
    for (Rank c = 0; c < classes(); ++c) {
        const Schedule schedule = algorithm.build(torus, symmetry_->representative(c), options);
        if (c == 0) {
            parts_ = schedule.parts.size();
            steps_ = schedule.parts.front().steps.count;
            const std::size_t places = static_cast<std::size_t>(classes()) * parts_ * steps_;
            const std::size_t messages =
                schedule.sends.size() * static_cast<std::size_t>(classes());
            const double needed =
                static_cast<double>(messages) * sizeof(TrafficMessage) +
                static_cast<double>(places) * (with_work_ ? 12 + sizeof(TrafficWork) : 12);
            if (needed > static_cast<double>(limits.most_bytes)) {
                throw Error(Status::unsupported,
                            "the messages of " + std::string(algorithm.name) + " on " +
                                torus.name() + " need about " + mebibytes(needed) +
                                " of memory, and " +
                                mebibytes(static_cast<double>(limits.most_bytes)) +
                                " are allowed; take a smaller torus, or --memory");
            }
            receives_.reserve(places);
            starts_.reserve(places + 1);
            messages_.reserve(messages);
            work_.reserve(with_work_ ? places : 0);
        }
        add(schedule);
    }
    starts_.push_back(messages_.size());
    const Rank between = std::max<Rank>(1, torus.ranks() / compared);
    for (Rank r = torus.ranks() - 1; !symmetry_->trivial() && r >= 0; r -= between) {
        compare(torus, algorithm, algorithm.build(torus, r, options));
    }
}

double Traffic::block_share(const Part& part) const {
    const double blocks = row_.received_of(part.vector_blocks);
    return 1 / blocks / static_cast<double>(parts_);
}

void Traffic::add(const Schedule& schedule) {
    for (const Part& part : schedule.parts) {
        const double block = block_share(part);
        for (const Step& step : schedule.of(part)) {
            starts_.push_back(messages_.size());
            receives_.push_back(step.receives.count);
            for (const Send& send : schedule.sends_of(step)) {
                const auto extents = schedule.extents_of(send);
                messages_.push_back({block * static_cast<double>(block_count(extents)), send.peer,
                                     static_cast<std::uint8_t>(send.port.index),
                                     extents.size() > 1});
            }
            if (with_work_) {
                work_.push_back(work_of(schedule, part, step));
            }
        }
    }
}

TrafficWork Traffic::work_of(const Schedule& schedule, const Part& part, const Step& step) const {
    const double block = block_share(part);
    TrafficWork work;
    for (const Move& move : schedule.moves_of(step)) {
        (move.action == Action::reduce ? work.reduced_before : work.copied_before) +=
            block * move.from.count;
    }
    for (const Receive& receive : schedule.receives_of(step)) {
        for (const Application& application : schedule.applications_of(receive)) {
            (application.action != Action::replace ? work.reduced_after : work.copied_after) +=
                block * static_cast<double>(block_count(schedule.extents_of(application)));
        }
    }
    return work;
}

void Traffic::compare(const Torus& torus, const Algorithm& algorithm,
                      const Schedule& schedule) const {
    const Rank one = symmetry_->class_of(schedule.rank);
    const Rank translation = torus.translated(schedule.rank, symmetry_->representative(one), -1);
    bool alike = schedule.parts.size() == parts_;
    for (std::size_t p = 0; alike && p < parts_; ++p) {
        const auto steps = schedule.of(schedule.parts[p]);
        const double block = block_share(schedule.parts[p]);
        alike = steps.size() == steps_;
        for (std::size_t s = 0; alike && s < steps_; ++s) {
            const auto there = schedule.sends_of(steps[s]);
            const auto here = sends(place(one, p, s));
            alike = steps[s].receives.count == receives(place(one, p, s)) &&
                    std::ranges::equal(there, here, [&](const Send& a, const TrafficMessage& b) {
                        return a.peer == torus.translated(b.to, translation, +1) &&
                               a.port.index == b.port &&
                               block * static_cast<double>(block_count(schedule.extents_of(a))) ==
                                   b.share;
                    });
        }
    }
    if (!alike) {
        throw Error(Status::internal, std::string(algorithm.name) + " on " + torus.name() +
                                          ": rank " + std::to_string(schedule.rank) +
                                          " does not do what the rank does that stands for it; "
                                          "please report this");
    }
}

}  // namespace trefoil
