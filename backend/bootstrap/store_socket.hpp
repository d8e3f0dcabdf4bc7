// SPDX-License-Identifier: BSD-3-Clause
// Sockets of the store: listening, and connecting before a deadline.
#pragma once

#include <chrono>
#include <string>

#include "topo/descriptor.hpp"

namespace trefoil::store {

using trefoil::Descriptor;

/// "host:port", with brackets where an IPv6 address needs them.
std::string endpoint_text(const std::string& host, int port);

/// A non-blocking listening socket. Throws Error(system_error) that says what the address is and
/// why it cannot be used.
Descriptor listen_at(const std::string& host, int port);

/// The port to which a socket is bound.
int port_of(const Descriptor& socket);

/// Whether it is bound to an address that only this host reaches.
bool is_on_loopback(const Descriptor& socket);

/// "192.0.2.1:45678": the other end of a connected socket.
std::string peer_text(const Descriptor& socket);

/// A non-blocking connected socket. Tries again until `deadline`, because the server may not have
/// started and its name may not be known yet; then throws Error(timeout) with the last cause.
Descriptor connect_to(const std::string& host, int port,
                      std::chrono::steady_clock::time_point deadline);

/// Milliseconds for poll(): not negative, rounded up, at most an hour.
int poll_time(std::chrono::steady_clock::time_point until);

/// Small messages are answered at once, and a dead host is noticed some day.
void tune(const Descriptor& socket);

}  // namespace trefoil::store
