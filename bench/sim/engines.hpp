// SPDX-License-Identifier: BSD-3-Clause
// Who works the times out. An engine is a value of Engine, a row of the table, and its function.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "bench/sim/options.hpp"
#include "comm/plan/choices.hpp"

namespace trefoil::tool {

/// One algorithm on one network, at any size.
class Timer {
  public:
    virtual ~Timer() = default;
    /// Without the closing barrier. Throws Error for what cannot be simulated.
    virtual double seconds(double vector_bytes) = 0;
};

struct EngineRow {
    Engine engine;
    std::string_view name;
    std::string_view what;  ///< for --help
    /// `network` outlives the timer; options.root is in `choice` already. Throws Error for what
    /// this engine does not do. Null: this build lacks it.
    std::unique_ptr<Timer> (*prepare)(const SimOptions& options, const Network& network,
                                      const Choice& choice);
    std::string_view missing;  ///< where prepare is null: what to install
};

std::span<const EngineRow> engines();
const EngineRow& row_of(Engine engine);
/// Throws Error(invalid_argument) that lists the names, or says what this build lacks.
const EngineRow& find_engine(std::string_view name);
/// One line that names all.
std::string engine_help();

}  // namespace trefoil::tool
