// SPDX-License-Identifier: BSD-3-Clause
// All times that `trefoil tune` has taken, beside what the model expects.
#pragma once

#include <string>
#include <vector>

#include "comm/plan/select.hpp"
#include "comm/setup/tuning_writer.hpp"
#include "threads/kernels/reduce.hpp"

namespace trefoil::tool {

/// One algorithm in one call.
struct TimedChoice {
    Collective collective = Collective::allreduce;
    DataType type = DataType::float32;
    std::size_t bytes = 0;
    Considered model = {};             ///< priced
    std::vector<double> seconds = {};  ///< of each round
    double median = 0;
};

class TimedChoices {
  public:
    void add(TimedChoice figure) { all_.push_back(std::move(figure)); }
    bool empty() const { return all_.empty(); }
    /// By which factor prices by this model miss half of the times, or more.
    double misses(const Torus& torus, const CostModel& model) const;
    /// As JSON; times in microseconds. Throws Error(system_error).
    void write(const std::string& path, const TunedJob& job) const;

  private:
    std::vector<TimedChoice> all_;
};

}  // namespace trefoil::tool
