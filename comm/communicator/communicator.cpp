// SPDX-License-Identifier: BSD-3-Clause
// How a communicator begins, and what it holds.
#include "comm/communicator/communicator.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>

#include "comm/plan/hash.hpp"
#include "comm/plan/lower.hpp"
#include "topo/host.hpp"
#include "topo/log/log.hpp"
#include "topo/patience.hpp"

namespace trefoil {

namespace {
/// Of a channel; what a machine has in any case. Whether more can be had is found out at once.
constexpr std::size_t usual_landing_bytes = std::size_t{64} << 20;
}  // namespace

Communicator::Communicator(Settings settings, std::unique_ptr<Bootstrap> bootstrap,
                           const std::optional<Error>& refusal)
    : world_(std::make_shared<World>(std::move(settings), std::move(bootstrap), refusal)),
      geometry_(world_->geometry()),
      rank_(world_->rank()),
      identity_(world_->session().proof("communicators")) {
    const LogScope scope(world_->log());
    if (this->settings().links == LinksBy::measured && ranks() > 1) {
        world_->agreement().for_all("calls that measure", [this] {
            chooser_.emplace(geometry_.map, this->settings());
            settle_terms();
        });
        measure_links();
    }
    world_->agreement().for_all("calls", [this] {
        chooser_.emplace(geometry_.map, this->settings());
        chooser_->force_list(this->settings().algorithm);
        if (world_->peer_access().any()) {
            read_place_ = 0;
            if (world_->is_one_process()) {
                chooser_->single_copy_goes(CopiesBy::address);
            }
            if (!world_->single_copy_gains()) {
                chooser_->leave_single_copy_to_names();
            }
        }
        if (this->settings().learn && ranks() > 1) {
            learner_.emplace(*chooser_, peer_access());
        }
        settle_terms();
        if (this->settings().landing_bytes > usual_landing_bytes) {
            world_->reserve_landing(channel_settings_.rings[Ring::few].bytes(),
                                    channel_settings_.neighbours);
        }
    });
}

Communicator::~Communicator() {
    const LogScope scope(world_->log());
    registered_.reset();
    if (learner_ && rank_ == 0) {
        write_what_was_learned();
    }
    lanes_.clear();
    if (read_place_ && *read_place_ > 0) {
        world_->read_places().give_back(*read_place_);
    }
}

void Communicator::settle_terms() {
    channel_settings_.rank = rank_;
    channel_settings_.host = host_name();
    channel_settings_.cards = world_->engine().cards();
    channel_settings_.communicator = channel_settings_.key = identity_.number();
    channel_settings_.neighbours = neighbours_of(geometry_, rank_);
    channel_settings_.secret = world_->session().of_calls() ^ identity_.number();
    channel_settings_.mark_key = world_->session().proof("marks of flags") >> 2 | std::uint64_t{1}
                                                                                      << 63;
    channel_settings_.first_rank = geometry_.first_rank;
    for (const Rank first : geometry_.first_rank) {
        channel_settings_.in_this_process.push_back(
            world_->in_this_process()[static_cast<std::size_t>(first)]);
    }
    channel_settings_.checksums = settings().checksums;
    channel_settings_.read_place = read_place_.value_or(0);
    const std::size_t slot_bytes =
        settings().landing_bytes / LandingRings::few_slots / landing_alignment * landing_alignment;
    channel_settings_.rings = LandingRings(slot_bytes, most_bytes_ahead);
    const Torus& torus = geometry_.map.torus;
    const Rank writers = (torus.has_nodes() ? torus.per_node() : ranks()) - 1;
    channel_settings_.rings.spread(most_spread_bytes /
                                   static_cast<std::size_t>(std::max(writers, 1)));
    plans_ = PlanCache(settings().plan_bytes);
    registered_.emplace(world_->registry(), [this] { return report(); });
}

/// The lane of small calls has small landing slots, and keys of its own, as if it were another
/// communicator.
Lane& Communicator::make_lane(bool small) {
    const LogScope scope(world_->log());
    ChannelSettings of_lane = channel_settings_;
    if (small) {
        const StoredLane stored = stored_lane(settings().landing_bytes);
        of_lane.rings =
            all_map_their_peers()
                ? LandingRings::stored(stored.small_slot, stored.medium_slot, stored.large_slot)
                : LandingRings(small_slot_bytes, most_small_bytes);
        of_lane.key = mix_hash(channel_settings_.key, small_slot_bytes);
    }
    const RingShape& large = of_lane.rings[Ring::few];
    const SegmentLimits limits{large.slot_bytes, settings().segment_bytes, large.bytes()};
    const std::lock_guard lock(lanes_mutex_);
    Lane* made = lanes_.find(small);
    if (made == nullptr) {
        made =
            &lanes_.add(small, std::make_unique<Lane>(geometry_, world_->engine(), of_lane, limits,
                                                      world_->programs(), executor_options(small)));
        if (abort_cause_) {
            made->executor().fail(*abort_cause_);
        }
    }
    return *made;
}

/// Messages that land in the vector itself are the other lane's.
std::size_t Communicator::most_in_small_lane() const {
    const std::size_t stored = stored_lane(settings().landing_bytes).most_bytes;
    return all_map_their_peers() && stored < settings().direct_from ? stored : most_small_bytes;
}

/// Alike on all of them. With checksums messages go the way that has them.
bool Communicator::all_map_their_peers() const {
    bool all = !channel_settings_.checksums && channel_settings_.cards != nullptr;
    for (Rank rank = 0; all && rank < ranks(); ++rank) {
        all = channel_settings_.cards->maps_peers(first_rank_of(channel_settings_, rank));
    }
    return all;
}

/// Ranks are this communicator's, processes the job's.
ExecutorOptions Communicator::executor_options(bool small) {
    const Settings& s = settings();
    ExecutorOptions options;
    options.may_spin = world_->ports().placement().may_spin;
    options.timeout = s.timeout;
    options.stall_warning = s.stall_warning;
    options.numbers = numbers_;
    options.reports = reports_;
    options.failed = [this, small](const Cause& cause) {
        if (cause.status == Status::aborted) {
            note_abort(cause);
        }
        if (Lane* const other = lanes_.find(!small)) {
            other->executor().fail(cause);
        }
    };
    options.close_registration = [this](int group, std::uint64_t use) {
        world_->user_memory().registry(static_cast<std::size_t>(group)).close(use);
    };
    options.progress = s.progress;
    options.log = world_->log();
    options.trace = world_->timeline();
    options.look_at_processes = [this] {
        std::vector<ProcessNews> own;
        for (ProcessNews news : world_->job().look_at_processes()) {
            const Rank rank = rank_of_first(channel_settings_, news.rank);
            if (rank != Cause::nobody) {
                own.push_back({rank, news.state});
            }
        }
        return own;
    };
    options.process_text = [this](Rank rank) {
        return world_->job().process_text(first_rank_of(channel_settings_, rank));
    };
    return options;
}

Communicator::Resources Communicator::resources() const {
    const Engine::Exclusive held(world_->engine());
    Resources held_here;
    std::set<Rank> peers;
    lanes_.for_each([&](const Lane& lane) {
        const Channels& channels = lane.channels();
        for (const OutChannel& channel : channels.out) {
            peers.insert(channel.peer);
            held_here.copied_bytes += channel.staged;
        }
        for (const InChannel& channel : channels.in) {
            peers.insert(channel.peer);
            held_here.received_bytes += channel.bytes;
            held_here.copied_bytes += channel.copied;
        }
        held_here.connections_in += static_cast<int>(channels.in.size());
        held_here.connections_out += static_cast<int>(channels.out.size());
        held_here.landing_bytes += channels.landing_bytes();
        held_here.staging_bytes += lane.executor().staging_bytes();
    });
    held_here.peers = static_cast<int>(peers.size());
    held_here.plan_bytes = plans_.bytes();
    return held_here;
}

CommunicatorReport Communicator::report() const {
    CommunicatorReport report;
    report.number = identity_.number();
    report.rank = rank_;
    report.members = geometry_.first_rank;
    report.torus = torus().name();
    report.made = numbers_->made();
    report.failure = failure().what();
    lanes_.for_each([&](Lane& lane) {
        ExecutorReport part = lane.executor().report();
        std::move(part.calls.begin(), part.calls.end(), std::back_inserter(report.calls));
        report.idle = std::max(report.idle, part.idle);
    });
    const auto makings = [this] {
        const std::lock_guard lock(failure_mutex_);
        return makings_;
    }();
    for (const auto& [tag, making] : makings) {
        CallReport& call = report.calls.emplace_back();
        call.number = report.made + 1;
        call.signature = text_hash(making.what);
        call.text = making.what;
        call.by_some = making.by_some;
        for (const Rank rank : world_->missing_in(tag)) {
            const auto at = std::ranges::find(geometry_.first_rank, rank);
            call.missing.push_back({Missing::Kind::word,
                                    static_cast<Rank>(at - geometry_.first_rank.begin()), Port{}});
        }
        if (report.calls.size() == 1) {
            report.idle = std::chrono::duration_cast<std::chrono::milliseconds>(
                std::chrono::steady_clock::now() - making.since);
        }
    }
    std::sort(report.calls.begin(), report.calls.end(),
              [](const CallReport& a, const CallReport& b) { return a.number < b.number; });
    return report;
}

std::string Communicator::status_text() const {
    const bool inside = world_->has_somebody_inside();
    const Engine::Exclusive held(world_->engine(),
                                 std::chrono::steady_clock::now() + patience().longest_look);
    return (inside ? "" : "not inside Trefoil; ") +
           (held.holds() ? text_of(report())
                         : "what the calls wait for is unknown: the thread that works for them is "
                           "held up\n");
}

Communicator::PortUse Communicator::port_use(Port own) const {
    const Port port = geometry_.port_of(own);
    const Engine::Exclusive held(world_->engine());
    PortUse use;
    lanes_.for_each([&](const Lane& lane) {
        for (const OutChannel& channel : lane.channels().out) {
            if (channel.port == port) {
                use.puts += channel.puts;
                use.bytes += channel.bytes;
            }
        }
    });
    use.nic = world_->ports().nic(port);
    return use;
}

}  // namespace trefoil
