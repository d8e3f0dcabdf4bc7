// SPDX-License-Identifier: BSD-3-Clause
// What rank 0 of `trefoil tune` shows: ports, winners as they are found, and the time left.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "bench/tune/contest.hpp"
#include "bench/tune/crossovers.hpp"
#include "bench/tune/machine.hpp"
#include "comm/setup/tuning_writer.hpp"

namespace trefoil::tool {

class TuneReport {
  public:
    /// `silent`: prints nothing.
    explicit TuneReport(bool silent);

    void head(const TunedJob& job) const;
    void add(const MachineFigures& figures, const ModelNumbers& numbers) const;
    /// How many seconds all calls will take, roughly.
    void expect(double seconds);
    void begin(Collective collective, std::string_view type, TuningRule::Types types) const;
    void announce(Collective collective, std::size_t bytes) const;
    /// `models`: the first of `contenders` is what the model takes; else a crossover is looked for.
    void add(std::size_t bytes, const std::vector<Contender>& contenders, const Contender& winner,
             bool models);
    /// So much of what was expected is over.
    void done(double seconds);
    void end(const std::vector<WinnersRange>& ranges) const;
    /// By which factor prices miss half of the times, by new numbers and by those of now.
    void judge(double missed, double missed_now, bool better) const;
    void finish(const std::string& text) const;

  private:
    std::string left_text() const;

    bool silent_, progress_;
    std::chrono::steady_clock::time_point start_;
    double expected_ = 0, done_ = 0;
    std::vector<double> gains_;  ///< the model's choice / the winner
};

}  // namespace trefoil::tool
