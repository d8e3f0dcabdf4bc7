// SPDX-License-Identifier: BSD-3-Clause
// Lowering: parts become byte ranges, extents become offsets, messages become puts and arrivals.
#include "comm/plan/lower.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "comm/plan/finish_program.hpp"
#include "comm/plan/fusion.hpp"
#include "comm/plan/part_runs.hpp"
#include "comm/plan/pulls.hpp"
#include "comm/plan/routes.hpp"
#include "threads/executor/notification.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

/// What the rank begins with is read where it lies, and built where something is done to it: the
/// input keeps it, and nobody else reads what is built.
bool reads_input(const Schedule& schedule, const VectorMap& map) {
    return map.input_stays() && std::ranges::none_of(schedule.sends, &Send::opens) &&
           std::ranges::none_of(schedule.moves,
                                [](const Move& m) { return m.pulls() || m.initial; });
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
          reads_input_(reads_input(schedule, map)),
          routes_(schedule.rank, channels.rings, options.at_lines) {
        program_.pack_bytes.resize(channels.groups.size());
        program_.first_peer = Routes::first_peer;
    }

    Program lower() {
        // Peers open what is shown also where it is empty.
        program_.scratch_bytes =
            aligned(std::max<std::size_t>(map_.image_bytes(), map_.shows_image() ? 1 : 0));
        program_.shows_image = map_.shows_image();
        if (!reads_input_) {
            program_.begin = lower_transfers(map_.begin());
        }
        program_.end = lower_transfers(map_.end());
        add_divisions(program_.end);
        std::vector<Transfer> untouched;
        for (std::uint32_t p = 0; p < schedule_.parts.size(); ++p) {
            lower_part(p, untouched);
        }
        if (reads_input_) {
            program_.begin = lower_transfers(untouched);
        }
        program_.acknowledged = options_.acknowledged && !channels_.rings.are_stored();
        add_drains();
        program_.image_is_input = map_.image_is_input();
        program_.image_is_output = map_.image_is_output();
        routes_.assign(program_, channels_, options_.counts_in_pairs);
        finish_program(program_, channels_.rings.are_stored());
        return std::move(program_);
    }

  private:
    /// Program::drains_at.
    void add_drains() {
        if (options_.drains_from == 0) {
            return;
        }
        for (const ProgramRange& part : program_.parts) {
            std::uint32_t step = part.first;
            while (!program_.steps[step].last &&
                   program_.steps[step].schedule_step < options_.drains_from) {
                ++step;
            }
            program_.drains_at.push_back(step);
        }
    }
    /// `untouched`: of what the rank begins with, what is wanted and no step works on.
    void lower_part(std::uint32_t p, std::vector<Transfer>& untouched) {
        const Part& part = schedule_.parts[p];
        part_index_ = p;
        runs_.emplace(map_, part, p, program_.scratch_bytes, reads_input_);
        program_.scratch_bytes += aligned(runs_->scratch_bytes());
        pulls_.begin_part();
        const ProgramRange range{static_cast<std::uint32_t>(program_.steps.size()), 0};
        std::uint32_t number = 0;
        for (const Step& step : schedule_.of(part)) {
            lower_step(step, p, number++);
        }
        runs_->build_wanted(untouched);
        const auto steps = static_cast<std::uint32_t>(program_.steps.size()) - range.first;
        if (steps > 0) {
            program_.steps.back().last = true;
            program_.parts.push_back({range.first, steps});
        }
    }

    void lower_step(const Step& step, std::uint32_t part, std::uint32_t number) {
        ProgramStep lowered;
        lowered.before.first = static_cast<std::uint32_t>(program_.ops.size());
        lower_moves(step);
        std::vector<Transfer> copies;
        for (const Send& send : schedule_.sends_of(step)) {
            runs_->build_unless_whole(schedule_.extents_of(send), copies);
        }
        (void)lower_transfers(copies);
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
        lowered.events = 1 + lowered.puts.count + arrivals;
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
            if (t.bytes > 0) {
                program_.ops.push_back(ProgramOp::copy(t.target, t.source, t.bytes));
            }
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
            program_.ops.push_back({.kind = ProgramOp::Kind::divide,
                                    .target = run.at,
                                    .elements = run.bytes / element_bytes_});
            ++end.count;
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
            apply(move.action, {&target, 1}, runs_->sources(move.from), program_.ops);
        }
    }

    /// What lies at `from` is applied to the extents.
    void apply(Action action, std::span<const Extent> extents, const std::vector<Run>& from,
               std::vector<ProgramOp>& ops) {
        const std::vector<Run> targets = runs_->of(extents);
        if (action == Action::replace) {
            side_by_side(std::array{targets, from}, [&](const auto& at, std::size_t bytes) {
                if (at[0] != at[1]) {  // in place, a rank's own block of an alltoall is there
                    ops.push_back(ProgramOp::copy(at[0], at[1], bytes));
                }
            });
        } else {
            side_by_side(
                std::array{targets, runs_->sources(extents), from},
                [&](const auto& at, std::size_t bytes) {
                    const bool before = action == Action::prepend;
                    ops.push_back(ProgramOp::reduce(at[0], at[before ? 2 : 1], at[before ? 1 : 2],
                                                    bytes / element_bytes_));
                });
        }
        runs_->set_built(extents);
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
                      : runs_->of(move.from);
        const std::vector<Run> to = runs_->of(target);
        if (from.empty() || from.front().bytes == 0) {
            return;
        }
        if (from.size() > 1 || to.size() != 1 || from.front().bytes != to.front().bytes) {
            throw Error(Status::internal,
                        "a move between ranks is not one run on both sides; please report this");
        }
        PlacedMove m{move.action, false, false, to.front().at, from.front().at, from.front().bytes};
        m.source.offset += elsewhere && !move.pulls() ? map_.input_for(schedule_.rank) : 0;
        m.temporary = is_temporary(schedule_, runs_->part(), move.to);
        pulls_.place_source(move, m);
        placed.push_back(m);
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
        const std::vector<Run> runs =
            send.opens ? std::vector<Run>{{{Location::addresses, told_to(send.peer)},
                                           sizeof(VectorAddresses)}}
                       : runs_->sources(extents);
        const std::size_t bytes = total(runs);
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
        if (runs.size() == 1 && !options_.pack_all) {
            put.source = runs[0].at;
        } else if (bytes > 0) {
            put.pack_offset = program_.pack_bytes[put.group];
            put.packs.first = static_cast<std::uint32_t>(program_.ops.size());
            std::size_t at = put.pack_offset;
            for (const Run& run : runs) {
                program_.ops.push_back(ProgramOp::copy({Location::output, at}, run.at, run.bytes));
                at += run.bytes;
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
            bytes = total(runs_->of(schedule_.extents_of(applications[0])));
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
            apply(application.action, schedule_.extents_of(application),
                  {{{space, landing}, bytes}}, ops);
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
    const bool reads_input_;
    Routes routes_;
    Program program_;
    PartPulls pulls_{channels_, program_};
    std::optional<PartRuns> runs_;  ///< of the part that is being lowered
    std::uint32_t part_index_ = 0;  ///< its number
};

}  // namespace

Program lower(const Schedule& schedule, const VectorMap& map, Channels& channels,
              const LowerOptions& options) {
    return Lowering(schedule, map, channels, options).lower();
}

}  // namespace trefoil
