// SPDX-License-Identifier: BSD-3-Clause
// Listening and connecting over TCP, by name or address, IPv4 or IPv6.
#include "backend/bootstrap/store_socket.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "topo/error.hpp"
#include "topo/patience.hpp"

namespace trefoil::store {

namespace {

using Clock = std::chrono::steady_clock;
using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// Null, and the reason in `problem`, when the name is not known.
Addresses resolve(const std::string& host, int port, bool to_listen, std::string& problem) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV | (to_listen ? AI_PASSIVE : 0);
    addrinfo* found = nullptr;
    const char* name = host.empty() ? nullptr : host.c_str();
    const int code = getaddrinfo(name, std::to_string(port).c_str(), &hints, &found);
    if (code != 0) {
        problem = "cannot resolve \"" + host +
                  "\": " + (code == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(code));
        found = nullptr;
    }
    return {found, freeaddrinfo};
}

Descriptor open_socket(const addrinfo& address) {
    return Descriptor(socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                             address.ai_protocol));
}

void set_option(const Descriptor& socket, int level, int option) {
    const int on = 1;
    setsockopt(socket.number(), level, option, &on, sizeof on);
}

/// A client that tries a free port of its own host may meet itself: TCP allows that.
bool is_connected_to_itself(const Descriptor& socket) {
    sockaddr_storage mine{};
    sockaddr_storage theirs{};
    socklen_t mine_bytes = sizeof mine;
    socklen_t theirs_bytes = sizeof theirs;
    return getsockname(socket.number(), reinterpret_cast<sockaddr*>(&mine), &mine_bytes) == 0 &&
           getpeername(socket.number(), reinterpret_cast<sockaddr*>(&theirs), &theirs_bytes) == 0 &&
           mine_bytes == theirs_bytes && std::memcmp(&mine, &theirs, mine_bytes) == 0;
}

/// 0, or the error number.
int try_connect(const Descriptor& socket, const addrinfo& address, Clock::time_point until) {
    if (connect(socket.number(), address.ai_addr, address.ai_addrlen) == 0) {
        return is_connected_to_itself(socket) ? ECONNREFUSED : 0;
    }
    if (errno != EINPROGRESS && errno != EINTR) {
        return errno;
    }
    pollfd waiting{socket.number(), POLLOUT, 0};
    int ready = 0;
    do {
        ready = ::poll(&waiting, 1, poll_time(until));
    } while (ready < 0 && errno == EINTR);
    if (ready <= 0) {
        return ready == 0 ? ETIMEDOUT : errno;
    }
    int error = 0;
    socklen_t bytes = sizeof error;
    getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &bytes);
    return error == 0 && is_connected_to_itself(socket) ? ECONNREFUSED : error;
}

}  // namespace

std::string endpoint_text(const std::string& host, int port) {
    const bool brackets = host.find(':') != std::string::npos;
    return (brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

int poll_time(Clock::time_point until) {
    using std::chrono::milliseconds;
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
    return static_cast<int>(std::clamp(left, milliseconds(0), milliseconds(3600000)).count());
}

void tune(const Descriptor& socket) {
    set_option(socket, IPPROTO_TCP, TCP_NODELAY);
    set_option(socket, SOL_SOCKET, SO_KEEPALIVE);
}

Descriptor listen_at(const std::string& host, int port) {
    std::string problem = "no usable address";
    const Addresses addresses = resolve(host, port, true, problem);
    for (const addrinfo* a = addresses.get(); a != nullptr; a = a->ai_next) {
        Descriptor socket = open_socket(*a);
        if (socket.is_open()) {
            set_option(socket, SOL_SOCKET, SO_REUSEADDR);  // a store that ended a moment ago
            if (bind(socket.number(), a->ai_addr, a->ai_addrlen) == 0 &&
                listen(socket.number(), SOMAXCONN) == 0) {
                return socket;
            }
        }
        problem = std::strerror(errno);
    }
    throw Error(Status::system_error,
                "store: cannot listen at " + endpoint_text(host, port) + ": " + problem +
                    "; choose an address of this host, and a free port (0: any)");
}

int port_of(const Descriptor& socket) {
    sockaddr_storage address{};
    socklen_t bytes = sizeof address;
    getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &bytes);
    // IPv4 and IPv6 have the port at different places.
    return ntohs(address.ss_family == AF_INET6
                     ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                     : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

bool is_on_loopback(const Descriptor& socket) {
    sockaddr_storage address{};
    socklen_t bytes = sizeof address;
    getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &bytes);
    if (address.ss_family == AF_INET6) {
        const in6_addr& six = reinterpret_cast<sockaddr_in6*>(&address)->sin6_addr;
        return IN6_IS_ADDR_LOOPBACK(&six);
    }
    return ntohl(reinterpret_cast<sockaddr_in*>(&address)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

std::string peer_text(const Descriptor& socket) {
    sockaddr_storage address{};
    socklen_t bytes = sizeof address;
    char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "";
    if (getpeername(socket.number(), reinterpret_cast<sockaddr*>(&address), &bytes) != 0 ||
        getnameinfo(reinterpret_cast<sockaddr*>(&address), bytes, host, sizeof host, port,
                    sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        return "somebody";
    }
    const bool brackets = std::strchr(host, ':') != nullptr;
    return (brackets ? "[" + std::string(host) + "]" : std::string(host)) + ":" + port;
}

Descriptor connect_to(const std::string& host, int port, Clock::time_point deadline) {
    constexpr std::chrono::milliseconds longest_pause{200};
    std::chrono::milliseconds pause{10};
    std::string problem;
    do {
        const Addresses addresses = resolve(host, port, false, problem);
        for (const addrinfo* a = addresses.get(); a != nullptr; a = a->ai_next) {
            Descriptor socket = open_socket(*a);
            const int error =
                socket.is_open()
                    ? try_connect(socket, *a,
                                  std::min(deadline, Clock::now() + patience().store_try))
                    : errno;
            if (error == 0) {
                tune(socket);
                return socket;
            }
            problem = std::strerror(error);
        }
        std::this_thread::sleep_for(std::min<Clock::duration>(
            pause, std::max(deadline - Clock::now(), Clock::duration::zero())));
        pause = std::min(2 * pause, longest_pause);
    } while (Clock::now() < deadline);
    throw Error(Status::timeout, "store: cannot reach the store at " + endpoint_text(host, port) +
                                     ": " + problem +
                                     "; is it running there, and is the address right?");
}

}  // namespace trefoil::store
