// SPDX-License-Identifier: BSD-3-Clause
// Greeting the peers of new channels, and naming those that stay silent.
#include "threads/executor/greeting.hpp"

#include <algorithm>

namespace trefoil {

namespace {
/// Only a message is at stake: few attempts.
constexpr int announce_attempts = 100;
}  // namespace

bool Greeting::listen_to_all() {
    bool progressed = false;
    for (std::size_t group = 0; group < channels_.groups.size(); ++group) {
        progressed |= listen_(group);
    }
    return progressed;
}

void Greeting::announce() noexcept {
    for (std::size_t channel = 0; channel < channels_.out.size(); ++channel) {
        for (int attempt = 0; attempt < announce_attempts; ++attempt) {
            if (controls_.say(channel, Control::connecting, next_set_up()) != PutResult::again) {
                break;
            }
            (void)listen_(static_cast<std::size_t>(channels_.out[channel].group));
        }
    }
    (void)listen_to_all();
}

// One that cannot connect must not keep the others silent: their peers would blame this rank.
bool Greeting::say_hello(std::vector<std::size_t>& silent) {
    return std::erase_if(silent, [this](std::size_t number) {
               const OutChannel& channel = channels_.out[number];
               const PutResult result = controls_.say(number, Control::hello);
               if (result == PutResult::failed) {
                   failure_.set(Status::peer_lost,
                                "cannot connect " + route_text(channels_, channel) + ": " +
                                    channels_.groups[channel.group]->error_text());
               }
               return result != PutResult::again;
           }) > 0;
}

// Ends only when the own greetings have left, too: a connection that is being made needs this
// rank's progress, and nobody polls while the ranks exchange their verdicts.
void Greeting::greet(std::size_t first_out, std::size_t first_in) {
    const auto deadline = std::chrono::steady_clock::now() + options_.greeting_timeout;
    Waiting waiting(options_.may_spin);
    std::vector<std::size_t> silent;  // outgoing channels that wait for their hello
    for (std::size_t channel = first_out; channel < channels_.out.size(); ++channel) {
        silent.push_back(channel);
    }
    std::size_t greeted = first_in;
    while (!silent.empty() || greeted < channels_.in.size() || controls_.under_way()) {
        bool progressed = listen_to_all();
        progressed |= say_hello(silent);
        while (greeted < channels_.in.size() && channels_.in[greeted].news.greeted()) {
            ++greeted;
        }
        if (failure_.happened()) {
            throw Error(failure_.status(), failure_.text());
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
    ++complete_;
}

/// All directions that were tried in vain: a cable in the wrong place shows in two of them.
std::string Greeting::silence_text(const std::vector<std::size_t>& silent,
                                   std::size_t first_in) const {
    std::string text = "directions failed their test within " +
                       std::to_string(options_.greeting_timeout.count()) + " ms:";
    for (const std::size_t channel : silent) {
        text += " cannot connect " + route_text(channels_, channels_.out[channel]) + ";";
    }
    for (std::size_t c = first_in; c < channels_.in.size(); ++c) {
        const InChannel& channel = channels_.in[c];
        if (!channel.news.greeted()) {
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
