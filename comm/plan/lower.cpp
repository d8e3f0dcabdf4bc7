// SPDX-License-Identifier: BSD-3-Clause
// Lowering: parts become byte ranges, extents become offsets, messages become puts and arrivals.
#include "comm/plan/lower.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "comm/plan/fusion.hpp"
#include "comm/plan/late_copies.hpp"
#include "comm/plan/pulls.hpp"
#include "comm/plan/routes.hpp"
#include "threads/executor/notification.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

/// In place, a rank's own block of an alltoall is where it is to be copied.
bool same_place(Location a, Location b) {
    return a.space == b.space && a.offset == b.offset;
}

/// Program::order and what belongs to it.
void order_steps(Program& program) {
    for (std::uint32_t s = 0; s < program.steps.size(); ++s) {
        program.order.push_back(s);
    }
    std::ranges::stable_sort(program.order, {},
                             [&](std::uint32_t s) { return program.steps[s].schedule_step; });
    std::vector<std::vector<ProgramArrival>> by_step(program.steps.size());
    for (const std::uint32_t in : program.used_in) {
        const ProgramRange range = program.arrivals[in];
        for (std::uint32_t a = range.first; a < range.first + range.count; ++a) {
            by_step[program.arrival_steps[a]].push_back({in, a});
        }
    }
    for (const auto& awaited : by_step) {
        program.awaited_by_step.push_back({static_cast<std::uint32_t>(program.awaited.size()),
                                           static_cast<std::uint32_t>(awaited.size())});
        program.awaited.insert(program.awaited.end(), awaited.begin(), awaited.end());
    }
}

/// Messages are lowered to routes, which get their channels in the end.
class Lowering {
  public:
    Lowering(const Schedule& schedule, const VectorMap& map, Channels& channels,
             const LowerOptions& options)
        : schedule_(schedule),
          map_(map),
          channels_(channels),
          element_bytes_(map.element_bytes()),
          options_(options),
          routes_(schedule.rank, channels.rings) {
        program_.pack_bytes.resize(channels.groups.size());
        program_.first_peer = Routes::first_peer;
    }

    Program lower() {
        // Peers open what is shown also where it is empty.
        program_.scratch_bytes =
            aligned(std::max<std::size_t>(map_.image_bytes(), map_.shows_image() ? 1 : 0));
        program_.shows_image = map_.shows_image();
        if (const std::vector<Transfer> copies = map_.begin(); copies_late(copies)) {
            late_ = LateCopies(copies);
        } else {
            program_.begin = lower_transfers(copies);
        }
        program_.end = lower_transfers(map_.end());
        add_divisions(program_.end);
        for (std::uint32_t p = 0; p < schedule_.parts.size(); ++p) {
            lower_part(p);
        }
        copy_what_nobody_has_touched();
        program_.acknowledged = options_.acknowledged && !channels_.rings.are_flagged();
        program_.image_is_input = map_.image_is_input();
        program_.image_is_output = map_.image_is_output();
        routes_.assign(program_, channels_, options_.counts_in_pairs);
        name_arrivals();
        if (channels_.rings.are_flagged()) {
            order_steps(program_);
        }
        shrink();
        return std::move(program_);
    }

  private:
    /// Where that pays, and nobody else reads what has been copied.
    bool copies_late(const std::vector<Transfer>& copies) const {
        std::size_t bytes = 0;
        for (const Transfer& copy : copies) {
            bytes += copy.bytes;
        }
        return map_.input_stays() && !copies.empty() &&
               bytes / copies.size() >= least_late_copy * schedule_.parts.size() &&
               std::ranges::none_of(schedule_.sends, &Send::opens);
    }

    void lower_part(std::uint32_t p) {
        const Part& part = schedule_.parts[p];
        part_ = &part;
        part_index_ = p;
        scratch_first_ = program_.scratch_bytes;
        scratch_block_bytes_ = part.scratch_blocks > 0 ? map_.block_bytes(p, part.scratch_like) : 0;
        program_.scratch_bytes += aligned(scratch_block_bytes_ * part.scratch_blocks);
        pulls_.begin_part();
        worked_on_ = late_.empty() ? LateCopies() : LateCopies(what_is_worked_on());
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
        lowered.before.first = static_cast<std::uint32_t>(program_.ops.size());
        copy_for_moves(step);
        lower_moves(step);
        copy_for_sends(step);
        lowered.before.count =
            static_cast<std::uint32_t>(program_.ops.size()) - lowered.before.first;
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

    void copy_what_nobody_has_touched() {
        if (!late_.empty()) {
            program_.begin = {static_cast<std::uint32_t>(program_.ops.size()), 0};
            for (const Run& run : map_.wanted()) {
                late_.copy(run, program_.ops);
            }
            program_.begin.count =
                static_cast<std::uint32_t>(program_.ops.size()) - program_.begin.first;
        }
    }
    void copy_for_moves(const Step& step) {
        for (const Move& move :
             late_.empty() ? std::span<const Move>() : schedule_.moves_of(step)) {
            for (const Extent& extent : {move.from, Extent{move.to, move.from.count}}) {
                for (const Run& run : runs({&extent, 1})) {
                    late_.copy(run, program_.ops);
                }
            }
        }
    }
    /// Of a part, what is pending and not replaced before anything else is done with it but to send
    /// it.
    std::vector<Transfer> what_is_worked_on() const {
        LateCopies pending = late_;
        std::vector<Transfer> found, replaced;
        const auto take = [&](const Extent& extent, std::vector<Transfer>& taken) {
            for (const Run& run : runs({&extent, 1})) {
                pending.take(run, taken);
            }
        };
        for (const Step& step : schedule_.of(*part_)) {
            for (const Move& move : schedule_.moves_of(step)) {
                take(move.from, found);
                take({move.to, move.from.count}, found);
            }
            for (const Receive& receive : schedule_.receives_of(step)) {
                for (const Application& a : schedule_.applications_of(receive)) {
                    for (const Extent& extent : schedule_.extents_of(a)) {
                        take(extent, a.action == Action::replace ? replaced : found);
                    }
                }
            }
        }
        return found;
    }

    /// What is to be copied is sent from the copy, as it is near then; and what lies side by side
    /// stays one piece of a message.
    void copy_for_sends(const Step& step) {
        for (const Send& send :
             late_.empty() ? std::span<const Send>() : schedule_.sends_of(step)) {
            for (const Run& run : runs(schedule_.extents_of(send))) {
                if (late_.is_mixed(run) || worked_on_.has_any_of(run)) {
                    late_.copy(run, program_.ops);
                }
            }
        }
    }

    void lower_moves(const Step& step) {
        const auto moves = schedule_.moves_of(step);
        if (std::any_of(moves.begin(), moves.end(),
                        [](const Move& m) { return m.pulls() || m.initial; })) {
            lower_pulling_moves(moves);
            return;
        }
        for (const Move& move : moves) {
            const Extent target{move.to, move.from.count};
            const std::vector<Run> from = runs({&move.from, 1});
            const std::vector<Run> to = runs({&target, 1});
            pair_runs(from, to, move.action);
        }
    }

    void lower_pulling_moves(std::span<const Move> moves) {
        std::vector<PlacedMove> placed;
        for (const Move& move : moves) {
            place(move, placed);
        }
        const std::vector<ProgramOp> ops =
            pulls_.lower(placed, element_bytes_, map_.may_be_in_place());
        program_.ops.insert(program_.ops.end(), ops.begin(), ops.end());
    }

    void place(const Move& move, std::vector<PlacedMove>& placed) const {
        const Extent target{move.to, move.from.count};
        const bool elsewhere = move.pulls() || move.initial;
        const std::vector<Run> from =
            elsewhere ? std::vector<Run>{map_.at_owner(part_index_, move.from, move.initial)}
                      : runs({&move.from, 1});
        const std::vector<Run> to = runs({&target, 1});
        if (from.empty() || from.front().bytes == 0) {
            return;
        }
        if (from.size() > 1 || to.size() != 1 || from.front().bytes != to.front().bytes) {
            throw Error(Status::internal,
                        "a move between ranks is not one run on both sides; please report this");
        }
        PlacedMove m{move.action, false, false, to.front().at, from.front().at, from.front().bytes};
        m.source.offset += elsewhere && !move.pulls() ? map_.input_for(schedule_.rank) : 0;
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

    /// Where what the peer is to be told will lie.
    std::size_t told_to(Rank peer) {
        std::vector<std::size_t>& told = program_.told;
        const std::size_t offset = map_.input_for(peer);
        const auto known = std::find(told.begin(), told.end(), offset);
        const auto place = static_cast<std::size_t>(known - told.begin());
        if (known == told.end()) {
            told.push_back(offset);
        }
        return place * sizeof(VectorAddresses);
    }

    void lower_send(const Send& send) {
        const auto extents = schedule_.extents_of(send);
        const std::vector<Run> pieces =
            send.opens ? std::vector<Run>{{{Location::addresses, told_to(send.peer)},
                                           sizeof(VectorAddresses)}}
                       : sources(extents);
        const std::size_t bytes = total(pieces);
        if (bytes == 0 && !extents.empty()) {
            return;
        }
        program_.shares_vectors |= send.opens;
        ProgramPut put;
        put.channel = routes_.out(send.peer, send.port);
        put.group = channels_.group_of(send.port);
        put.bytes = bytes;
        const RoutePlace place = routes_.take_out(put.channel, bytes);
        put.landing_offset = place.offset;
        put.index = place.index;
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
        fuse(ops, element_bytes_);
        ops = late_.with_copies(std::move(ops), element_bytes_);
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
        const std::uint32_t route = routes_.in(receive.peer, receive.port);
        const std::uint32_t space = Location::first_landing + route;
        const auto [landing, index] = routes_.take_in(route, bytes);
        RouteArrival arrival{this_step, bytes, landing, 0};
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
        routes_.add_arrival(route, arrival);
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
            program_.used_out, program_.in_bytes, program_.out_bytes, program_.arrivals,
            program_.arrival_steps, program_.arrival_bytes, program_.arrival_offsets,
            program_.arrival_copies, program_.peers, program_.reads, program_.told, program_.order,
            program_.awaited, program_.awaited_by_step);
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

    /// The same, from where they can be read.
    std::vector<Run> sources(std::span<const Extent> extents) const {
        if (late_.empty()) {
            return runs(extents);
        }
        std::vector<Run> result;
        for (const Run& run : runs(extents)) {
            late_.append_sources(run, result);
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

    const Schedule& schedule_;
    const VectorMap& map_;
    Channels& channels_;
    std::size_t element_bytes_;
    const LowerOptions options_;
    Routes routes_;
    Program program_;
    LateCopies late_, worked_on_;  ///< of all parts, and of the part alone
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
