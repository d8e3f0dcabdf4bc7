// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes the store's rules: clients that join, gather, leave, are late, and say what they like.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/bootstrap/store_admission.hpp"
#include "backend/bootstrap/store_job.hpp"
#include "backend/bootstrap/store_wire.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using trefoil::fuzz::Input;
using trefoil::fuzz::require;
using namespace trefoil::store;

/// The store with its clients, who hear everything at once.
class Store {
  public:
    explicit Store(std::string token) : token_(std::move(token)) {}

    void raw(ConnectionId who, Kind kind, std::string_view body) {
        if (!ended(who)) {
            waiting_[who] |= kind == Kind::allgather && jobs_.has_joined(who);
            const std::string bounded(body.substr(0, jobs_.message_limit(who)));
            jobs_.receive(who, kind, bounded, now_);
            bury();
        }
    }
    void join(ConnectionId who, unsigned rank, unsigned ranks, std::string_view job) {
        Nonces nonces{std::string(Nonces::bytes, 'n'), {}};
        Message hello(Kind::hello);
        hello.bytes(nonces.client).number32(token_.empty() ? 0 : 1);
        raw(who, Kind::hello, std::move(hello).finish().substr(header_bytes));
        const auto header = read_header(heard_[who]);
        if (ended(who) || !header || header->kind != Kind::challenge) {
            return;
        }
        nonces.server = heard_[who].substr(header_bytes, Nonces::bytes);
        Message claim(Kind::join);
        claim.number32(rank).number32(ranks).number64(who).bytes(job);
        const std::string said = std::move(claim).finish().substr(header_bytes);
        Message proved(Kind::join);
        proved.bytes(trefoil::bytes_of(client_proof(token_, nonces, said))).bytes(said);
        raw(who, Kind::join, std::move(proved).finish().substr(header_bytes));
    }
    void gather(ConnectionId who, unsigned off_by, unsigned limit, std::string_view blob) {
        Message message(Kind::allgather);
        message.number64(++gathered_[who] + off_by).number64(limit).bytes(blob);
        raw(who, Kind::allgather, std::move(message).finish().substr(header_bytes));
    }
    void leave(ConnectionId who) {
        if (!ended(who)) {
            ended_[who] = true;
            jobs_.disconnected(who);
            bury();
        }
    }
    void pass(std::chrono::milliseconds time) {
        now_ += time;
        jobs_.expire(now_);
        bury();
    }
    /// Nobody is kept waiting for ever.
    void end() {
        pass(std::chrono::hours(24 * 365));
        require(!jobs_.next_expiry(), "something is still to expire");
        for (const auto& [who, waits] : waiting_) {
            require(!waits || ended(who), "a client got no answer");
        }
    }

  private:
    bool ended(ConnectionId who) const {
        const auto found = ended_.find(who);
        return found != ended_.end() && found->second;
    }
    /// Those who were refused are disconnected.
    void bury() {
        while (!refused_.empty()) {
            const ConnectionId who = refused_.back();
            refused_.pop_back();
            jobs_.disconnected(who);
        }
    }

    std::string token_;
    Clock::time_point now_{};
    std::map<ConnectionId, std::string> heard_;
    std::map<ConnectionId, std::uint64_t> gathered_;
    std::map<ConnectionId, bool> waiting_, ended_;
    std::vector<ConnectionId> refused_;
    Jobs jobs_{token_,
               [this](ConnectionId to, std::shared_ptr<const std::string> message, bool last) {
                   require(!ended(to), "a message to one who has gone");
                   require(read_header(*message).has_value(), "a message without a header");
                   heard_[to] = *message;
                   waiting_[to] = false;
                   if (last) {
                       ended_[to] = true;
                       refused_.push_back(to);
                   }
               },
               [](ConnectionId, Refusal, const std::string& why) {
                   require(!why.empty(), "a refusal without words");
               }};
};

}  // namespace

FUZZ_TARGET(store) {
    Input input(data, size);
    Store store(input.byte() % 2 == 0 ? "" : "token");
    while (!input.empty()) {
        const ConnectionId who = input.byte() % 8;
        switch (input.byte() % 8) {
            case 0:
            case 1:
            case 2: {
                const unsigned rank = input.byte() % 5, ranks = input.byte() % 5;
                store.join(who, rank, ranks, input.text(1));
                break;
            }
            case 3:
            case 4: {
                const unsigned off_by = input.byte() / 250U, limit = input.byte();
                store.gather(who, off_by, limit, input.text(input.byte() % 32));
                break;
            }
            case 5: {
                const auto kind = static_cast<Kind>(input.byte() % 12);
                store.raw(who, kind, input.text(input.byte()));
                break;
            }
            case 6:
                store.leave(who);
                break;
            default:
                store.pass(std::chrono::milliseconds(input.byte() * 4));
                break;
        }
    }
    store.end();
    return 0;
}
