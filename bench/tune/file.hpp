// SPDX-License-Identifier: BSD-3-Clause
// The tuning file that `trefoil tune` writes: an entry is added, or what was measured anew takes
// its place in the one for the same jobs.
#pragma once

#include <string>
#include <vector>

#include "bench/tune/crossovers.hpp"
#include "bench/tune/machine.hpp"
#include "comm/setup/tuning.hpp"

namespace trefoil::tool {

/// What was measured for one collective, or for some types of it.
struct TunedCalls {
    Collective collective = Collective::allreduce;
    TuningRule::Types types = TuningRule::Types::all;
    std::vector<WinnersRange> ranges;
};

struct TunedJob {
    TuningKey key;
    std::string made;      ///< by whom, where and when
    ModelNumbers numbers;  ///< none: the defaults were as good
    std::vector<TunedCalls> calls;
};

/// Throws Error(invalid_argument) for a file that is there and no tuning file, or a folder where
/// nothing can be written.
void require_tuning_file(const std::string& path);

/// The file is complete at any moment. Throws Error(system_error).
void write_tuning_file(const std::string& path, const TunedJob& job);

}  // namespace trefoil::tool
