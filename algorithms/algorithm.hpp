// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms: name, collective, paper, shapes, traits, builder. Selection, --help,
// tests and docs all read it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/schedule.hpp"
#include "topo/torus.hpp"

namespace trefoil {

enum class Collective : std::uint8_t { allreduce, barrier };
std::string_view to_string(Collective collective);

enum class CostClass : std::uint8_t {
    latency,   ///< few steps, the whole vector in each: small vectors
    bandwidth  ///< every element sent about twice: large vectors
};

struct Traits {
    CostClass cost_class = CostClass::bandwidth;
    /// All ranks associate each sum alike: results are bitwise identical on all ranks.
    bool identical_results = true;
    /// Reduces in rank order: right for operations that do not commute.
    bool order_preserving = false;
};

struct Algorithm {
    std::string_view name;  ///< kebab-case, as users type it
    Collective collective = Collective::allreduce;
    std::string_view summary;  ///< one line for --help
    std::string_view paper;    ///< source, with section or equation
    std::string_view shapes;   ///< "every torus", "power-of-two dimensions", ...
    Traits traits;
    /// Empty when the algorithm runs on this torus, else the reason why not.
    std::string (*refusal)(const Torus&) = nullptr;
    /// The schedule of one rank. Only called when refusal(torus) is empty. Thread-safe.
    Schedule (*build)(const Torus&, Rank) = nullptr;
    /// Upper bound, the same on every rank, of what one rank receives from one peer through one
    /// port in the whole schedule, in vectors. The runtime sizes landing zones and segments by it.
    double (*landing_vectors)(const Torus&) = nullptr;
};

/// All algorithms, in the order in which they are listed to users.
std::span<const Algorithm> algorithms();

/// Throws Error(not_found) that offers the nearest names, or Error(unsupported) with the refusal's
/// reason when `torus` is given and not supported.
const Algorithm& find_algorithm(Collective collective, std::string_view name,
                                const Torus* torus = nullptr);

/// Up to three of `candidates` nearest to `name` by edit distance, best first; none that differs in
/// more than half of its letters.
std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string> candidates);

}  // namespace trefoil
