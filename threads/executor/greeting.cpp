// SPDX-License-Identifier: BSD-3-Clause
// The executor's first words on new channels: every direction proves that it works before a call
// relies on it.
#include <algorithm>

#include "threads/executor/state.hpp"

namespace trefoil {

bool Executor::poll_all_groups() {
    bool progressed = false;
    for (const auto& worker : workers_) {
        progressed |= poll(*worker);
    }
    return progressed;
}

PutResult Executor::say(std::size_t out_channel, Control kind, std::uint32_t number) noexcept {
    const OutChannel& channel = channels_.out[out_channel];
    const PutResult result = channels_.groups[channel.group]->put(
        channel.port, channel.endpoint, nullptr, nullptr, channel.landing, channel.offset, 0,
        control_notification(kind, channel.id, number), control_cookie(out_channel));
    if (result == PutResult::queued) {
        controls_under_way_.fetch_add(1, std::memory_order_relaxed);
    }
    return result;
}

void Executor::announce_connecting() noexcept {
    for (std::size_t channel = 0; channel < channels_.out.size(); ++channel) {
        // Only a message is at stake: few attempts.
        for (int attempt = 0; attempt < 100; ++attempt) {
            if (say(channel, Control::connecting, greetings_ + 1) != PutResult::again) {
                break;
            }
            (void)poll(*workers_[channels_.out[channel].group]);
        }
    }
    (void)poll_all_groups();
}

// One that cannot connect must not keep the others silent: their peers would blame this rank.
bool Executor::say_hello(std::vector<std::size_t>& silent) {
    return std::erase_if(silent, [this](std::size_t channel) {
               const PutResult result = say(channel, Control::hello, 0);
               if (result == PutResult::failed) {
                   failure_.set(Status::peer_lost,
                                "cannot connect " + route_text(channel) + ": " +
                                    channels_.groups[channels_.out[channel].group]->error_text());
               }
               return result != PutResult::again;
           }) > 0;
}

// Ends only when the own greetings have left, too: a connection that is being made needs this
// rank's progress, and nobody polls while the ranks exchange their verdicts.
void Executor::greet(std::size_t first_out, std::size_t first_in) {
    const auto deadline = std::chrono::steady_clock::now() + options_.greeting_timeout;
    Waiting waiting(options_.may_spin);
    std::vector<std::size_t> silent;  // outgoing channels that wait for their hello
    for (std::size_t channel = first_out; channel < channels_.out.size(); ++channel) {
        silent.push_back(channel);
    }
    std::size_t greeted = first_in;
    while (!silent.empty() || greeted < channels_.in.size() ||
           controls_under_way_.load(std::memory_order_relaxed) > 0) {
        bool progressed = poll_all_groups();
        progressed |= say_hello(silent);
        while (greeted < channels_.in.size() && channels_.in[greeted].greeted) {
            ++greeted;
        }
        if (failure_.happened()) {
            throw Error(failure_.status(), failure());
        }
        if (progressed) {
            waiting.reset();
            continue;
        }
        if (options_.progress) {
            options_.progress();
        }
        const auto sleep = std::min(waiting.idle(), busy_sleep);
        if (sleep.count() == 0) {
            continue;
        }
        if (std::chrono::steady_clock::now() > deadline) {
            failure_.set(Status::timeout, silence_text(silent, greeted));
            continue;
        }
        for (const auto& group : channels_.groups) {
            group->wait(sleep / static_cast<int>(channels_.groups.size()));
        }
    }
    ++greetings_;
}

std::string Executor::route_text(std::size_t out_channel) const {
    return trefoil::route_text(channels_, channels_.out[out_channel].port,
                               channels_.out[out_channel].peer);
}

/// All directions that were tried in vain: a cable in the wrong place shows in two of them.
std::string Executor::silence_text(const std::vector<std::size_t>& silent,
                                   std::size_t first_in) const {
    std::string text = "directions failed their test within " +
                       std::to_string(options_.greeting_timeout.count()) + " ms:";
    for (const std::size_t channel : silent) {
        text += " cannot connect " + route_text(channel) + ";";
    }
    for (std::size_t c = first_in; c < channels_.in.size(); ++c) {
        const InChannel& channel = channels_.in[c];
        if (!channel.greeted) {
            text += " " + own_text(channels_, channel.port) + " hears nothing from " +
                    peer_text(channels_, channel.peer, channel.port.opposite()) + ";";
        }
    }
    if (silent.empty() && first_in == channels_.in.size()) {
        text += " this rank's own greetings do not leave;";
    }
    return text + " check the cables, the routes, and TREFOIL_NICS on both hosts";
}

}  // namespace trefoil
