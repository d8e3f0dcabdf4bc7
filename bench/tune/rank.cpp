// SPDX-License-Identifier: BSD-3-Clause
// The order of things: ports first, then collective by collective, size by size, and the file.
#include "bench/tune/rank.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/common/names.hpp"
#include "bench/tune/candidates.hpp"
#include "bench/tune/contest.hpp"
#include "bench/tune/machine.hpp"
#include "bench/tune/regret.hpp"
#include "bench/tune/report.hpp"
#include "bench/tune/stopwatch.hpp"
#include "bench/tune/subject.hpp"
#include "bench/tune/timed_choices.hpp"
#include "comm/api/c_guard.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

/// Differences below it say nothing.
constexpr double noise = 0.03;
/// Who is at most so many times as slow as the winner may be in front between two sizes.
constexpr double near = 1.15;

/// One size, and what is worth measuring there.
struct Cell {
    std::size_t bytes = 0;  ///< of the whole vector
    Candidates candidates;
};

class Tuner {
  public:
    Tuner(const TuneOptions& options, const TunePlan& plan, const trefoil_config_t& config)
        : options_(options),
          plan_(plan),
          session_(config),
          communicator_(*session_.handle()->communicator),
          contests_(session_, {.rounds = options.rounds, .slice = options.slice_ms * 1e-3}),
          report_(session_.rank() != 0) {}

    int run();

  private:
    void measure_ports();
    void find_candidates();
    std::vector<Cell> cells_of(const Subject& subject) const;
    double expected_seconds(const Candidates& candidates) const;
    void tune(const Subject& subject, const std::vector<Cell>& cells);
    Winner measure(const Subject& subject, std::size_t bytes, const std::vector<std::string>& names,
                   const std::string& preferred, bool models);
    void remember(const Subject& subject, std::size_t bytes,
                  const std::vector<Contender>& contenders);
    void judge_numbers();

    const TuneOptions& options_;
    const TunePlan& plan_;
    Session session_;
    const Communicator& communicator_;
    Contests contests_;
    TuneReport report_;
    std::vector<std::pair<Subject, std::vector<Cell>>> subjects_;
    ModelNumbers numbers_;
    TunedJob job_;
    TimedChoices timed_;
};

void Tuner::measure_ports() {
    const MachineFigures figures = measure_machine(session_, options_.slice_ms * 1e-3);
    numbers_ = numbers_of(figures, *communicator_.settings().cost_model);
    report_.add(figures, numbers_);
}

std::vector<Cell> Tuner::cells_of(const Subject& subject) const {
    const Torus& torus = session_.torus();
    std::vector<Cell> cells;
    for (const std::size_t bytes : plan_.sizes) {
        const Request request = subject.request(torus, bytes);
        const std::size_t whole = request.count * subject.unit_bytes(torus);
        if (cells.empty() || cells.back().bytes < whole) {
            cells.push_back({whole, candidates_of(communicator_, request)});
        }
    }
    return cells;
}

/// Before anything is measured, as that forces algorithms. Sums of integers stand for all
/// reductions that give the same bits in any order. Where these have candidates of their own, they
/// are measured on their own.
void Tuner::find_candidates() {
    using Types = TuningRule::Types;
    for (const Collective collective : plan_.collectives) {
        Subject fixed{collective, Types::all, DataType::float32};
        const Subject any{collective, Types::any_order, DataType::int32};
        std::vector<Cell> cells = cells_of(fixed), any_cells;
        if (traits_of(collective).reduces) {
            any_cells = cells_of(any);
        }
        const bool differ = !std::ranges::equal(
            cells, any_cells, {}, [](const Cell& cell) { return cell.candidates.algorithms; },
            [](const Cell& cell) { return cell.candidates.algorithms; });
        if (!any_cells.empty() && differ) {
            fixed.types = Types::fixed_order;
            subjects_.emplace_back(fixed, std::move(cells));
            subjects_.emplace_back(any, std::move(any_cells));
        } else {
            subjects_.emplace_back(fixed, std::move(cells));
        }
    }
}

/// Of measuring them, roughly: for the time that is left.
double Tuner::expected_seconds(const Candidates& candidates) const {
    const auto number = static_cast<double>(candidates.algorithms.size());
    const double calls = candidates.seconds * number;
    return 4 * calls + options_.rounds * 0.7 * std::max(calls, options_.slice_ms * 1e-3 * number);
}

void Tuner::remember(const Subject& subject, std::size_t bytes,
                     const std::vector<Contender>& contenders) {
    const SelectionBasis basis = selection_basis(communicator_.settings());
    for (const Contender& one : contenders) {
        Choice choice = parse_choice(subject.collective, one.algorithm);
        if (one.took_part && choice.options.pieces == 0) {
            choice.options.pieces = pieces_for(choice, session_.torus(), bytes, basis);
        }
        if (one.took_part) {
            timed_.add({subject.collective, subject.type, bytes,
                        modelled(session_.torus(), choice, bytes, basis), one.seconds, one.median});
        }
    }
}

Winner Tuner::measure(const Subject& subject, std::size_t bytes,
                      const std::vector<std::string>& names, const std::string& preferred,
                      bool models) {
    report_.announce(subject.collective, bytes);
    const std::vector<Contender> contenders =
        contests_.hold(subject.what(session_.torus(), bytes), names);
    remember(subject, bytes, contenders);
    const Contender& winner = winner_of(contenders, preferred, noise);
    report_.add(bytes, contenders, winner, models);
    return {bytes, winner.algorithm, near_to(winner, contenders, near)};
}

void Tuner::tune(const Subject& subject, const std::vector<Cell>& cells) {
    report_.begin(subject.collective, to_string(subject.type), subject.types);
    std::vector<Winner> winners;
    for (const Cell& cell : cells) {
        std::vector<std::string> names = cell.candidates.algorithms;
        const std::string before = winners.empty() ? names.front() : winners.back().algorithm;
        if (std::ranges::count(names, before) == 0) {
            names.push_back(before);
        }
        winners.push_back(measure(subject, cell.bytes, names, before, true));
        report_.done(expected_seconds(cell.candidates));
    }
    const std::size_t unit = subject.unit_bytes(session_.torus());
    for (int i = 0; i < options_.bisections; ++i) {
        for (std::size_t w = 1; w < winners.size(); ++w) {
            const Winner low = winners[w - 1], high = winners[w];
            const std::size_t middle = between(low.bytes, high.bytes, unit);
            const std::vector<std::string> names = worth_between(low, high, i == 0);
            if (middle == 0 || names.size() < 2) {
                continue;
            }
            winners.insert(winners.begin() + static_cast<std::ptrdiff_t>(w),
                           measure(subject, middle, names, low.algorithm, false));
            ++w;
        }
    }
    const std::vector<WinnersRange> ranges = ranges_of(winners);
    for (const WinnersRange& range : ranges) {
        const Choice choice = parse_choice(subject.collective, range.algorithm);
        job_.rules.push_back(
            {subject.collective, subject.types, range.bytes, choice.algorithm, choice.options});
    }
    report_.end(ranges);
}

/// Numbers that foretell less than those that the job has are not worth writing down.
void Tuner::judge_numbers() {
    const CostModel now = *communicator_.settings().cost_model;
    const Torus& torus = session_.torus();
    const double missed = timed_.misses(torus, parse_cost_model(text_of(numbers_)));
    const double missed_now = timed_.misses(torus, now);
    const bool better = timed_.empty() || missed < missed_now;
    report_.judge(missed, missed_now, better);
    if (better) {
        job_.numbers = numbers_;
    }
}

int Tuner::run() {
    const Torus& torus = session_.torus();
    if (torus.ranks() < 2) {
        throw Error(Status::invalid_argument,
                    "tune needs two ranks, as one has nobody to wait for");
    }
    job_.key = communicator_.tuning_key();
    job_.made = made_here();
    report_.head(job_);
    if (!options_.ports_only) {
        find_candidates();
    }
    measure_ports();
    double expected = 0;
    for (const auto& [subject, cells] : subjects_) {
        for (const Cell& cell : cells) {
            expected += expected_seconds(cell.candidates);
        }
    }
    report_.expect(expected);
    for (const auto& [subject, cells] : subjects_) {
        tune(subject, cells);
    }
    judge_numbers();
    if (contests_.wrong() > 0) {
        report_.finish(
            fmt::format("{} elements were WRONG; nothing was written", contests_.wrong()));
        return exit_wrong;
    }
    if (session_.rank() == 0) {
        write_tuning_file(options_.output, job_);
        if (!options_.json.empty()) {
            timed_.write(options_.json, job_);
        }
    }
    report_.finish(fmt::format("{} has it for {}; use it by TREFOIL_TUNING={}", options_.output,
                               job_.key.text(), options_.output));
    session_.barrier();
    return exit_success;
}

}  // namespace

int tune_rank(const TuneOptions& options, const TunePlan& plan, const trefoil_config_t& config) {
    if (options.regret > 0) {
        return regret_rank(options, plan, config);
    }
    return Tuner(options, plan, config).run();
}

}  // namespace trefoil::tool
