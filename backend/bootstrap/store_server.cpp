// SPDX-License-Identifier: BSD-3-Clause
// The store's server: one thread that sleeps in poll() and lets the rules of store_job.hpp decide.
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "backend/bootstrap/bootstrap.hpp"
#include "backend/bootstrap/store_connection.hpp"
#include "backend/bootstrap/store_job.hpp"
#include "topo/error.hpp"
#include "topo/log/log.hpp"
#include "topo/own_thread.hpp"
#include "topo/patience.hpp"

namespace trefoil {

namespace {

constexpr int ending_sleep = 10;  // milliseconds

using store::Clock;
using store::Connection;
using store::ConnectionId;

/// A client, and whether its connection ends when all is sent.
struct Client {
    Client(Descriptor socket, std::string its_place, Clock::time_point now)
        : connection(std::move(socket)), place(std::move(its_place)), since(now) {}
    Connection connection;
    std::string place;  ///< "192.0.2.1:45678"
    Clock::time_point since;
    bool ending = false;
    bool broken = false;
};

/// How many may be connected that have not joined yet. Few, where this process may not have many
/// descriptors; the others wait in the kernel, in the order in which they came.
std::size_t most_strangers() {
    constexpr std::size_t fewest = 16, most = 256;
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return fewest;
    }
    return std::clamp<std::size_t>(limit.rlim_cur / 8, fewest, most);
}

}  // namespace

class StoreServer::Implementation {
  public:
    Implementation(const std::string& host, int port, std::string token,
                   std::chrono::milliseconds for_a_stranger);
    ~Implementation();
    int port() const { return store::port_of(listener_); }
    bool on_loopback() const { return store::is_on_loopback(listener_); }
    void rank_ended(Rank rank, const std::string& how);
    void forsake() noexcept {
        listener_ = Descriptor();
        wake_ = Descriptor();
    }

  private:
    void run();
    void wake() const;
    void hear();
    void accept_all();
    bool make_room(Clock::time_point now, std::chrono::milliseconds longest);
    void drop_late(Clock::time_point now);
    void drop(ConnectionId id, store::Refusal kind, const std::string& why);
    void serve(ConnectionId id, Client& client, short events);
    void read_messages(ConnectionId id, Client& client);
    void end_with(ConnectionId id, Client& client, store::Refusal kind, Status status,
                  const std::string& text);
    void remove_ended();
    void send_the_rest();
    int sleep_time() const;

    Descriptor listener_;
    Descriptor wake_;  // becomes readable when something below is new
    std::mutex mutex_;
    bool stops_ = false;
    std::vector<std::pair<Rank, std::string>> ended_ranks_;
    std::chrono::milliseconds for_a_stranger_;
    std::size_t most_strangers_ = most_strangers();
    std::shared_ptr<const Log> log_ = current_log();
    store::Refusals refusals_;
    std::map<ConnectionId, Client> clients_;
    std::set<ConnectionId> strangers_;  // not joined; the first have been here for longest
    store::Jobs jobs_;
    ConnectionId next_id_ = 1;
    Clock::time_point accept_after_;  // in the past, unless descriptors have run out
    bool ending_ = false;
    Clock::time_point end_by_;
    std::thread thread_;
};

StoreServer::Implementation::Implementation(const std::string& host, int port, std::string token,
                                            std::chrono::milliseconds for_a_stranger)
    : listener_(store::listen_at(host, port)),
      wake_(Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))),
      for_a_stranger_(for_a_stranger),
      refusals_(store::endpoint_text(host, store::port_of(listener_))),
      jobs_(
          std::move(token),
          [this](ConnectionId to, std::shared_ptr<const std::string> message, bool last) {
              Client& client = clients_.at(to);
              client.connection.queue(std::move(message));
              client.ending = client.ending || last;
          },
          [this](ConnectionId who, store::Refusal kind, const std::string& why) {
              refusals_.note(kind, clients_.at(who).place, why, Clock::now());
          }) {
    if (!wake_.is_open()) {
        throw Error(Status::system_error,
                    std::string("store: cannot create an eventfd: ") + std::strerror(errno));
    }
    thread_ = start_thread([this] { run(); });
}

StoreServer::Implementation::~Implementation() {
    {
        const std::lock_guard lock(mutex_);
        stops_ = true;
    }
    wake();
    thread_.join();
}

void StoreServer::Implementation::rank_ended(Rank rank, const std::string& how) {
    {
        const std::lock_guard lock(mutex_);
        ended_ranks_.emplace_back(rank, how);
    }
    wake();
}

void StoreServer::Implementation::wake() const {
    const std::uint64_t one = 1;
    // An eventfd takes a small number at any time; there is nothing to do if it did not.
    [[maybe_unused]] const ssize_t count = write(wake_.number(), &one, sizeof one);
}

void StoreServer::Implementation::hear() {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t bytes = read(wake_.number(), &count, sizeof count);
    const std::lock_guard lock(mutex_);
    for (auto& [rank, how] : std::exchange(ended_ranks_, {})) {
        jobs_.ended(rank, std::move(how));
    }
    if (stops_ && !ending_) {
        ending_ = true;
        end_by_ = Clock::now() + patience().store_farewell;
    }
}

void StoreServer::Implementation::run() {
    const LogScope scope(log_);
    std::vector<pollfd> waiting;
    std::vector<ConnectionId> ids;
    for (;;) {
        waiting.assign({{wake_.number(), POLLIN, 0}, {listener_.number(), 0, 0}});
        waiting[1].events = Clock::now() < accept_after_ ? short{0} : short{POLLIN};
        ids.clear();
        for (const auto& [id, client] : clients_) {
            const short output = client.connection.has_output() ? short{POLLOUT} : short{0};
            waiting.push_back({client.connection.number(), static_cast<short>(POLLIN | output), 0});
            ids.push_back(id);
        }
        const auto due = jobs_.next_expiry();
        const int ready =
            ::poll(waiting.data(), waiting.size(), ending_ ? ending_sleep : sleep_time());
        // What expires goes by this one time too: this process may be stopped anywhere below.
        const Clock::time_point now = Clock::now();
        if (due &&
            now >
                *due + patience().store_is_late) {  // this process was stopped, or the host is busy
            jobs_.postpone(now + patience().store_late_grace);
        }
        // What was sent before the end is read first: that a job has failed, for one.
        const bool quiet = ready == 0 && !jobs_.owes_news();
        if (ending_ && (quiet || Clock::now() >= end_by_)) {
            send_the_rest();
            return;
        }
        for (std::size_t i = 0; i < ids.size(); ++i) {
            serve(ids[i], clients_.at(ids[i]), waiting[i + 2].revents);
        }
        drop_late(Clock::now());
        if (waiting[1].revents != 0) {
            accept_all();
        }
        if (waiting[0].revents != 0) {  // after what the ranks have said
            hear();
        }
        jobs_.expire(now);
        remove_ended();
    }
}

/// Until a message, the next deadline, or the time to accept again.
int StoreServer::Implementation::sleep_time() const {
    auto next = jobs_.next_expiry();
    const auto consider = [&next](Clock::time_point time) {
        next = next ? std::min(*next, time) : time;
    };
    if (accept_after_ > Clock::now()) {
        consider(accept_after_);
    }
    if (!strangers_.empty()) {
        consider(clients_.at(*strangers_.begin()).since + for_a_stranger_);
    }
    return next ? store::poll_time(*next) : -1;
}

void StoreServer::Implementation::accept_all() {
    // The listener stays readable: without a pause this would be a busy loop.
    const auto pause = [this](int milliseconds) {
        accept_after_ = Clock::now() + std::chrono::milliseconds(milliseconds);
    };
    for (;;) {
        const Clock::time_point now = Clock::now();
        if (strangers_.size() >= most_strangers_ &&
            !make_room(now, patience().stranger_in_a_crowd)) {
            pause(20);
            return;
        }
        Descriptor socket(
            accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!socket.is_open()) {
            const bool none_left =
                errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS;
            if (none_left && make_room(now, patience().stranger_in_a_crowd)) {
                continue;
            }
            if (none_left) {
                jobs_.lacks(std::strerror(errno));
                pause(100);
            }
            return;
        }
        jobs_.lacks("");
        store::tune(socket);
        std::string place = store::peer_text(socket);
        clients_.try_emplace(next_id_, std::move(socket), std::move(place), now);
        strangers_.insert(next_id_++);
    }
}

/// Drops those who have not joined for longer than that; true: there is one less, at least.
bool StoreServer::Implementation::make_room(Clock::time_point now,
                                            std::chrono::milliseconds longest) {
    bool dropped = false;
    while (!strangers_.empty()) {
        const ConnectionId oldest = *strangers_.begin();
        if (now - clients_.at(oldest).since < longest) {
            break;
        }
        drop(oldest, store::Refusal::crowded,
             "it has not said who it is, and others wait for its place");
        dropped = true;
    }
    return dropped;
}

void StoreServer::Implementation::drop_late(Clock::time_point now) {
    while (!strangers_.empty() && now - clients_.at(*strangers_.begin()).since >= for_a_stranger_) {
        drop(*strangers_.begin(), store::Refusal::late,
             "it has not said in time who it is (" + std::to_string(for_a_stranger_.count()) +
                 " ms)");
    }
}

void StoreServer::Implementation::drop(ConnectionId id, store::Refusal kind,
                                       const std::string& why) {
    const Client& client = clients_.at(id);
    if (!client.ending) {  // else it was told, and has not read it
        refusals_.note(kind, client.place, why, Clock::now());
    }
    jobs_.disconnected(id);
    strangers_.erase(id);
    clients_.erase(id);
}

void StoreServer::Implementation::serve(ConnectionId id, Client& client, short events) {
    if (events == 0) {
        return;
    }
    try {
        const bool known = strangers_.count(id) == 0;
        if (!client.connection.receive_some(known ? SIZE_MAX
                                                  : store::header_bytes + store::stranger_limit)) {
            client.broken = true;
        }
        // What came before the end counts: a rank may leave right after its last allgather.
        if (!client.ending) {
            read_messages(id, client);
        }
    } catch (const std::exception&) {
        client.broken = true;  // no memory for this client; the others must not suffer
    }
}

void StoreServer::Implementation::read_messages(ConnectionId id, Client& client) {
    store::Header header;
    while (!client.ending) {
        if (jobs_.has_joined(id)) {
            strangers_.erase(id);
        }
        switch (client.connection.next(jobs_.message_limit(id), header)) {
            case Connection::Next::nothing:
                return;
            case Connection::Next::garbage:
                end_with(id, client, store::Refusal::garbage, Status::invalid_argument,
                         "store: this port speaks Trefoil's store protocol only");
                return;
            case Connection::Next::other_version:
                end_with(id, client, store::Refusal::language, Status::mismatch,
                         "store: the server speaks version " + std::to_string(store::version) +
                             " of the store protocol, the client version " +
                             std::to_string(header.version) + "; use the same Trefoil everywhere");
                return;
            case Connection::Next::too_long:
                end_with(id, client, store::Refusal::too_long, Status::invalid_argument,
                         "store: a message of " + std::to_string(header.body) +
                             " bytes is longer than the store takes");
                return;
            case Connection::Next::message:
                jobs_.receive(id, header.kind, client.connection.body(header), Clock::now());
                client.connection.drop(header);
                break;
        }
    }
}

void StoreServer::Implementation::end_with(ConnectionId id, Client& client, store::Refusal kind,
                                           Status status, const std::string& text) {
    if (strangers_.count(id) != 0) {
        refusals_.note(kind, client.place, text, Clock::now());
    }
    client.connection.queue(
        std::make_shared<const std::string>(store::error_message(status, text)));
    client.ending = true;
}

void StoreServer::Implementation::remove_ended() {
    // Telling one client's end to the rules may give others something to send, never an end.
    for (auto it = clients_.begin(); it != clients_.end();) {
        Client& client = it->second;
        if (!client.broken && !client.connection.send_some()) {
            client.broken = true;
        }
        if (client.broken || (client.ending && !client.connection.has_output())) {
            jobs_.disconnected(it->first);
            strangers_.erase(it->first);
            it = clients_.erase(it);
        } else {
            ++it;
        }
    }
    for (auto& [id, client] : clients_) {
        client.connection.send_some();  // poll() reports what is broken
    }
}

/// The rank that runs the store may have all it needs while the last answer is still on its way to
/// others. Ends when they have it, or after a while.
void StoreServer::Implementation::send_the_rest() {
    const Clock::time_point until = Clock::now() + std::chrono::seconds(2);
    std::vector<pollfd> waiting;
    do {
        waiting.clear();
        for (auto& [id, client] : clients_) {
            client.broken = client.broken || !client.connection.send_some();
            if (!client.broken && client.connection.has_output()) {
                waiting.push_back({client.connection.number(), POLLOUT, 0});
            }
        }
        if (!waiting.empty()) {
            ::poll(waiting.data(), waiting.size(), store::poll_time(until));
        }
    } while (!waiting.empty() && Clock::now() < until);
}

StoreServer::StoreServer(const std::string& host, int port, std::string token,
                         std::chrono::milliseconds for_a_stranger)
    : implementation_(
          std::make_unique<Implementation>(host, port, std::move(token), for_a_stranger)) {}
StoreServer::~StoreServer() = default;
int StoreServer::port() const {
    return implementation_->port();
}
void StoreServer::rank_ended(Rank rank, const std::string& how) {
    implementation_->rank_ended(rank, how);
}
void StoreServer::forsake() noexcept {
    implementation_->forsake();
}
bool StoreServer::on_loopback() const {
    return implementation_->on_loopback();
}

}  // namespace trefoil
