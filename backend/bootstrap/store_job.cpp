// SPDX-License-Identifier: BSD-3-Clause
// Joining, exchanging, leaving and running late: the rules of the store.
#include "backend/bootstrap/store_job.hpp"

#include <algorithm>

#include "topo/decimals.hpp"

namespace trefoil::store {

namespace {

/// "rank 3", "ranks 1, 4, 5", "ranks 0, 1, ... and 90 more": those of 0 .. ranks-1 not in
/// `present`.
template <typename Present>
std::string absent_text(Rank ranks, const Present& present) {
    constexpr std::size_t shown_limit = 16;
    const std::size_t absent = static_cast<std::size_t>(ranks) - present.size();
    std::string text = absent == 1 ? "rank" : "ranks";
    std::size_t shown = 0;
    for (Rank r = 0; r < ranks && shown < shown_limit; ++r) {
        if (present.count(r) == 0) {
            text += (shown == 0 ? " " : ", ") + std::to_string(r);
            ++shown;
        }
    }
    if (shown < absent) {
        text += " and " + std::to_string(absent - shown) + " more";
    }
    return text;
}

template <typename Present>
Rank first_absent(Rank ranks, const Present& present) {
    Rank rank = 0;
    while (rank < ranks && present.count(rank) != 0) {
        ++rank;
    }
    return rank < ranks ? rank : Blame::nobody;
}

std::string seconds_text(std::chrono::milliseconds time) {
    return fixed_decimal(static_cast<double>(time.count()) / 1000, 1) + " s";
}

std::string called(const std::string& name) {
    return "job \"" + name + "\"";
}

}  // namespace

void Jobs::receive(ConnectionId from, Kind kind, std::string_view body, Clock::time_point now) {
    const auto member = members_.find(from);
    const bool joined = member != members_.end();
    if (kind == Kind::hello && !joined && challenged_.count(from) == 0) {
        challenge(from, body);
    } else if (kind == Kind::join && !joined && challenged_.count(from) != 0) {
        join(from, body);
    } else if (kind == Kind::allgather && joined) {
        gather_all(member->second, from, body, now);
    } else if (kind == Kind::abandon && joined) {
        abandon(member->second, body);
    } else {
        refuse(from, Refusal::order, Status::invalid_argument,
               "store: a message that is out of place; only Trefoil's own client may connect");
    }
}

std::uint64_t Jobs::message_limit(ConnectionId who) const {
    constexpr std::uint64_t of_one_rank = std::uint64_t{1} << 20;  // which needs nobody to tell it
    constexpr std::uint64_t beside_the_blob = 64;
    const auto member = members_.find(who);
    return member == members_.end()         ? stranger_limit
           : member->second.job->ranks == 1 ? of_one_rank
                                            : allgather_limit + beside_the_blob;
}

void Jobs::challenge(ConnectionId from, std::string_view body) {
    Fields fields(body);
    Nonces nonces{std::string(fields.bytes(Nonces::bytes)), random_bytes(Nonces::bytes)};
    const bool has_token = fields.number32() != 0;
    if (!fields.good() || !fields.at_end()) {
        refuse(from, Refusal::order, Status::invalid_argument,
               "store: a greeting that makes no sense; only Trefoil's own client may connect");
        return;
    }
    if (has_token == token_.empty()) {
        refuse(from, Refusal::token, Status::mismatch,
               has_token
                   ? "store: this rank has a token (TREFOIL_TOKEN), but the store was started "
                     "without one; give all ranks of a job the same, or none. If another "
                     "job's store is at this port, choose another port"
                   : "store: this rank has no token, but the store asks for its job's; give "
                     "all ranks of a job the same TREFOIL_TOKEN. If another job's store is "
                     "at this port, choose another port");
        return;
    }
    Message message(Kind::challenge);
    message.bytes(nonces.server)
        .number32(token_.empty() ? 0 : 1)
        .bytes(bytes_of(server_proof(token_, nonces)));
    challenged_.emplace(from, std::move(nonces));
    send_(from, std::make_shared<const std::string>(std::move(message).finish()), false);
}

void Jobs::join(ConnectionId from, std::string_view body) {
    const Nonces nonces = std::move(challenged_.at(from));
    challenged_.erase(from);
    Fields fields(body);
    const std::string_view proof = fields.bytes(sizeof(Digest));
    const std::string_view said = fields.rest();
    if (!equal_in_constant_time(proof, bytes_of(client_proof(token_, nonces, said)))) {
        refuse(from, Refusal::token, Status::mismatch,
               "store: this rank's token is not the one of this store's job; give all ranks of a "
               "job the same TREFOIL_TOKEN. If another job's store is at this port, choose another "
               "port");
        return;
    }
    Fields claimed(said);
    Claim claim;
    claim.rank = static_cast<Rank>(claimed.number32());
    claim.ranks = static_cast<Rank>(claimed.number32());
    claim.origin = claimed.number64();
    claim.job = claimed.rest();
    if (!claimed.good() || claim.ranks < 1 || claim.rank < 0 || claim.rank >= claim.ranks ||
        claim.job.size() > job_name_limit) {
        refuse(from, Refusal::place, Status::invalid_argument,
               "store: a client with an impossible rank or job");
        return;
    }
    admit(from, claim);
}

void Jobs::admit(ConnectionId from, const Claim& claim) {
    const auto old = jobs_.find(claim.job);
    if (old != jobs_.end() && old->second.members.empty() &&
        (old->second.gone.count(claim.rank) != 0 || old->second.ranks != claim.ranks)) {
        jobs_.erase(old);  // it has failed and all have left it: this is a new one
    }
    const auto [found, fresh] = jobs_.try_emplace(claim.job);
    Job& job = found->second;
    if (fresh) {
        job.name = claim.job;
        job.ranks = claim.ranks;
        job.origin = claim.origin;
    }
    const std::string self = "rank " + std::to_string(claim.rank);
    if (job.ranks != claim.ranks) {
        job.refusal = self + " came for " + std::to_string(claim.ranks) + " ranks";
        refuse(from, Refusal::place, Status::mismatch,
               "store: " + self + " joins " + called(claim.job) + " as one of " +
                   std::to_string(claim.ranks) + " ranks, but the first to come said " +
                   std::to_string(job.ranks) + "; start all with the same number");
        return;
    }
    if (job.members.count(claim.rank) != 0) {
        refuse_twin(from, claim, job);
        return;
    }
    if (job.gone.count(claim.rank) != 0) {
        refuse(from, Refusal::place, Status::peer_lost,
               "store: " + self + " of " + called(claim.job) +
                   " has left and cannot come back; use another name for a new job");
        return;
    }
    ended_.erase(claim.rank);  // a child of the process that has ended, say
    job.members[claim.rank] = from;
    job.of_several_origins |= claim.origin != job.origin;
    job.was_complete |= job.members.size() == static_cast<std::size_t>(job.ranks);
    members_[from] = {&job, claim.rank};
    send_(from, std::make_shared<const std::string>(Message(Kind::welcome).finish()), false);
}

/// A second process says to be a rank that is there. Where no token keeps jobs apart, two of them
/// may have mixed: wrong sums are worse than a job that ends. The first goes on where it cannot be
/// a mixture: its ranks were all there before, or this one alone comes from somewhere else.
void Jobs::refuse_twin(ConnectionId from, const Claim& claim, Job& job) {
    const std::string self = "rank " + std::to_string(claim.rank);
    job.refusal = self + " came twice";
    const std::string advice =
        "give every process a rank of its own; and if two jobs use this store, give each a port of "
        "its own, or a TREFOIL_TOKEN";
    refuse(from, Refusal::place, Status::mismatch,
           "store: " + self + " of " + called(job.name) + " is already there; " + advice);
    const bool stranger = !job.of_several_origins && claim.origin != job.origin;
    const bool complete = job.was_complete && !job.of_several_origins;
    if (token_.empty() && !stranger && !complete && !job.failure) {
        fail(job, Error(Status::mismatch,
                        "store: two processes say that they are " + self + " of " +
                            called(job.name) + "; " + advice,
                        {claim.rank, Evidence::disagrees}));
    }
}

void Jobs::gather_all(const Member& member, ConnectionId from, std::string_view body,
                      Clock::time_point now) {
    Job& job = *member.job;
    if (job.failure) {
        send_(from, job.failure, false);
        job.informed.insert(member.rank);
        return;
    }
    Fields fields(body);
    const std::uint64_t number = fields.number64();
    // A limit of a month is as good as none, and keeps the sum below in range.
    const std::uint64_t limit = std::min<std::uint64_t>(fields.number64(), 2592000000U);
    const std::string_view blob = fields.rest();
    if (!fields.good() || number != job.completed + 1 || job.blobs.count(member.rank) != 0) {
        refuse(from, Refusal::order, Status::invalid_argument,
               "store: an allgather that is out of turn");
        return;
    }
    const std::chrono::milliseconds time(limit);
    if (job.blobs.empty() || now + time < job.expiry) {
        job.expiry = now + time;
        job.limit = time;
    }
    job.blobs.emplace(member.rank, blob);
    job.bytes += blob.size();
    if (!job.gone.empty()) {
        fail_because_gone(job);
    } else if (job.bytes > allgather_limit) {
        fail(job, Error(Status::invalid_argument,
                        "store: the blobs of allgather " + std::to_string(number) + " of " +
                            called(job.name) + " exceed " + std::to_string(allgather_limit >> 20) +
                            " MiB together"));
    } else if (job.blobs.size() == static_cast<std::size_t>(job.ranks)) {
        complete(job);
    } else {
        fail_if_one_cannot_come(job);
    }
}

void Jobs::complete(Job& job) {
    ++job.completed;
    Message message(Kind::result);
    message.number64(job.completed);
    for (const auto& [rank, blob] : job.blobs) {
        message.number64(blob.size()).bytes(blob);
    }
    const auto shared = std::make_shared<const std::string>(std::move(message).finish());
    job.blobs.clear();
    job.bytes = 0;
    for (const auto& [rank, connection] : job.members) {
        send_(connection, shared, false);
    }
}

/// The first cause stands.
void Jobs::abandon(const Member& member, std::string_view body) {
    if (!member.job->failure) {
        fail(*member.job, cause_message(Kind::cause, read_cause(body)));
    }
    member.job->informed.insert(member.rank);
}

bool Jobs::owes_news() const {
    return std::any_of(jobs_.begin(), jobs_.end(),
                       [this](const auto& named) { return owes_news(named.second); });
}

bool Jobs::owes_news(const Job& job) const {
    std::set<Rank> settled = job.gone;
    for (const auto& [rank, how] : ended_) {
        settled.insert(rank);
    }
    settled.insert(job.informed.begin(), job.informed.end());
    return job.failure && settled.size() < static_cast<std::size_t>(job.ranks);
}

void Jobs::fail(Job& job, const Error& cause) {
    fail(job, cause_message(Kind::failure, cause));
}

void Jobs::fail(Job& job, std::string message) {
    job.failure = std::make_shared<const std::string>(std::move(message));
    for (const auto& [rank, blob] : job.blobs) {
        const auto waiting = job.members.find(rank);
        if (waiting != job.members.end()) {
            send_(waiting->second, job.failure, false);
            job.informed.insert(rank);
        }
    }
    job.blobs.clear();
    job.bytes = 0;
}

void Jobs::fail_because_gone(Job& job) {
    const std::string rank = std::to_string(job.first_gone);
    fail(job, Error(Status::peer_lost,
                    "store: rank " + rank + " of " + called(job.name) +
                        " has ended or disconnected while others wait for allgather " +
                        std::to_string(job.completed + 1) + "; look at its output for the cause",
                    {job.first_gone, Evidence::left}));
}

void Jobs::ended(Rank rank, std::string how) {
    ended_.emplace(rank, std::move(how));
    for (auto& [name, job] : jobs_) {
        if (!job.blobs.empty()) {
            fail_if_one_cannot_come(job);
        }
    }
}

void Jobs::fail_if_one_cannot_come(Job& job) {
    for (const auto& [rank, how] : ended_) {
        if (rank < job.ranks && job.members.count(rank) == 0 && job.gone.count(rank) == 0) {
            fail(job, Error(Status::peer_lost,
                            "store: rank " + std::to_string(rank) + " has ended (" + how +
                                ") without joining " + called(job.name) +
                                "; all ranks must create the communicator",
                            {rank, Evidence::ended}));
            return;
        }
    }
}

void Jobs::refuse(ConnectionId to, Refusal kind, Status status, const std::string& text) {
    refused_(to, kind, text);
    send_(to, std::make_shared<const std::string>(error_message(status, text)), true);
}

void Jobs::disconnected(ConnectionId who) {
    challenged_.erase(who);
    const auto member = members_.find(who);
    if (member == members_.end()) {
        return;
    }
    Job& job = *member->second.job;
    job.members.erase(member->second.rank);
    if (job.gone.empty()) {
        job.first_gone = member->second.rank;
    }
    job.gone.insert(member->second.rank);
    members_.erase(member);
    if (job.members.empty()) {
        if (!owes_news(job)) {  // a rank that comes late hears why its job has failed
            const std::string name = job.name;
            jobs_.erase(name);
        }
    } else if (!job.blobs.empty()) {
        fail_because_gone(job);
    }
}

void Jobs::expire(Clock::time_point now) {
    for (auto& [name, job] : jobs_) {
        if (job.blobs.empty() || now < job.expiry) {
            continue;
        }
        const std::string refusal =
            job.refusal.empty() ? "" : " (" + job.refusal + " and was not let in)";
        const std::string lack =
            lack_.empty() ? ""
                          : "the process that serves it (rank 0, or the launcher) can take no more "
                            "connections: " +
                                lack_ + "; raise its limits (ulimit -n); ";
        fail(job, Error(Status::timeout,
                        "store: " + lack + absent_text(job.ranks, job.blobs) + " of " +
                            std::to_string(job.ranks) + " did not come to allgather " +
                            std::to_string(job.completed + 1) + " of " + called(name) + " within " +
                            seconds_text(job.limit) + refusal +
                            "; look whether they run and reach this store",
                        lack_.empty() ? Blame(first_absent(job.ranks, job.blobs), Evidence::silent)
                                      : Blame()));
    }
}

void Jobs::postpone(Clock::time_point until) {
    for (auto& [name, job] : jobs_) {
        if (!job.blobs.empty()) {
            job.expiry = std::max(job.expiry, until);
        }
    }
}

std::optional<Clock::time_point> Jobs::next_expiry() const {
    std::optional<Clock::time_point> next;
    for (const auto& [name, job] : jobs_) {
        if (!job.blobs.empty() && (!next || job.expiry < *next)) {
            next = job.expiry;
        }
    }
    return next;
}

}  // namespace trefoil::store
