// SPDX-License-Identifier: BSD-3-Clause
// Channels: which ones a schedule needs, and the exchange that sets them up.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "algorithms/schedule/schedule.hpp"
#include "backend/bootstrap/bootstrap.hpp"
#include "threads/executor/channels.hpp"

namespace trefoil {

/// What one exchange has added; the executor greets these.
struct NewChannels {
    std::size_t first_out = 0;
    std::size_t first_in = 0;
};

/// Adds channels to a channels. All ranks call exchange() together, with the schedules of the same
/// algorithms, then connect(). Only peers that the schedules name are connected.
class ChannelSetup {
  public:
    ChannelSetup(Channels& channels, Bootstrap& bootstrap)
        : channels_(channels), bootstrap_(bootstrap) {}

    /// Tells the others where this rank's new channels land, and learns the same of them.
    /// `agreement` is a text that all ranks must give alike (the call, in words). Throws
    /// Error(mismatch) that says which ranks differ and how, or what the backend throws.
    /// `acknowledged`: the receivers acknowledge, for which each channel needs one the other way.
    void exchange(const Schedule& schedule, bool acknowledged, const std::string& agreement);

    /// Connects this rank's outgoing channels, as exchanged; talks to no other rank. Throws what
    /// the backend throws, with both ends of the channel named.
    NewChannels connect();

  private:
    using Key = std::pair<Rank, int>;  // peer, own port
    std::string offer(const std::vector<Key>& incoming, const std::string& agreement);
    void accept(Rank peer, const std::vector<int>& ports);
    int group_of(Port port) const;

    Channels& channels_;
    Bootstrap& bootstrap_;
    std::map<Key, std::size_t> out_, in_;
    // Of the exchange that waits for connect():
    NewChannels added_;
    std::map<Rank, std::vector<int>> new_ports_;  // by peer: own ports to connect to it
    std::vector<std::string> offers_;
};

/// Throws Error(mismatch) when the texts differ: "rank 3: X, but rank 0: Y".
void require_agreement(const std::vector<std::string>& texts, const std::string& about);

}  // namespace trefoil
