// SPDX-License-Identifier: BSD-3-Clause
// Rounds of signals between ranks that read each other's memory.
#pragma once

#include <cstddef>
#include <vector>

#include "algorithms/schedule/minimal_port.hpp"
#include "algorithms/schedule/schedule.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// Writes one rank's signals; `writer` writes what is between them.
class SignalRounds {
  public:
    /// `torus` outlives this.
    SignalRounds(const Torus& torus, Rank rank) : writer(rank), torus_(torus), rank_(rank) {}

    ScheduleWriter writer;

    Rank ranks() const { return torus_.ranks(); }
    Rank rank() const { return rank_; }

    /// do_for(peer), the next rank first, so that no two ranks begin with the same one.
    template <typename DoFor>
    void for_peers(DoFor&& do_for) const {
        for (Rank i = 1; i < torus_.ranks(); ++i) {
            do_for((rank_ + i) % torus_.ranks());
        }
    }

    // From now on the peer may pull from this rank; and the other end of that.
    void open(Rank peer) { writer.open(peer, port_to(peer)); }
    void receive_opening(Rank peer) { writer.receive_opening(peer, port_from(peer)); }
    void open_to_all() {
        for_peers([this](Rank peer) {
            open(peer);
            receive_opening(peer);
        });
    }

    void tell(Rank peer) { writer.send(peer, port_to(peer), {}); }
    void hear(Rank peer) { writer.receive(peer, port_from(peer)); }
    void tell_all() {
        for_peers([this](Rank peer) {
            tell(peer);
            hear(peer);
        });
    }

    /// take(peer) for each of the root's peers, in an order that all ranks know, when the root may
    /// pull from that one; the peers' calls end one after the other. Each rank has p steps.
    template <typename Take>
    void in_turn(Rank root, const std::vector<Rank>& peers, Take&& take) {
        for (std::size_t i = 0; i <= peers.size(); ++i) {
            writer.step();
            if (i > 0 && rank_ == root) {
                take(peers[i - 1]);
                tell(peers[i - 1]);
            } else if (i > 0 && rank_ == peers[i - 1]) {
                hear(root);
            }
            if (i < peers.size() && rank_ == root) {
                receive_opening(peers[i]);
            } else if (i < peers.size() && rank_ == peers[i]) {
                open(root);
            }
        }
    }

  private:
    Port port_to(Rank peer) const { return minimal_port(torus_, rank_, peer, 0); }
    Port port_from(Rank peer) const { return minimal_port(torus_, peer, rank_, 0).opposite(); }

    const Torus& torus_;
    Rank rank_;
};

}  // namespace trefoil
