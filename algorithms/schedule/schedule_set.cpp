// SPDX-License-Identifier: BSD-3-Clause
// What arrives through each port, added up.
#include "algorithms/schedule/schedule_set.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace trefoil {

LandingNeeds landing_needs(const ScheduleSet& set) {
    const CollectiveTraits& row = traits_of(set.collective);
    LandingNeeds most;
    for (const Schedule& schedule : set.schedules) {
        // A message lands once, however many places it is applied to: its sends tell its length.
        std::map<std::pair<Rank, Port>, LandingNeeds> channels;
        for (const Part& part : schedule.parts) {
            const double blocks = row.received_of(part.vector_blocks);
            for (const Step& step : schedule.of(part)) {
                for (const Send& send : schedule.sends_of(step)) {
                    const auto extents = schedule.extents_of(send);
                    LandingNeeds& channel = channels[{send.peer, send.port}];
                    channel.vectors += static_cast<double>(block_count(extents)) / blocks /
                                       static_cast<double>(schedule.parts.size());
                    channel.extents += extents.size();
                    ++channel.messages;
                }
            }
        }
        for (const auto& [key, channel] : channels) {
            most.vectors = std::max(most.vectors, channel.vectors);
            most.extents = std::max(most.extents, channel.extents);
            most.messages = std::max(most.messages, channel.messages);
        }
    }
    return most;
}

}  // namespace trefoil
