// SPDX-License-Identifier: BSD-3-Clause
// Serving and joining the store that TREFOIL_STORE names.
#include "backend/bootstrap/launcher_store.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "backend/bootstrap/store_connection.hpp"
#include "backend/bootstrap/store_socket.hpp"
#include "backend/bootstrap/store_wire.hpp"
#include "topo/error.hpp"
#include "topo/log/log.hpp"
#include "topo/own_thread.hpp"
#include "topo/patience.hpp"

namespace trefoil {

namespace {

/// Ranks that are started by hand may do without a token, as they always could; so who serves on a
/// network that others reach is told, not refused.
void warn_if_open(const StoreServer& server, const StoreAddress& address,
                  const std::string& token) {
    if (token.empty() && !server.on_loopback()) {
        log_warning(LogTopic::setup, [&] {
            return "rank 0 serves the store at " +
                   store::endpoint_text(address.host, address.port) +
                   " without a token: any program that reaches that address can join or disturb "
                   "the job; "
                   "give all ranks the same secret in TREFOIL_TOKEN";
        });
    }
}

using Clock = std::chrono::steady_clock;

/// Tells all others, as they come to a store that cannot be, why nobody serves it.
void turn_away(const StoreAddress& address, Rank others, Clock::time_point until,
               const Error& why) noexcept {
    try {
        const auto text =
            std::make_shared<const std::string>(store::error_message(why.status(), why.what()));
        const Descriptor listener = store::listen_at(address.host, address.port);
        std::vector<store::Connection> told;
        pollfd waiting{listener.number(), POLLIN, 0};
        while (std::cmp_less(told.size(), others) &&
               ::poll(&waiting, 1, store::poll_time(until)) != 0) {
            Descriptor socket(
                accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
            if (socket.is_open()) {
                store::Connection& one = told.emplace_back(std::move(socket));
                one.queue(text);
                one.send_some();
                shutdown(one.number(), SHUT_WR);
            } else {  // no descriptor is left: who comes waits, and the poll would not
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
            }
        }
        // Until they hang up: where something is unread, an end takes back what was sent.
        const Clock::time_point end = Clock::now() + patience().store_abandon;
        for (store::Connection& one : told) {
            pollfd unread{one.number(), POLLIN, 0};
            while (Clock::now() < end && ::poll(&unread, 1, store::poll_time(end)) > 0 &&
                   one.receive_some()) {
            }
        }
    } catch (const std::exception&) {  // they hear nothing, and wait
    }
}

class ServedStores;
ServedStores& served_stores();

/// The stores that this process serves, by their place.
class ServedStores {
  public:
    /// Why this process does not serve the store at that place; empty if it does.
    std::string serve(const StoreAddress& address, const std::string& token) {
        const std::lock_guard lock(mutex_);
        begin_anew_in_a_child();
        if (servers_.empty()) {  // also once more, where the process ends already
            std::atexit([] { served_stores().end(); });
        }
        std::unique_ptr<StoreServer>& server =
            servers_[store::endpoint_text(address.host, address.port)];
        if (!server) {
            try {
                server = std::make_unique<StoreServer>(address.host, address.port, token);
            } catch (const NoThread&) {
                throw;  // nobody else serves it
            } catch (const Error& error) {
                return error.what();
            }
            warn_if_open(*server, address, token);
        }
        return {};
    }

    void end() {
        if (getpid() == owner_) {  // a child after fork() has no threads that it could join
            servers_.clear();
        }
    }

  private:
    /// A child after fork() has not the threads of its parent's stores, but their sockets: closed,
    /// they leave the address to the child's own.
    void begin_anew_in_a_child() {
        if (getpid() != owner_) {
            for (auto& [place, server] : servers_) {
                if (server) {
                    server->forsake();
                }
                forsaken_.push_back(std::move(server));
            }
            servers_.clear();
            owner_ = getpid();
        }
    }

    pid_t owner_ = getpid();
    std::mutex mutex_;  // guards all below
    std::map<std::string, std::unique_ptr<StoreServer>> servers_;
    std::vector<std::unique_ptr<StoreServer>> forsaken_;
};

/// Never destroyed: in a child after fork() there is nothing to do and nothing that may be touched.
ServedStores& served_stores() {
    static auto& stores = *new ServedStores;
    return stores;
}

}  // namespace

StoreAddress parse_store_address(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    StoreAddress address;
    if (colon != std::string_view::npos) {
        std::string_view host = text.substr(0, colon);
        const std::string_view port = text.substr(colon + 1);
        if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
            host = host.substr(1, host.size() - 2);
        }
        address.host = host;
        const char* end = port.data() + port.size();
        const auto [stop, error] = std::from_chars(port.data(), end, address.port);
        if (error != std::errc() || stop != end) {
            address.port = 0;
        }
    }
    if (address.host.empty() || address.port < 1 || address.port > 65535) {
        throw Error(Status::invalid_argument,
                    "TREFOIL_STORE=\"" + std::string(text) +
                        "\" is not host:port; give the host of rank 0 and a free port there, e.g. "
                        "node1:7000, or start with `trefoil run -n RANKS -- PROGRAM`");
    }
    return address;
}

std::unique_ptr<Bootstrap> make_served_store_bootstrap(const LauncherRequest& request) {
    const StoreAddress address = parse_store_address(request.store);
    std::string refusal;
    try {
        refusal = request.rank == 0 ? served_stores().serve(address, request.token) : "";
    } catch (const NoThread& error) {
        turn_away(address, request.ranks - 1, Clock::now() + request.deadline, error);
        throw;
    }
    try {
        return make_store_bootstrap({address.host, address.port, request.token, request.rank,
                                     request.ranks, request.deadline},
                                    request.job);
    } catch (const Error& error) {
        if (error.status() != Status::timeout) {
            throw;
        }
        if (request.rank != 0) {
            throw Error(error.status(), std::string(error.what()) +
                                            " Rank 0 serves it: did it start, at that address?");
        }
        throw Error(error.status(), refusal.empty()
                                        ? error.what()
                                        : error.what() + (" Rank 0 cannot serve it: " + refusal));
    }
}

}  // namespace trefoil
