// SPDX-License-Identifier: BSD-3-Clause
// The rules of the store without its sockets: who takes part in which allgather, and who is told
// what.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "backend/bootstrap/store_admission.hpp"
#include "backend/bootstrap/store_refusals.hpp"
#include "backend/bootstrap/store_wire.hpp"
#include "topo/torus.hpp"

namespace trefoil::store {

using Clock = std::chrono::steady_clock;
using ConnectionId = std::uint64_t;

/// Sends a finished message; `last`: the connection is closed after it.
using Send =
    std::function<void(ConnectionId to, std::shared_ptr<const std::string> message, bool last)>;

/// Told of everybody who is refused.
using Refused = std::function<void(ConnectionId who, Refusal kind, const std::string& why)>;

/// All jobs of one store. Not thread-safe; sends from within its functions. A connection is
/// admitted in two steps, see store_admission.hpp, before anything else it says is looked at.
class Jobs {
  public:
    /// `token`: what all who join must know; empty: anybody may join.
    Jobs(std::string token, Send send, Refused refused)
        : token_(std::move(token)), send_(std::move(send)), refused_(std::move(refused)) {}

    /// A whole message came. What breaks the rules is answered with an error and ends the
    /// connection; other ranks are not disturbed by it.
    void receive(ConnectionId from, Kind kind, std::string_view body, Clock::time_point now);
    /// The connection ended, whatever the reason: who waits for this rank is told at once.
    void disconnected(ConnectionId who);
    /// A rank's process has ended, as whoever started it knows; `how`: "exit 0". Of a rank that has
    /// not joined by then, nobody waits for it in vain.
    void ended(Rank rank, std::string how);
    /// Ends the allgathers whose time is over and names the ranks that did not come.
    void expire(Clock::time_point now);
    /// No allgather that is under way ends before that time.
    void postpone(Clock::time_point until);
    /// Why the store can take no more connections, for the errors of ranks that wait; "": it can.
    void lacks(std::string why) { lack_ = std::move(why); }
    /// When expire() has something to do next.
    std::optional<Clock::time_point> next_expiry() const;
    /// A job has failed, and some of its ranks may still be waiting to hear why.
    bool owes_news() const;
    bool has_joined(ConnectionId who) const { return members_.count(who) != 0; }
    /// The longest body that it may send.
    std::uint64_t message_limit(ConnectionId who) const;

  private:
    struct Claim {
        Rank rank = 0, ranks = 0;
        std::uint64_t origin = 0;
        std::string job;
    };
    struct Job {
        std::string name;
        Rank ranks = 0;
        std::map<Rank, ConnectionId> members;
        std::uint64_t origin = 0;  ///< of the first member
        bool of_several_origins = false;
        bool was_complete = false;  ///< all ranks have been there at a time
        std::set<Rank> gone;
        Rank first_gone = 0;                ///< the likely cause when several are gone
        std::uint64_t completed = 0;        ///< allgathers so far
        std::map<Rank, std::string> blobs;  ///< of the allgather under way
        std::uint64_t bytes = 0;            ///< of these blobs
        Clock::time_point expiry;  ///< of the allgather under way: the earliest of its ranks
        std::chrono::milliseconds limit{0};  ///< of the rank whose expiry that is
        std::string refusal;                 ///< why a rank was not let in, for later errors
        /// Final: the message that every later request gets.
        std::shared_ptr<const std::string> failure;
        std::set<Rank> informed;  ///< know that it has failed
    };
    struct Member {
        Job* job = nullptr;
        Rank rank = 0;
    };

    bool owes_news(const Job& job) const;
    void challenge(ConnectionId from, std::string_view body);
    void join(ConnectionId from, std::string_view body);
    void admit(ConnectionId from, const Claim& claim);
    void refuse_twin(ConnectionId from, const Claim& claim, Job& job);
    void gather_all(const Member& member, ConnectionId from, std::string_view body,
                    Clock::time_point now);
    void complete(Job& job);
    void abandon(const Member& member, std::string_view body);
    void fail(Job& job, const Error& cause);
    void fail(Job& job, std::string message);
    void fail_because_gone(Job& job);
    void fail_if_one_cannot_come(Job& job);
    void refuse(ConnectionId to, Refusal kind, Status status, const std::string& text);

    std::string token_;
    Send send_;
    Refused refused_;
    std::map<ConnectionId, Nonces> challenged_;
    std::string lack_;
    std::map<Rank, std::string> ended_;  ///< and how
    std::map<std::string, Job, std::less<>> jobs_;
    std::map<ConnectionId, Member> members_;
};

}  // namespace trefoil::store
