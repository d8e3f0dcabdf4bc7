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
bool Greeting::say_hello() {
    return std::erase_if(silent_, [this](std::size_t number) {
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

void Greeting::begin(std::size_t first_out, std::size_t first_in) {
    deadline_ = std::chrono::steady_clock::now() + options_.greeting_timeout;
    silent_.clear();
    for (std::size_t channel = first_out; channel < channels_.out.size(); ++channel) {
        silent_.push_back(channel);
    }
    greeted_ = first_in;
}

// Only when the own greetings have left, too: a connection that is being made needs this rank's
// progress, and nobody polls while the ranks exchange their verdicts.
bool Greeting::is_complete() {
    while (greeted_ < channels_.in.size() && channels_.in[greeted_].news.greeted()) {
        ++greeted_;
    }
    return silent_.empty() && greeted_ == channels_.in.size() && !controls_.under_way();
}

bool Greeting::greet_for(std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    Waiting waiting(options_.may_spin);
    while (!is_complete()) {
        bool progressed = listen_to_all();
        progressed |= say_hello();
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
        const auto now = std::chrono::steady_clock::now();
        if (now > deadline_) {
            failure_.set(Status::timeout, silence_text());
            continue;
        }
        if (now > until) {
            return false;
        }
        for (const auto& group : channels_.groups) {
            group->wait(sleep / static_cast<int>(channels_.groups.size()));
        }
    }
    ++complete_;
    return true;
}

std::string Greeting::ungreeted_text() const {
    std::string text;
    for (const std::size_t channel : silent_) {
        text += " cannot connect " + route_text(channels_, channels_.out[channel]) + ";";
    }
    for (std::size_t c = greeted_; c < channels_.in.size(); ++c) {
        const InChannel& channel = channels_.in[c];
        if (!channel.news.greeted()) {
            text += " " + own_text(channels_, channel.port) + " hears nothing from " +
                    peer_text(channels_, channel.peer, channel.port.opposite()) + ";";
        }
    }
    return text.empty() ? text : text.substr(1);
}

std::string Greeting::silence_text() const {
    const std::string ungreeted = ungreeted_text();
    std::string text = "directions failed their test within " +
                       std::to_string(options_.greeting_timeout.count()) + " ms: " + ungreeted;
    if (ungreeted.empty()) {
        text += "this rank's own greetings do not leave;";
    }
    if (controls_.refused() > 0) {
        text += " " + std::to_string(controls_.refused()) +
                " messages came from somewhere else: who sent them does not know what the ranks of "
                "this communicator have agreed on;";
    }
    return text + " check the cables, the routes, and TREFOIL_NICS on both hosts";
}

}  // namespace trefoil
