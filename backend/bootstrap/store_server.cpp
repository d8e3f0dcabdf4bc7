// SPDX-License-Identifier: BSD-3-Clause
// The store's server: one thread that sleeps in poll() and lets the rules of store_job.hpp decide.
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include "backend/bootstrap/bootstrap.hpp"
#include "backend/bootstrap/store_connection.hpp"
#include "backend/bootstrap/store_job.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

using store::Clock;
using store::Connection;
using store::ConnectionId;
using store::Descriptor;

/// A client, and whether its connection ends when all is sent.
struct Client {
    explicit Client(Descriptor socket) : connection(std::move(socket)) {}
    Connection connection;
    bool ending = false;
    bool broken = false;
};

/// Before it has joined a job, a client has no business to send much.
constexpr std::uint64_t stranger_limit = 4096;
constexpr std::uint64_t member_limit = store::allgather_limit + 64;

}  // namespace

class StoreServer::Implementation {
  public:
    Implementation(const std::string& host, int port);
    ~Implementation();
    int port() const { return store::port_of(listener_); }

  private:
    void run();
    void accept_all();
    void serve(ConnectionId id, Client& client, short events);
    void read_messages(ConnectionId id, Client& client);
    void end_with(Client& client, Status status, const std::string& text);
    void remove_ended();
    void send_the_rest();
    int sleep_time() const;

    Descriptor listener_;
    Descriptor stop_;  // becomes readable when the object ends
    std::map<ConnectionId, Client> clients_;
    store::Jobs jobs_;
    ConnectionId next_id_ = 1;
    Clock::time_point accept_after_;  // in the past, unless descriptors have run out
    std::thread thread_;
};

StoreServer::Implementation::Implementation(const std::string& host, int port)
    : listener_(store::listen_at(host, port)),
      stop_(eventfd(0, EFD_CLOEXEC)),
      jobs_([this](ConnectionId to, std::shared_ptr<const std::string> message, bool last) {
          Client& client = clients_.at(to);
          client.connection.queue(std::move(message));
          client.ending = client.ending || last;
      }) {
    if (!stop_.is_open()) {
        throw Error(Status::system_error,
                    std::string("store: cannot create an eventfd: ") + std::strerror(errno));
    }
    thread_ = std::thread([this] { run(); });
}

StoreServer::Implementation::~Implementation() {
    const std::uint64_t one = 1;
    // An eventfd takes a small number at any time; there is nothing to do if it did not.
    [[maybe_unused]] const ssize_t count = write(stop_.number(), &one, sizeof one);
    thread_.join();
}

void StoreServer::Implementation::run() {
    std::vector<pollfd> waiting;
    std::vector<ConnectionId> ids;
    for (;;) {
        waiting.assign({{stop_.number(), POLLIN, 0}, {listener_.number(), 0, 0}});
        waiting[1].events = Clock::now() < accept_after_ ? short{0} : short{POLLIN};
        ids.clear();
        for (const auto& [id, client] : clients_) {
            const short output = client.connection.has_output() ? short{POLLOUT} : short{0};
            waiting.push_back({client.connection.number(), static_cast<short>(POLLIN | output), 0});
            ids.push_back(id);
        }
        ::poll(waiting.data(), waiting.size(), sleep_time());
        if (waiting[0].revents != 0) {
            send_the_rest();
            return;
        }
        for (std::size_t i = 0; i < ids.size(); ++i) {
            serve(ids[i], clients_.at(ids[i]), waiting[i + 2].revents);
        }
        if (waiting[1].revents != 0) {
            accept_all();
        }
        jobs_.expire(Clock::now());
        remove_ended();
    }
}

/// Until a message, the next deadline, or the time to accept again.
int StoreServer::Implementation::sleep_time() const {
    auto next = jobs_.next_expiry();
    if (accept_after_ > Clock::now() && (!next || accept_after_ < *next)) {
        next = accept_after_;
    }
    return next ? store::poll_time(*next) : -1;
}

void StoreServer::Implementation::accept_all() {
    for (;;) {
        Descriptor socket(
            accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!socket.is_open()) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
                // The listener stays readable: without a pause this would be a busy loop.
                accept_after_ = Clock::now() + std::chrono::milliseconds(100);
            }
            return;
        }
        store::tune(socket);
        clients_.try_emplace(next_id_++, std::move(socket));
    }
}

void StoreServer::Implementation::serve(ConnectionId id, Client& client, short events) {
    if (events == 0) {
        return;
    }
    try {
        if (!client.connection.receive_some()) {
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
        const bool joined = jobs_.has_joined(id);
        switch (client.connection.next(joined ? member_limit : stranger_limit, header)) {
            case Connection::Next::nothing:
                return;
            case Connection::Next::garbage:
                end_with(client, Status::invalid_argument,
                         "store: this port speaks Trefoil's store protocol only");
                return;
            case Connection::Next::other_version:
                end_with(client, Status::mismatch,
                         "store: the server speaks version " + std::to_string(store::version) +
                             " of the store protocol, the client version " +
                             std::to_string(header.version) + "; use the same Trefoil everywhere");
                return;
            case Connection::Next::too_long:
                end_with(client, Status::invalid_argument,
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

void StoreServer::Implementation::end_with(Client& client, Status status, const std::string& text) {
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

StoreServer::StoreServer(const std::string& host, int port)
    : implementation_(std::make_unique<Implementation>(host, port)) {}
StoreServer::~StoreServer() = default;
int StoreServer::port() const {
    return implementation_->port();
}

}  // namespace trefoil
