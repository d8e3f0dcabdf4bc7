// SPDX-License-Identifier: BSD-3-Clause
// Lowering: parts become byte ranges, extents become offsets, messages become puts and arrivals.
#include "comm/plan/lower.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "comm/plan/pulls.hpp"
#include "threads/executor/notification.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

std::size_t aligned(std::size_t bytes) {
    return (bytes + landing_alignment - 1) / landing_alignment * landing_alignment;
}

/// In place, a rank's own block of an alltoall is where it is to be copied.
bool same_place(Location a, Location b) {
    return a.space == b.space && a.offset == b.offset;
}

using PeerAndPort = std::pair<Rank, int>;  // peer, own port

/// Which channel a message takes depends on how many bytes go the same way in the whole program. So
/// messages are lowered to *routes*, numbered as they come up: a route is a peer and a port, one
/// way. In the end each route gets its channel (assign_channels()).
class Lowering {
  public:
    Lowering(const Schedule& schedule, const VectorMap& map, Channels& channels,
             const LowerOptions& options)
        : schedule_(schedule),
          map_(map),
          channels_(channels),
          element_bytes_(map.element_bytes()),
          options_(options) {
        program_.pack_bytes.resize(channels.groups.size());
        program_.first_peer = first_peer;
    }

    Program lower() {
        program_.scratch_bytes = aligned(map_.image_bytes());
        program_.begin = lower_transfers(map_.begin());
        program_.end = lower_transfers(map_.end());
        add_divisions(program_.end);
        for (std::uint32_t p = 0; p < schedule_.parts.size(); ++p) {
            lower_part(p);
        }
        program_.acknowledged = options_.acknowledged;
        assign_channels();
        name_arrivals();
        shrink();
        return std::move(program_);
    }

  private:
    struct Arrival {
        std::uint32_t step = 0;
        std::size_t bytes = 0;
        std::size_t offset = 0;  ///< in the channel's slot
        std::size_t copies = 0;
    };
    struct Route {
        Rank peer = 0;
        Port port;
        std::size_t bytes = 0;
        std::uint32_t messages = 0;
        std::vector<Arrival> arrivals{};
        std::uint32_t channel = 0;  ///< in the end
    };
    struct Routes {
        std::vector<Route> all;
        std::map<PeerAndPort, std::uint32_t> by_end;

        std::uint32_t number(Rank peer, Port port) {
            const auto [known, is_new] =
                by_end.try_emplace({peer, port.index}, static_cast<std::uint32_t>(all.size()));
            if (is_new) {
                all.push_back({peer, port});
            }
            return known->second;
        }
    };
    /// Of routes there are fewer: spaces of landing slots come before those of peers.
    static constexpr std::uint32_t first_peer = 1U << 24;

    void lower_part(std::uint32_t p) {
        const Part& part = schedule_.parts[p];
        part_ = &part;
        part_index_ = p;
        scratch_first_ = program_.scratch_bytes;
        scratch_block_bytes_ = part.scratch_blocks > 0 ? map_.block_bytes(p, part.scratch_like) : 0;
        program_.scratch_bytes += aligned(scratch_block_bytes_ * part.scratch_blocks);
        pulls_.begin_part();
        const ProgramRange range{static_cast<std::uint32_t>(program_.steps.size()), 0};
        std::uint32_t number = 0;
        for (const Step& step : schedule_.of(part)) {
            lower_step(step, p, number++);
        }
        const auto steps = static_cast<std::uint32_t>(program_.steps.size()) - range.first;
        if (steps > 0) {
            program_.steps.back().last = true;
            program_.parts.push_back({range.first, steps});
        }
    }

    void lower_step(const Step& step, std::uint32_t part, std::uint32_t number) {
        ProgramStep lowered;
        lowered.before = lower_moves(step);
        lowered.reads = pulls_.list_peers(schedule_.moves_of(step));
        const auto this_step = static_cast<std::uint32_t>(program_.steps.size());
        lowered.puts.first = static_cast<std::uint32_t>(program_.puts.size());
        for (const Send& send : schedule_.sends_of(step)) {
            lower_send(send);
        }
        lowered.puts.count = static_cast<std::uint32_t>(program_.puts.size()) - lowered.puts.first;
        const std::uint32_t arrivals = lower_receives(step, this_step, lowered);
        lowered.tokens = 1 + lowered.puts.count + arrivals;
        lowered.part = static_cast<std::uint32_t>(program_.parts.size());
        lowered.schedule_step = number;
        lowered.schedule_part = part;
        if (lowered.before.count + lowered.puts.count + arrivals > 0) {
            program_.steps.push_back(lowered);
        }
    }

    void assign_channels() {
        for (Route& route : in_.all) {
            route.channel = channels_.add_in(route.peer, route.port, ring_of(route));
            program_.used_in.push_back(route.channel);
        }
        for (Route& route : out_.all) {
            route.channel = channels_.add_out(route.peer, route.port, ring_of(route));
            program_.used_out.push_back(route.channel);
        }
        if (program_.acknowledged) {
            add_ways_back();
        }
        for (ProgramPut& put : program_.puts) {
            put.channel = out_.all[put.channel].channel;
        }
        assign_peers();
        program_.first_peer =
            Location::first_landing + static_cast<std::uint32_t>(channels_.in.size());
        for (ProgramOp& op : program_.ops) {
            assign(op.target);
            assign(op.source);
            assign(op.second);
        }
        list_arrivals();
        std::sort(program_.used_in.begin(), program_.used_in.end());
        std::sort(program_.used_out.begin(), program_.used_out.end());
    }

    Ring ring_of(const Route& route) const {
        if (options_.counts_in_pairs) {
            return Ring::few;
        }
        const auto group = static_cast<std::size_t>(channels_.group_of(route.port));
        return channels_.rings.of(route.bytes, program_.acknowledged,
                                  channels_.groups[group]->notification_bits());
    }

    void add_ways_back() {
        for (const Route& route : in_.all) {
            (void)channels_.add_out(route.peer, route.port, Ring::tiny);
        }
        for (const Route& route : out_.all) {
            (void)channels_.add_in(route.peer, route.port, Ring::tiny);
        }
    }

    /// Of a peer that is read any channel will do: it says how the peer is reached.
    void assign_peers() {
        const auto assigned = [this](std::uint32_t peer) {
            const auto leads_there = [peer](const Route& route) {
                return route.peer == static_cast<Rank>(peer);
            };
            const auto out = std::find_if(out_.all.begin(), out_.all.end(), leads_there);
            if (out != out_.all.end()) {
                return out->channel;
            }
            const auto in = std::find_if(in_.all.begin(), in_.all.end(), leads_there);
            return channels_.add_out(in->peer, in->port, Ring::tiny);
        };
        std::transform(program_.peers.begin(), program_.peers.end(), program_.peers.begin(),
                       assigned);
        std::transform(program_.reads.begin(), program_.reads.end(), program_.reads.begin(),
                       assigned);
    }

    void assign(Location& at) const {
        if (at.space >= first_peer) {
            at.space = program_.first_peer + (at.space - first_peer);
        } else if (at.space >= Location::first_landing) {
            at.space =
                Location::first_landing + in_.all[at.space - Location::first_landing].channel;
        }
    }

    void list_arrivals() {
        program_.arrivals.resize(channels_.in.size());
        for (const Route& route : in_.all) {
            program_.arrivals[route.channel] = {
                static_cast<std::uint32_t>(program_.arrival_steps.size()),
                static_cast<std::uint32_t>(route.arrivals.size())};
            for (const Arrival& arrival : route.arrivals) {
                program_.arrival_steps.push_back(arrival.step);
                program_.arrival_bytes.push_back(arrival.bytes);
                program_.arrival_copies.push_back(arrival.copies);
                program_.arrival_offsets.push_back(arrival.offset);
            }
        }
    }

    ProgramRange lower_transfers(const std::vector<Transfer>& transfers) {
        ProgramRange range{static_cast<std::uint32_t>(program_.ops.size()), 0};
        for (const Transfer& t : transfers) {
            add_op(program_.ops, Action::replace, t.target, t.source, t.bytes);
        }
        range.count = static_cast<std::uint32_t>(program_.ops.size()) - range.first;
        return range;
    }

    /// Every rank divides what it takes, so that equal sums become equal averages.
    void add_divisions(ProgramRange& end) {
        for (const Run& run : map_.averages()) {
            if (run.bytes == 0) {
                continue;
            }
            program_.ops.push_back(
                {ProgramOp::Kind::divide, run.at, {}, {}, run.bytes / element_bytes_});
            ++end.count;
        }
    }

    ProgramRange lower_moves(const Step& step) {
        ProgramRange range{static_cast<std::uint32_t>(program_.ops.size()), 0};
        const auto moves = schedule_.moves_of(step);
        if (std::any_of(moves.begin(), moves.end(),
                        [](const Move& m) { return m.pulls() || m.initial; })) {
            return lower_pulling_moves(moves);
        }
        for (const Move& move : moves) {
            const Extent target{move.to, move.from.count};
            const std::vector<Run> from = runs({&move.from, 1});
            const std::vector<Run> to = runs({&target, 1});
            pair_runs(from, to, move.action);
        }
        range.count = static_cast<std::uint32_t>(program_.ops.size()) - range.first;
        return range;
    }

    ProgramRange lower_pulling_moves(std::span<const Move> moves) {
        std::vector<PlacedMove> placed;
        for (const Move& move : moves) {
            place(move, placed);
        }
        const std::vector<ProgramOp> ops = pulls_.lower(placed, element_bytes_, map_.in_place());
        const ProgramRange range{static_cast<std::uint32_t>(program_.ops.size()),
                                 static_cast<std::uint32_t>(ops.size())};
        program_.ops.insert(program_.ops.end(), ops.begin(), ops.end());
        return range;
    }

    /// Where blocks lie in a peer's vectors is known where it is the same on all ranks.
    void place(const Move& move, std::vector<PlacedMove>& placed) const {
        const Extent target{move.to, move.from.count};
        const std::vector<Run> from = runs({&move.from, 1});
        const std::vector<Run> to = runs({&target, 1});
        if (from.empty()) {
            return;
        }
        PlacedMove m{move.action, false, false, to.front().at, from.front().at, from.front().bytes};
        const bool elsewhere = move.pulls() || move.initial;
        if (from.size() > 1 || to.size() > 1 || from.front().bytes != to.front().bytes ||
            (elsewhere && (!map_.alike_on_all_ranks() || m.source.space != Location::output))) {
            throw Error(Status::internal,
                        "blocks that ranks read from each other do not lie alike on all of them; "
                        "please report this");
        }
        m.temporary = is_temporary(schedule_, *part_, move.to);
        pulls_.place_source(move, m);
        placed.push_back(m);
    }

    /// The same bytes, cut differently on the two sides.
    void pair_runs(std::vector<Run> from, std::vector<Run> to, Action action) {
        for (std::size_t i = 0, j = 0; i < from.size() && j < to.size();) {
            const std::size_t bytes = std::min(from[i].bytes, to[j].bytes);
            if (action == Action::reduce || !same_place(from[i].at, to[j].at)) {
                add_op(program_.ops, action, to[j].at, from[i].at, bytes);
            }
            for (Run* run : {&from[i], &to[j]}) {
                run->at.offset += bytes;
                run->bytes -= bytes;
            }
            i += from[i].bytes == 0 ? 1 : 0;
            j += to[j].bytes == 0 ? 1 : 0;
        }
    }

    void lower_send(const Send& send) {
        const auto extents = schedule_.extents_of(send);
        const std::vector<Run> pieces =
            send.opens ? std::vector<Run>{{{Location::addresses, 0}, sizeof(VectorAddresses)}}
                       : runs(extents);
        const std::size_t bytes = total(pieces);
        if (bytes == 0 && !extents.empty()) {
            return;
        }
        ProgramPut put;
        put.channel = out_.number(send.peer, send.port);
        put.group = channels_.group_of(send.port);
        put.bytes = bytes;
        take_place(out_.all[put.channel], bytes, put.landing_offset, put.index);
        if (pieces.size() == 1 && !options_.pack_all) {
            put.source = pieces[0].at;
        } else if (bytes > 0) {
            put.pack_offset = program_.pack_bytes[put.group];
            put.packs.first = static_cast<std::uint32_t>(program_.ops.size());
            std::size_t at = put.pack_offset;
            for (const Run& piece : pieces) {
                add_op(program_.ops, Action::replace, {Location::output, at}, piece.at,
                       piece.bytes);
                at += piece.bytes;
            }
            put.packs.count = static_cast<std::uint32_t>(program_.ops.size()) - put.packs.first;
            program_.pack_bytes[put.group] += aligned(bytes);
        }
        program_.puts.push_back(put);
    }

    std::uint32_t lower_receives(const Step& step, std::uint32_t this_step, ProgramStep& lowered) {
        std::vector<ProgramOp> ops;
        std::uint32_t arrivals = 0;
        for (const Receive& receive : schedule_.receives_of(step)) {
            arrivals += lower_receive(receive, this_step, ops) ? 1 : 0;
        }
        fuse(ops);
        lowered.after = {static_cast<std::uint32_t>(program_.ops.size()),
                         static_cast<std::uint32_t>(ops.size())};
        program_.ops.insert(program_.ops.end(), ops.begin(), ops.end());
        return arrivals;
    }

    bool lower_receive(const Receive& receive, std::uint32_t this_step,
                       std::vector<ProgramOp>& ops) {
        const auto applications = schedule_.applications_of(receive);
        std::size_t bytes = receive.opens ? sizeof(VectorAddresses) : 0;
        if (!applications.empty()) {
            bytes = total(runs(schedule_.extents_of(applications[0])));
            if (bytes == 0) {
                return false;
            }
        }
        const std::uint32_t route = in_.number(receive.peer, receive.port);
        const std::uint32_t space = Location::first_landing + route;
        std::size_t landing = 0;
        std::uint32_t index = 0;
        take_place(in_.all[route], bytes, landing, index);
        Arrival arrival{this_step, bytes, landing, 0};
        const std::size_t first_op = ops.size();
        if (receive.opens) {
            ops.push_back(pulls_.open(receive.peer, {space, landing}));
        }
        for (const Application& application : applications) {
            std::size_t from = landing;
            for (const Run& run : runs(schedule_.extents_of(application))) {
                add_op(ops, application.action, run.at, {space, from}, run.bytes);
                from += run.bytes;
            }
            arrival.copies += application.action == Action::replace ? bytes : 0;
        }
        in_.all[route].arrivals.push_back(arrival);
        if (applications.size() == 1 && applications[0].action == Action::replace) {
            for (std::size_t i = first_op; i < ops.size(); ++i) {
                ops[i].arrival = index;  // of the channel, until all are known
            }
        }
        return true;
    }

    /// Programs are kept.
    void shrink() {
        const auto fit = [](auto&... lists) { (lists.shrink_to_fit(), ...); };
        fit(program_.parts, program_.steps, program_.puts, program_.ops, program_.used_in,
            program_.used_out, program_.arrivals, program_.arrival_steps, program_.arrival_bytes,
            program_.arrival_offsets, program_.arrival_copies, program_.peers, program_.reads);
    }

    void name_arrivals() {
        for (ProgramOp& op : program_.ops) {
            if (op.arrival != ProgramOp::none) {
                op.arrival += program_.arrivals[op.source.space - Location::first_landing].first;
            }
        }
    }

    void add_op(std::vector<ProgramOp>& ops, Action action, Location target, Location source,
                std::size_t bytes) const {
        if (bytes == 0) {
            return;
        }
        if (action == Action::replace) {
            ops.push_back({ProgramOp::Kind::copy, target, source, {}, bytes});
        } else {
            const auto kind =
                action == Action::prepend ? ProgramOp::Kind::prepend : ProgramOp::Kind::reduce;
            ops.push_back({kind, target, source, {}, bytes / element_bytes_});
        }
    }

    /// Joins two reductions into the same place into one pass, where nothing between touches it.
    void fuse(std::vector<ProgramOp>& ops) const {
        for (std::size_t i = 0; i < ops.size(); ++i) {
            const std::size_t partner = fusion_partner(ops, i);
            if (partner != i) {
                ops[i].kind = ProgramOp::Kind::joint;
                ops[i].second = ops[partner].source;
                ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(partner));
            }
        }
    }

    /// The later reduction into exactly the same place as ops[i], or i.
    std::size_t fusion_partner(const std::vector<ProgramOp>& ops, std::size_t i) const {
        if (ops[i].kind != ProgramOp::Kind::reduce) {
            return i;
        }
        const std::size_t horizon = std::min(ops.size(), i + fusion_horizon);
        for (std::size_t j = i + 1; j < horizon; ++j) {
            if (!overlap(ops[i], ops[j])) {
                continue;
            }
            const bool same_place = ops[j].kind == ProgramOp::Kind::reduce &&
                                    ops[j].target.offset == ops[i].target.offset &&
                                    ops[j].elements == ops[i].elements;
            return same_place ? j : i;
        }
        return i;
    }

    bool overlap(const ProgramOp& a, const ProgramOp& b) const {
        return a.target.space == b.target.space &&
               a.target.offset < b.target.offset + target_bytes(b) &&
               b.target.offset < a.target.offset + target_bytes(a);
    }

    std::size_t target_bytes(const ProgramOp& op) const {
        return op.kind == ProgramOp::Kind::copy ? op.elements : op.elements * element_bytes_;
    }
    static constexpr std::size_t fusion_horizon =
        256;  // keeps lowering of scattered messages linear

    /// The extents as runs of bytes; empty ones left out, neighbours merged.
    std::vector<Run> runs(std::span<const Extent> extents) const {
        std::vector<Run> result;
        for (const Extent& e : extents) {
            const Block end = e.first + e.count;
            const Block vector_end = std::min(end, part_->vector_blocks);
            if (e.first < vector_end) {
                map_.append(part_index_, e.first, vector_end, result);
            }
            const Block first = std::max(e.first, part_->vector_blocks);
            if (first < end && scratch_block_bytes_ > 0) {
                result.push_back(
                    {{Location::scratch,
                      scratch_first_ + (first - part_->vector_blocks) * scratch_block_bytes_},
                     (end - first) * scratch_block_bytes_});
            }
        }
        return result;
    }

    static std::size_t total(const std::vector<Run>& runs) {
        std::size_t bytes = 0;
        for (const Run& run : runs) {
            bytes += run.bytes;
        }
        return bytes;
    }

    void take_place(Route& route, std::size_t bytes, std::size_t& offset,
                    std::uint32_t& index) const {
        offset = route.bytes;
        index = route.messages++;
        route.bytes += aligned(bytes);
        if (route.bytes > channels_.rings[Ring::few].slot_bytes ||
            index >= Notification::index_limit) {
            throw Error(Status::unsupported,
                        "the messages between rank " + std::to_string(schedule_.rank) +
                            " and rank " + std::to_string(route.peer) + " in one segment (" +
                            std::to_string(route.messages) + " so far, " +
                            std::to_string(route.bytes) +
                            " bytes) exceed their landing slot; raise TREFOIL_LANDING_BYTES or use "
                            "another algorithm");
        }
    }

    const Schedule& schedule_;
    const VectorMap& map_;
    Channels& channels_;
    std::size_t element_bytes_;
    const LowerOptions options_;
    Routes out_, in_;
    Program program_;
    PartPulls pulls_{channels_, program_};
    const Part* part_ = nullptr;
    std::uint32_t part_index_ = 0;
    std::size_t scratch_first_ = 0, scratch_block_bytes_ = 0;
};

}  // namespace

Program lower(const Schedule& schedule, const VectorMap& map, Channels& channels,
              const LowerOptions& options) {
    return Lowering(schedule, map, channels, options).lower();
}

}  // namespace trefoil
