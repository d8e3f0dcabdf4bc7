// SPDX-License-Identifier: BSD-3-Clause
// What can be asked of an algorithm beside the torus, and the one table that describes it to users.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/schedule/schedule.hpp"

namespace trefoil {

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

/// On a torus of D dimensions, D alltoalls that take the dimensions in rotated order keep all ports
/// busy. How the blocks are shared out among them.
enum class Rotation : std::uint8_t {
    automatic,  ///< the algorithm's own choice
    split,      ///< each takes one of D equal slices of every block
    whole       ///< "class": each takes whole blocks, by the sum of their offsets mod D
};
std::string_view to_string(Rotation rotation);

/// What keeps the phases of an alltoall apart, for networks in which messages that meet block each
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
    /// The variant in which a rank sends one message at a time and receives one.
    bool single_port = false;
    /// Pipelined algorithms cut a part into this many blocks, at most most_pieces; 0: a default.
    Block pieces = 0;
    int radix = 0;  ///< of alltoalls along digits: 2 and more; 0: a default
    int ports = 0;  ///< bruck: messages per step; 0: one
    Rotation rotation = Rotation::automatic;
    /// Partitioned alltoalls with four nodes to a partition: their first phase in two steps.
    bool binary = false;
    PhaseSync sync = PhaseSync::none;  ///< of alltoalls along the rings of a torus
    /// On nodes of several ranks: between nodes alone, and inside them before and after
    /// (algorithms/schedule/by_node.hpp).
    bool by_node = false;
    /// To be priced, not run: messages are as large, but which blocks they carry need not be told.
    bool sizes_only = false;
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
    bool by_node = false;
};

/// A value of an option, as it is typed behind a colon after an algorithm's name: "send",
/// "single-port", or "pieces-", which a number follows.
struct OptionValue {
    std::string_view text;
    bool Abilities::*ability;  ///< what an algorithm needs to understand it
    std::string_view lacking;  ///< what is said of an algorithm without it: "is not pipelined"
    std::string_view group;    ///< in `trefoil plan --table`, where values are named together
};

/// One option: a field of BuildOptions, with 0 for "not asked". A new one is the field, its ability
/// and a row of the table; parsing, printing, refusals and `trefoil plan --NAME` follow from it.
struct Option {
    std::string_view name;   ///< `trefoil plan --layout`
    std::string_view unset;  ///< what 0 is called: "automatic"
    std::string_view help;
    std::int64_t (*get)(const BuildOptions&);
    void (*set)(BuildOptions&, std::int64_t);
    /// Of words: the values 1, 2, ...; a number has one, its prefix.
    std::span<const OptionValue> values;
    std::int64_t least = 0, most = 0;  ///< of a number; 0: words

    bool is_number() const { return least > 0; }
    /// A word that stands alone: `--single-port`.
    bool is_flag() const { return !is_number() && values.size() == 1; }
};

/// All options, in the order in which they are printed.
std::span<const Option> option_table();

/// What is typed behind an algorithm's name: ":send:single-port"; empty: nothing is asked.
std::string modifiers_text(const BuildOptions& options);

/// Adds what a modifier ("send", "pieces-8") asks. Returns why it cannot be; empty: done.
std::string add_modifier(BuildOptions& options, std::string_view modifier);
/// The same for all that are typed behind an algorithm's name, between colons: "send:pieces-8".
std::string add_modifiers(BuildOptions& options, std::string_view modifiers);
/// The same for one option alone and its value without the prefix: "send", "8".
std::string set_option(BuildOptions& options, const Option& option, std::string_view value);

/// What can be typed for an option, and for an algorithm with these abilities: "send", "pieces-8"
/// where any number may stand for 8.
std::vector<std::string> words_of(const Option& option);
std::vector<std::string> modifiers(const Abilities& abilities);

/// What of `options` an algorithm with these abilities does not understand, to follow its name: "is
/// not pipelined; leave pieces-8 out". Empty: it understands all.
std::string not_understood(const BuildOptions& options, const Abilities& abilities);

}  // namespace trefoil
