// SPDX-License-Identifier: BSD-3-Clause
// A rank's end of the store: joins a job, then takes part in one allgather after the other.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <thread>

#include "backend/bootstrap/bootstrap.hpp"
#include "backend/bootstrap/store_admission.hpp"
#include "backend/bootstrap/store_connection.hpp"
#include "topo/error.hpp"
#include "topo/patience.hpp"

namespace trefoil {

namespace {

using Clock = std::chrono::steady_clock;
using store::Connection;
using store::Kind;

/// The server has ended the connection without a word.
class Closed : public Error {
  public:
    using Error::Error;
};

class StoreBootstrap final : public Bootstrap {
  public:
    StoreBootstrap(const StoreClient& client, const std::string& job);

    Rank rank() const override { return rank_; }
    Rank ranks() const override { return ranks_; }
    std::vector<std::string> allgather(std::string_view mine) override;
    void abandon(const Error& cause) noexcept override;

  private:
    void join(const std::string& token, const std::string& job, Clock::time_point until);
    std::string ask(std::string message, Kind answer, Clock::time_point until);
    void progress(Clock::time_point until);
    std::string where() const { return "the store at " + place_; }

    std::string place_;
    Rank rank_;
    Rank ranks_;
    std::chrono::milliseconds deadline_;
    Connection connection_;
    std::uint64_t allgathers_ = 0;
};

/// A store that is full of strangers may drop one who is not known yet: then once more.
StoreBootstrap::StoreBootstrap(const StoreClient& client, const std::string& job)
    : place_(store::endpoint_text(client.host, client.port)),
      rank_(client.rank),
      ranks_(client.ranks),
      deadline_(std::max(client.deadline, std::chrono::milliseconds(1))),
      connection_(Descriptor()) {
    constexpr std::chrono::milliseconds pause{50};
    const Clock::time_point until = Clock::now() + deadline_;
    for (;;) {
        connection_ = Connection(store::connect_to(client.host, client.port, until));
        try {
            join(client.token, job, until + patience().store_answer);
            return;
        } catch (const Closed&) {
            if (Clock::now() + pause >= until) {
                throw;
            }
        }
        std::this_thread::sleep_for(pause);
    }
}

/// Both ends prove that they know the token; see store_admission.hpp.
void StoreBootstrap::join(const std::string& token, const std::string& job,
                          Clock::time_point until) {
    store::Nonces nonces{random_bytes(store::Nonces::bytes), {}};
    store::Message hello(Kind::hello);
    hello.bytes(nonces.client).number32(token.empty() ? 0 : 1);
    const std::string challenge = ask(std::move(hello).finish(), Kind::challenge, until);
    store::Fields fields(challenge);
    nonces.server = fields.bytes(store::Nonces::bytes);
    fields.number32();
    const bool knows_the_token =
        equal_in_constant_time(fields.rest(), bytes_of(store::server_proof(token, nonces)));
    store::Message claim(Kind::join);
    claim.number32(static_cast<std::uint32_t>(rank_))
        .number32(static_cast<std::uint32_t>(ranks_))
        .number64(store::origin_of_this_process())
        .bytes(job);
    const std::string said = std::move(claim).finish().substr(store::header_bytes);
    store::Message proved(Kind::join);
    proved.bytes(bytes_of(store::client_proof(token, nonces, said))).bytes(said);
    // Also to a store of another job: it refuses in its own words, and tells its own people.
    ask(std::move(proved).finish(), Kind::welcome, until);
    if (!knows_the_token) {
        throw Error(Status::mismatch,
                    "what answers at " + place_ +
                        " welcomes this rank, but does not know the job's token: it is not this "
                        "job's store; look who listens there");
    }
}

std::vector<std::string> StoreBootstrap::allgather(std::string_view mine) {
    if (mine.size() > store::allgather_limit) {
        throw Error(Status::invalid_argument,
                    "store: a blob of " + std::to_string(mine.size()) + " bytes exceeds " +
                        std::to_string(store::allgather_limit >> 20) + " MiB");
    }
    ++allgathers_;
    store::Message message(Kind::allgather);
    message.number64(allgathers_)
        .number64(static_cast<std::uint64_t>(deadline_.count()))
        .bytes(mine);
    const std::string body = ask(std::move(message).finish(), Kind::result,
                                 Clock::now() + deadline_ + patience().store_answer);
    store::Fields fields(body);
    const bool good = fields.number64() == allgathers_;
    std::vector<std::string> blobs;
    blobs.reserve(ranks_);
    for (Rank r = 0; r < ranks_; ++r) {
        const std::uint64_t bytes = fields.number64();
        blobs.emplace_back(fields.bytes(bytes));
    }
    if (!good || !fields.good() || !fields.at_end()) {
        throw Error(Status::internal, "store: a result that makes no sense from " + where());
    }
    return blobs;
}

/// The server takes the end of the connection for the end of the rank, if the reason is not told,
/// and tells the others in any case.
void StoreBootstrap::abandon(const Error& cause) noexcept {
    try {
        const Clock::time_point until = Clock::now() + patience().store_abandon;
        connection_.queue(
            std::make_shared<const std::string>(store::cause_message(Kind::abandon, cause)));
        while (connection_.send_some() && connection_.has_output() && Clock::now() < until) {
            pollfd waiting{connection_.number(), POLLOUT, 0};
            ::poll(&waiting, 1, store::poll_time(until));
        }
    } catch (const std::exception&) {
        // Then the others hear that this rank is gone.
    }
    ::shutdown(connection_.number(), SHUT_RDWR);
}

/// Sends `message` and returns the body of the answer, which must be of kind `answer`.
std::string StoreBootstrap::ask(std::string message, Kind answer, Clock::time_point until) {
    connection_.queue(std::make_shared<const std::string>(std::move(message)));
    for (;;) {
        store::Header header;
        switch (connection_.next(UINT32_MAX, header)) {
            case Connection::Next::nothing:
                progress(until);
                continue;
            case Connection::Next::message:
                break;
            case Connection::Next::other_version:
                throw Error(Status::mismatch, where() + " speaks another version (" +
                                                  std::to_string(header.version) +
                                                  "); use the same Trefoil everywhere");
            default:
                throw Error(Status::invalid_argument,
                            "what answers at " + place_ +
                                " is not Trefoil's store; check its host and port");
        }
        std::string body(connection_.body(header));
        connection_.drop(header);
        if (header.kind == Kind::cause) {
            throw Error(store::read_cause(body));  // as the rank has said it
        }
        if (header.kind == Kind::error || header.kind == Kind::failure) {
            const Error told =
                header.kind == Kind::error ? store::read_error(body) : store::read_cause(body);
            throw Error(told.status(), std::string(told.what()) + " (reported by " + where() + ")",
                        told.blame());
        }
        if (header.kind != answer) {
            throw Error(Status::internal, "store: an unexpected answer from " + where());
        }
        return body;
    }
}

/// Sends and receives something. The server ends this wait: it answers, says who is missing, or
/// closes; else the time does.
void StoreBootstrap::progress(Clock::time_point until) {
    const short output = connection_.has_output() ? short{POLLOUT} : short{0};
    pollfd waiting{connection_.number(), static_cast<short>(POLLIN | output), 0};
    const int ready = ::poll(&waiting, 1, store::poll_time(until));
    if (ready == 0 && Clock::now() >= until) {
        throw Error(Status::timeout,
                    where() +
                        " does not answer: is rank 0, which runs the store of ranks that are "
                        "started by hand, or the launcher stopped, out of files (ulimit -n), its "
                        "host overloaded or cut off? (asked by rank " +
                        std::to_string(rank_) + ")");
    }
    // A server that refuses says why before it closes, so what it said is read first.
    const bool here = (waiting.revents & ~POLLOUT) == 0 || connection_.receive_some();
    store::Header header;
    if (connection_.next(UINT32_MAX, header) != Connection::Next::nothing) {
        return;
    }
    if (!here || !connection_.send_some()) {
        throw Closed(Status::peer_lost,
                     where() +
                         " has closed the connection: rank 0, which runs the store of ranks "
                         "that are started by hand, or the launcher has ended (reported by rank " +
                         std::to_string(rank_) + ")");
    }
}

}  // namespace

std::unique_ptr<Bootstrap> make_store_bootstrap(const StoreClient& client, const std::string& job) {
    if (client.ranks < 1 || client.rank < 0 || client.rank >= client.ranks) {
        throw Error(Status::invalid_argument, "store: rank " + std::to_string(client.rank) +
                                                  " of " + std::to_string(client.ranks) +
                                                  " does not exist: 0 <= rank < ranks");
    }
    if (client.host.empty() || client.port < 1 || client.port > 65535) {
        throw Error(Status::invalid_argument,
                    "store: \"" + client.host + ":" + std::to_string(client.port) +
                        "\" is not an address; give a host and a port of 1 to 65535");
    }
    if (job.size() > store::job_name_limit) {
        throw Error(Status::invalid_argument, "store: the name of the job is longer than " +
                                                  std::to_string(store::job_name_limit) +
                                                  " characters");
    }
    return std::make_unique<StoreBootstrap>(client, job);
}

}  // namespace trefoil
