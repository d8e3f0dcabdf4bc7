// SPDX-License-Identifier: BSD-3-Clause
// What ranks wait for, and what a message does.
#include "bench/simgrid/ranks.hpp"

#include <cmath>

#include "bench/simgrid/release.hpp"

namespace trefoil::simgrid_engine {

Ranks::Ranks(const Job& job, const Platform& platform, double vector_bytes)
    : job_(job),
      platform_(platform),
      vector_bytes_(vector_bytes),
      places_(static_cast<std::size_t>(job.ranks) * job.parts * job.steps),
      left_(job.messages.size()) {
    for (std::size_t i = 0; i < job.messages.size(); ++i) {
        const Message& message = job.messages[i];
        place(message.from, message.part, message.step).sends.push_back(i);
        ++place(message.to, message.part, message.step).missing;
    }
}

void Ranks::begin() {
    Posted posted;
    for (int rank = 0; rank < job_.ranks; ++rank) {
        if (job_.step_sync) {
            open_all(rank, 0, posted);
            continue;
        }
        for (std::size_t part = 0; part < job_.parts; ++part) {
            open(rank, part, 0, posted);
        }
    }
    start(posted);
}

/// A step without receives is complete at once.
void Ranks::open(int rank, std::size_t part, std::size_t step, Posted& posted) {
    for (; step < job_.steps; ++step) {
        post(place(rank, part, step), posted);
        if (place(rank, part, step).missing > 0) {
            return;
        }
    }
}

void Ranks::open_all(int rank, std::size_t step, Posted& posted) {
    for (; step < job_.steps; ++step) {
        for (std::size_t part = 0; part < job_.parts; ++part) {
            post(place(rank, part, step), posted);
        }
        if (!complete(rank, step)) {
            return;
        }
    }
}

bool Ranks::complete(int rank, std::size_t step) {
    for (std::size_t part = 0; part < job_.parts; ++part) {
        if (place(rank, part, step).missing > 0) {
            return false;
        }
    }
    return true;
}

void Ranks::post(Place& place, Posted& posted) {
    place.open = true;
    posted.insert(posted.end(), place.sends.begin(), place.sends.end());
}

void Ranks::start(const Posted& posted) {
    for (const std::size_t message : posted) {
        start_actor("message", platform_.any_host(),
                    [this, message] { travel(job_.messages[message]); });
    }
}

void Ranks::travel(const Message& message) {
    s4u::this_actor::sleep_for(message.delay * scale);
    std::vector<s4u::CommPtr> flows;
    for (const auto& [way, share] : message.ways) {
        const auto bytes = static_cast<std::uint64_t>(std::llround(share * vector_bytes_ * scale));
        if (bytes > 0) {
            const auto [from, to] = platform_.hosts(way);
            flows.push_back(s4u::Comm::sendto_async(from, to, bytes));
        }
    }
    for (const s4u::CommPtr& flow : flows) {
        flow->wait();
    }
    last_ = s4u::Engine::get_clock() / scale;
    --left_;
    Place& there = place(message.to, message.part, message.step);
    if (--there.missing > 0 || !there.open) {
        return;
    }
    Posted posted;
    if (!job_.step_sync) {
        open(message.to, message.part, message.step + 1, posted);
    } else if (complete(message.to, message.step)) {
        open_all(message.to, message.step + 1, posted);
    }
    start(posted);
}

}  // namespace trefoil::simgrid_engine
