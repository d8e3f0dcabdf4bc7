// SPDX-License-Identifier: BSD-3-Clause
// How a communicator begins, and what it holds.
#include "comm/communicator/communicator.hpp"

#include <algorithm>
#include <set>

#include "comm/plan/lower.hpp"
#include "topo/host.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

Communicator::Communicator(Settings settings, std::unique_ptr<Bootstrap> bootstrap,
                           const std::optional<Error>& refusal)
    : world_(std::make_shared<World>(std::move(settings), std::move(bootstrap), refusal)),
      geometry_(world_->geometry()),
      rank_(world_->rank()),
      identity_(world_->session().proof("communicators")) {
    const LogScope scope(world_->log());
    world_->agreement().for_all("calls", [this] {
        chooser_.emplace(geometry_.map, this->settings());
        for (const auto& [collective, text] : split_choices(this->settings().algorithm)) {
            chooser_->force(collective, text);
        }
        start();
    });
}

Communicator::~Communicator() {
    const LogScope scope(world_->log());
    executor_.reset();
}

/// All that calls need.
void Communicator::start() {
    const Settings& s = settings();
    channels_.groups = world_->engine().groups();
    channels_.rank = rank_;
    channels_.host = host_name();
    channels_.cards = world_->engine().cards();
    channels_.communicator = identity_.number();
    channels_.secret = world_->session().of_calls() ^ identity_.number();
    channels_.first_rank = geometry_.first_rank;
    for (const Rank first : geometry_.first_rank) {
        channels_.in_this_process.push_back(
            world_->in_this_process()[static_cast<std::size_t>(first)]);
    }
    channels_.checksums = s.checksums;
    channels_.slot_bytes =
        s.landing_bytes / channels_.slots / landing_alignment * landing_alignment;
    executor_.emplace(channels_, world_->engine(), executor_options());
    plans_ = PlanCache(s.plan_bytes);
    schedules_.emplace(geometry_, channels_);
    const SegmentLimits limits{channels_.slot_bytes, s.segment_bytes, s.landing_bytes};
    planner_.emplace(geometry_.map, limits, channels_, *schedules_, *executor_);
}

/// Ranks are this communicator's, processes the job's.
ExecutorOptions Communicator::executor_options() const {
    const Settings& s = settings();
    ExecutorOptions options;
    options.may_spin = world_->ports().placement().may_spin;
    options.timeout = s.timeout;
    options.stall_warning = s.stall_warning;
    options.progress = s.progress;
    options.log = world_->log();
    options.trace = world_->timeline();
    options.look_at_processes = [this] {
        std::vector<ProcessNews> own;
        for (ProcessNews news : world_->job().look_at_processes()) {
            const Rank rank = channels_.rank_of_first(news.rank);
            if (rank != Cause::nobody) {
                own.push_back({rank, news.state});
            }
        }
        return own;
    };
    options.process_text = [this](Rank rank) {
        return world_->job().process_text(channels_.first_rank_of(rank));
    };
    return options;
}

Communicator::Resources Communicator::resources() const {
    const Engine::Exclusive held(world_->engine());
    std::set<Rank> peers;
    for (const OutChannel& channel : channels_.out) {
        peers.insert(channel.peer);
    }
    for (const InChannel& channel : channels_.in) {
        peers.insert(channel.peer);
    }
    return {static_cast<int>(peers.size()),
            static_cast<int>(channels_.in.size()),
            static_cast<int>(channels_.out.size()),
            channels_.in.size() * channels_.landing_bytes(),
            executor_->staging_bytes(),
            plans_.bytes()};
}

Communicator::PortUse Communicator::port_use(Port port) const {
    const Engine::Exclusive held(world_->engine());
    PortUse use;
    for (const OutChannel& channel : channels_.out) {
        if (channel.port == port) {
            use.puts += channel.puts;
            use.bytes += channel.bytes;
        }
    }
    use.nic = world_->ports().nic(port);
    return use;
}

}  // namespace trefoil
