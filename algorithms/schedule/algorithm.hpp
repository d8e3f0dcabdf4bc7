// SPDX-License-Identifier: BSD-3-Clause
// What an algorithm is: name, collective, paper, shapes, traits, options, builder.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/schedule.hpp"
#include "topo/torus.hpp"

namespace trefoil {

struct CostModel;

enum class CostClass : std::uint8_t {
    latency,   ///< few steps, the whole vector in each: small vectors
    bandwidth  ///< every element sent about twice: large vectors
};

struct Traits {
    CostClass cost_class = CostClass::bandwidth;
    /// All ranks associate each sum alike: results are bitwise identical on all ranks.
    bool identical_results = true;
    /// Reduces in rank order, first (rank 0 op rank 1), then op rank 2, ...: right for operations
    /// that do not commute, and the same bits whatever the shape and the algorithm.
    bool order_preserving = false;
    /// A message travels in one dimension, in the sense of its port even if the other way is as
    /// short. Otherwise the network routes it, and halves of such messages are taken to go each
    /// way.
    bool steered = false;
    /// Runs alltoallv: every block goes straight to its target, so that blocks may differ in size.
    bool vector_variant = false;
};

/// How blocks that a reduce-scatter or an allgather keeps in another order than the user's travel
/// (De Sensi et al., Bine trees, SC 2025, section 4).
enum class Layout : std::uint8_t {
    automatic,         ///< the algorithm's own choice
    block_by_block,    ///< blocks stay in rank order: many extents per message
    permute,           ///< blocks are renumbered while they are copied: one extent
    send,              ///< blocks are not renumbered; a last (first) message brings them home
    two_transmissions  ///< a butterfly whose messages wrap around: at most two extents
};
std::string_view to_string(Layout layout);

/// On a torus of D dimensions, D exchanges that take the dimensions in rotated order keep all ports
/// busy. How the blocks are shared out among them.
enum class Rotation : std::uint8_t {
    automatic,  ///< the algorithm's own choice
    split,      ///< each takes one of D equal slices of every block
    whole       ///< "class": each takes whole blocks, by the sum of their offsets mod D
};
std::string_view to_string(Rotation rotation);

/// What keeps the phases of an exchange apart, for networks in which messages that meet block each
/// other. Where they share a link's rate it only costs time; results are the same.
enum class PhaseSync : std::uint8_t {
    none,     ///< a rank goes on when it has what it needs
    signals,  ///< messages without data from those who know that a way is free; else barriers
    barrier   ///< every rank waits for all ranks between any two steps
};
std::string_view to_string(PhaseSync sync);

/// More make a schedule too long to be of use.
inline constexpr Block most_pieces = 65536;

/// What can be asked of an algorithm beside the torus. Ranks of one call ask alike.
struct BuildOptions {
    Rank root = 0;                      ///< of rooted collectives
    Layout layout = Layout::automatic;  ///< of algorithms with layouts
    /// The published variant in which a rank sends one message at a time and receives one.
    bool single_port = false;
    /// Pipelined algorithms cut a part into this many blocks, at most most_pieces; 0: a default.
    Block pieces = 0;
    int radix = 0;  ///< of exchanges along digits: 2 and more; 0: a default
    int ports = 0;  ///< bruck: messages per step; 0: one
    Rotation rotation = Rotation::automatic;
    /// Partitioned exchanges with four nodes to a partition: their first phase in two steps.
    bool binary = false;
    PhaseSync sync = PhaseSync::none;  ///< of exchanges along the rings of a torus
    friend bool operator==(const BuildOptions&, const BuildOptions&) = default;
};

/// What of BuildOptions an algorithm understands beside the root; asking for more is refused.
struct Abilities {
    bool layouts = false;
    bool single_port = false;
    bool pieces = false;
    bool radix = false;
    bool ports = false;
    bool rotation = false;
    bool binary = false;
    bool barriers = false;  ///< PhaseSync::barrier
    bool signals = false;   ///< PhaseSync::signals
};

struct Algorithm {
    std::string_view name;  ///< kebab-case, as users type it
    Collective collective = Collective::allreduce;
    std::string_view summary;  ///< one line for --help
    std::string_view paper;    ///< source, with section or equation
    std::string_view shapes;   ///< "every torus", "power-of-two dimensions", ...
    Traits traits = {};
    Abilities abilities = {};
    /// Empty when the algorithm runs on this torus, else the reason why not.
    std::string (*shape_refusal)(const Torus&) = nullptr;
    /// The schedule of one rank. Only called when refusal() is empty. Thread-safe.
    Schedule (*builder)(const Torus&, Rank, const BuildOptions&) = nullptr;
    /// Upper bound, the same on every rank, of what one rank receives from one peer through one
    /// port in the whole schedule, in vectors. The runtime sizes landing zones and segments by it.
    double (*landing_vectors)(const Torus&, const BuildOptions&) = nullptr;
    /// Where each block belongs to one rank: the rank whose block each position of a part is (a
    /// part has as many vector blocks as the torus has ranks). Null: position b is block b. It is
    /// the same on all ranks and therefore not in the schedule.
    std::vector<Rank> (*owners)(const Torus&, const BuildOptions&, int part) = nullptr;
    /// Pipelined algorithms only: the BuildOptions::pieces that are fastest for a vector of so many
    /// bytes under the model. Pure. Null: not pipelined.
    Block (*best_pieces)(const Torus&, const CostModel&, double vector_bytes) = nullptr;

    /// Empty when the algorithm runs on this torus with these options, else the reason why not.
    std::string refusal(const Torus& torus, const BuildOptions& options = {}) const;
    Schedule build(const Torus& torus, Rank rank, const BuildOptions& options = {}) const {
        return builder(torus, rank, options);
    }
    /// owners() with null spelt out.
    std::vector<Rank> block_owners(const Torus& torus, const BuildOptions& options, int part) const;
};

}  // namespace trefoil
