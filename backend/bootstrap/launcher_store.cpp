// SPDX-License-Identifier: BSD-3-Clause
// Serving and joining the store that TREFOIL_STORE names.
#include "backend/bootstrap/launcher_store.hpp"

#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>

#include "backend/bootstrap/store_socket.hpp"
#include "topo/error.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

namespace {

/// The store's thread must not be chosen for the application's signals.
class AllSignalsBlocked {
  public:
    AllSignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    AllSignalsBlocked(const AllSignalsBlocked&) = delete;
    AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

  private:
    sigset_t before_{};
};

/// Ranks that are started by hand may do without a token, as they always could; so who serves on a
/// network that others reach is told, not refused.
void warn_if_open(const StoreServer& server, const StoreAddress& address,
                  const std::string& token) {
    if (token.empty() && !server.on_loopback()) {
        log_warning(LogTopic::setup, [&] {
            return "rank 0 serves the store at " +
                   store::endpoint_text(address.host, address.port) +
                   " without a token: whoever reaches that address may join or disturb the job; "
                   "give all ranks the same secret in TREFOIL_TOKEN";
        });
    }
}

/// The stores that this process serves, by their place.
class ServedStores {
  public:
    /// Why this process does not serve the store at that place; empty if it does.
    std::string serve(const StoreAddress& address, const std::string& token) {
        const std::lock_guard lock(mutex_);
        std::unique_ptr<StoreServer>& server =
            servers_[store::endpoint_text(address.host, address.port)];
        if (!server) {
            const AllSignalsBlocked blocked;
            try {
                server = std::make_unique<StoreServer>(address.host, address.port, token);
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
    pid_t owner_ = getpid();
    std::mutex mutex_;  // guards servers_
    std::map<std::string, std::unique_ptr<StoreServer>> servers_;
};

/// Never destroyed: in a child after fork() there is nothing to do and nothing that may be touched.
ServedStores& served_stores() {
    static ServedStores& stores = *[] {
        std::atexit([] { served_stores().end(); });
        return new ServedStores;
    }();
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
    const std::string refusal =
        request.rank == 0 ? served_stores().serve(address, request.token) : std::string();
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
