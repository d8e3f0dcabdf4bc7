// SPDX-License-Identifier: BSD-3-Clause
// Greeting the neighbours, and naming those that stay silent.
#include "threads/executor/handshake.hpp"

#include <algorithm>
#include <optional>

#include "backend/ports/powers.hpp"
#include "topo/error.hpp"
#include "topo/patience.hpp"

namespace trefoil {

namespace {
/// The longest sleep while a peer connects.
constexpr std::chrono::microseconds short_sleep{1000};
}  // namespace

Handshake::Handshake(Engine& engine, std::vector<Neighbour> neighbours, Options options)
    : engine_(engine), neighbours_(std::move(neighbours)), options_(options) {}

std::size_t Handshake::group_of(Port port) const {
    for (std::size_t g = 0; g < engine_.groups().size(); ++g) {
        const auto& ports = engine_.groups()[g]->ports();
        if (std::find(ports.begin(), ports.end(), port) != ports.end()) {
            return g;
        }
    }
    throw Error(Status::internal, "port " + to_string(port) + " was not opened");
}

const Connection* Handshake::connection_to(const Neighbour& neighbour) const {
    return engine_.links(group_of(neighbour.second)).post().find(neighbour.first, neighbour.second);
}

bool Handshake::is_tried(const Connection& connection) {
    return connection.trial == Connection::Trial::none ||
           (connection.trial == Connection::Trial::answered && connection.trial_taken);
}

void Handshake::begin() {
    const Engine::Exclusive held(engine_);
    deadline_ = std::chrono::steady_clock::now() + options_.timeout;
    next_look_ = std::chrono::steady_clock::now() + patience().check_interval;
    std::optional<Error> first;
    std::string failures;
    for (const auto& [peer, port] : neighbours_) {
        try {
            Links& links = engine_.links(group_of(port));
            links.wiring().greet(peer, port);
            if (options_.is_far && options_.is_far(peer)) {
                links.post().try_many_bytes(links.post().connection(peer, port));
            }
        } catch (const Error& error) {  // a cable in the wrong place shows at two peers
            failures += (failures.empty() ? "" : "; ") + std::string(error.what());
            first = first ? first : error;
        }
    }
    if (first) {
        throw Error(first->status(), failures, first->blame());
    }
}

// Only when nothing is on its way any more: a connection that is being made needs this rank's
// progress, and nobody polls while the ranks exchange their verdicts.
bool Handshake::is_complete() const {
    for (std::size_t g = 0; g < engine_.groups().size(); ++g) {
        if (!engine_.links(g).is_quiet()) {
            return false;
        }
    }
    return first_missing() == Blame::nobody;
}

bool Handshake::is_there(const Neighbour& neighbour) const {
    const Connection* const connection = connection_to(neighbour);
    return connection != nullptr && !connection->record_unanswered && connection->taken > 0 &&
           is_tried(*connection);
}

void Handshake::throw_if_broken() const {
    const std::vector<BrokenConnection> broken = engine_.broken_so_far();
    if (broken.empty()) {
        return;
    }
    std::string texts;
    for (const BrokenConnection& one : broken) {
        texts += (texts.empty() ? "" : "; ") + one.text;
    }
    throw Error(broken.front().status, texts, blame_of(broken.front()));
}

void Handshake::repeat_what_was_lost(std::chrono::steady_clock::time_point now) {
    if (now < next_look_) {
        return;
    }
    next_look_ = now + patience().check_interval;
    for (std::size_t g = 0; g < engine_.groups().size(); ++g) {
        engine_.links(g).post().repeat_unanswered();
    }
}

bool Handshake::greet_for(std::chrono::milliseconds longest) {
    const Engine::Exclusive held(engine_);
    const auto until = std::chrono::steady_clock::now() + longest;
    Waiting waiting(options_.may_spin);
    while (!is_complete()) {
        bool moved = false;
        for (std::size_t g = 0; g < engine_.groups().size(); ++g) {
            moved |= engine_.listen(g);
        }
        throw_if_broken();
        if (moved) {
            waiting.reset();
            continue;
        }
        if (options_.progress) {
            options_.progress();
        }
        const auto sleep = std::min(waiting.idle(), short_sleep);
        if (sleep.count() == 0) {
            continue;
        }
        const auto now = std::chrono::steady_clock::now();
        if (now > deadline_) {
            const Rank missing = first_missing();
            throw Error(Status::timeout, silence_text(),
                        missing == Blame::nobody ? Blame() : Blame(missing, Evidence::silent));
        }
        if (now > until) {
            return false;
        }
        repeat_what_was_lost(now);
        for (const auto& group : engine_.groups()) {
            group->wait(sleep / static_cast<int>(engine_.groups().size()));
        }
    }
    return true;
}

Rank Handshake::first_missing() const {
    const auto missing = std::ranges::find_if_not(
        neighbours_, [this](const Neighbour& neighbour) { return is_there(neighbour); });
    return missing == neighbours_.end() ? Blame::nobody : missing->first;
}

std::string Handshake::missing_text() const {
    std::string text;
    for (const auto& [peer, port] : neighbours_) {
        const PostOffice& post = engine_.links(group_of(port)).post();
        const Connection* const connection = connection_to({peer, port});
        if (connection == nullptr || !connection->is_quiet() || connection->record_unanswered) {
            text += " cannot connect " + post.cards().route_text(post.rank(), port, peer) + ";";
        }
        if (connection == nullptr || connection->taken == 0) {
            text += " " + post.cards().port_text(post.rank(), port) + " hears nothing from " +
                    post.cards().port_text(peer, port.opposite()) + ";";
        } else if (!connection->record_unanswered && !is_tried(*connection)) {
            const bool from_here = connection->trial != Connection::Trial::answered;
            text += " small messages arrive, but none of " +
                    std::to_string(MailboxLayout::trial_bytes) + " bytes from " +
                    (from_here ? post.cards().route_text(post.rank(), port, peer)
                               : post.cards().route_text(peer, port.opposite(), post.rank())) +
                    ": is the MTU of something on the way smaller than that of the hosts (ip link, "
                    "ping -M do -s 8972)?;";
        }
    }
    return text.empty() ? text : text.substr(1);
}

std::string Handshake::silence_text() const {
    const std::string missing = missing_text();
    std::string text = "directions failed their test within " +
                       std::to_string(options_.timeout.count()) + " ms: " + missing;
    std::uint64_t refused = 0;
    for (std::size_t g = 0; g < engine_.groups().size(); ++g) {
        refused += engine_.links(g).post().statistics().refused;
    }
    if (refused > 0) {
        text += " " + std::to_string(refused) +
                " messages came from somewhere else: who sent them does not know what the ranks of "
                "this communicator have agreed on;";
    }
    return text + " check the cables, the routes, and TREFOIL_NICS on both hosts";
}

Reach Handshake::reach() const {
    Reach least = Reach::addresses;
    for (const Neighbour& neighbour : neighbours_) {
        const Connection* const connection = connection_to(neighbour);
        const Reach reach =
            connection == nullptr
                ? Reach::none
                : reach_of(*engine_.groups()[group_of(neighbour.second)], connection->endpoint);
        least = std::min(least, reach);
    }
    return least;
}

}  // namespace trefoil
