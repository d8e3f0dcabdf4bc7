// SPDX-License-Identifier: BSD-3-Clause
// Channels: which ones a schedule needs, and how they are set up.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "algorithms/schedule/schedule.hpp"
#include "comm/setup/session.hpp"
#include "threads/executor/channels.hpp"

namespace trefoil {

/// What one set-up has added; the executor greets these.
struct NewChannels {
    std::size_t first_out = 0;
    std::size_t first_in = 0;
};

/// Adds channels. All ranks call offer() together, with their schedules by the same algorithm, tell
/// each other what it returned, and then call take() and connect(). None of these talks to other
/// ranks. Only peers that the schedules name are connected. Invariant: after all three, all
/// channels of these schedules are in `channels`, numbered alike at both ends.
class ChannelSetup {
  public:
    explicit ChannelSetup(Channels& channels, Session session = {})
        : channels_(channels), session_(std::move(session)) {}

    /// Where this rank's new channels land, for all others. `agreement` is a text that all ranks
    /// must give alike (the call, in words). `acknowledged`: the receivers acknowledge, for which
    /// each channel needs one the other way. Throws what the backend throws.
    std::string offer(const Schedule& schedule, bool acknowledged, const std::string& agreement);

    /// The offers of all ranks. Throws Error(mismatch) that says which agreements differ and how,
    /// the same on all ranks.
    void take(std::vector<std::string> offers);

    /// Connects this rank's outgoing channels, as offered. Throws what the backend throws, with
    /// both ends of the channel named.
    NewChannels connect();

    const Channels& channels() const { return channels_; }

  private:
    using Key = std::pair<Rank, int>;  // peer, own port
    std::string offer_of(const std::vector<Key>& incoming, const std::string& agreement);
    void accept(Rank peer, const std::vector<int>& ports);
    int group_of(Port port) const;

    Channels& channels_;
    Session session_;
    std::map<Key, std::size_t> out_, in_;
    // Of the offers that wait for connect():
    NewChannels added_;
    std::map<Rank, std::vector<int>> new_ports_;  // by peer: own ports to connect to it
    std::vector<std::string> offers_;
};

}  // namespace trefoil
