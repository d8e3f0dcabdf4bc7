// SPDX-License-Identifier: BSD-3-Clause
// The first words between neighbours: every cable proves that it works, both ways, before a call
// relies on it.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backend/ports/powers.hpp"
#include "threads/executor/engine.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// Connects own ports to their neighbours, says a word through each, and waits until each has
/// answered and has said a word itself. Once, when the ranks have met, before any call. In one
/// thread, which holds the engine in greet_for().
class Handshake {
  public:
    struct Options {
        bool may_spin = false;
        std::chrono::milliseconds timeout{30'000};
        Progress progress{};
        /// To whom a way takes a network. Frames may be lost there for their length alone, so many
        /// bytes follow the first word.
        std::function<bool(Rank)> is_far{};
    };
    using Neighbour = std::pair<Rank, Port>;  ///< as cards number ranks; the own port

    /// Both ends name each other: `neighbours` of all ranks fit together.
    Handshake(Engine& engine, std::vector<Neighbour> neighbours, Options options);

    /// Connects. Throws Error that names all that cannot be connected, with both ends of each.
    void begin();
    /// Whether it is complete, after `longest` at most, so that ranks can tell each other in
    /// between how they fare. Throws Error(timeout), or Error(peer_lost) when the transport
    /// refuses; both name rank, host, port and NIC of either end. Not again when it is, or has
    /// thrown.
    bool greet_for(std::chrono::milliseconds longest);
    /// All directions that have been tried in vain so far: a cable in the wrong place shows in two
    /// of them. "" when nothing is missing.
    std::string missing_text() const;

    /// How this rank gets at the memory of the neighbours: the least of what its transport says of
    /// them. When it is complete.
    Reach reach() const;

  private:
    const Connection* connection_to(const Neighbour& neighbour) const;
    std::size_t group_of(Port port) const;
    bool is_complete() const;
    /// Nothing is on its way between it and this rank any more.
    bool is_there(const Neighbour& neighbour) const;
    /// Of the neighbours that are not; nobody: all are there.
    Rank first_missing() const;
    static bool is_tried(const Connection& connection);
    void throw_if_broken() const;
    void repeat_what_was_lost(std::chrono::steady_clock::time_point now);
    std::string silence_text() const;

    Engine& engine_;
    std::vector<Neighbour> neighbours_;
    Options options_;
    std::chrono::steady_clock::time_point deadline_{}, next_look_{};
};

}  // namespace trefoil
