// SPDX-License-Identifier: BSD-3-Clause
// The calls of one collective and type, by the size of the whole vector.
#pragma once

#include <algorithm>
#include <cstddef>

#include "bench/perf/workload.hpp"
#include "comm/plan/request.hpp"
#include "comm/setup/tuning.hpp"

namespace trefoil::tool {

/// Calls for which one list of winners is made.
struct Subject {
    Collective collective = Collective::allreduce;
    TuningRule::Types types = TuningRule::Types::all;
    DataType type = DataType::float32;

    Request request(const Torus& torus, std::size_t bytes) const {
        const std::size_t unit = unit_bytes(torus);
        return {.collective = collective,
                .type = type,
                .op = Operation::sum,
                .count = std::max<std::size_t>(1, (bytes + unit / 2) / unit)};
    }
    Case what(const Torus& torus, std::size_t bytes) const {
        Case what;
        what.collective = collective;
        what.type = type;
        what.count = request(torus, bytes).count;
        if (traits_of(collective).reduces) {
            what.operation = Operation::sum;
        }
        what.in_place = traits_of(collective).in_place == InPlace::always;
        return what;
    }
    /// Of the smallest vector.
    std::size_t unit_bytes(const Torus& torus) const {
        return std::max<std::size_t>(1, traits_of(collective).blocks(torus)) * size_of(type);
    }
};

}  // namespace trefoil::tool
