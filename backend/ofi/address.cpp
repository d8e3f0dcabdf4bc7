// SPDX-License-Identifier: BSD-3-Clause
// Reads socket addresses and the machine's interfaces.
#include "backend/ofi/address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/fabric.h>

#include <array>
#include <cstring>
#include <string_view>

#include "topo/host.hpp"

namespace trefoil::ofi {

namespace {

bool is_ip(std::uint32_t format, std::size_t bytes) {
    return (format == FI_SOCKADDR_IN && bytes >= sizeof(sockaddr_in)) ||
           (format == FI_SOCKADDR_IN6 && bytes >= sizeof(sockaddr_in6)) ||
           (format == FI_SOCKADDR && bytes >= sizeof(sockaddr_in));
}

std::string ip_text(const sockaddr* address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address->sa_family == AF_INET) {
        sockaddr_in v4{};
        std::memcpy(&v4, address, sizeof v4);
        inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    } else if (address->sa_family == AF_INET6) {
        sockaddr_in6 v6{};
        std::memcpy(&v6, address, sizeof v6);
        inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    }
    return text.data();
}

bool is_virtual(std::string_view interface) {
    static constexpr std::array<std::string_view, 9> prefixes = {
        "docker", "br-", "virbr", "veth", "cni", "flannel", "tun", "tap", "wg"};
    for (const std::string_view prefix : prefixes) {
        if (interface.substr(0, prefix.size()) == prefix) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::string address_text(std::uint32_t format, const void* address, std::size_t bytes) {
    if (address == nullptr || bytes == 0) {
        return {};
    }
    if (is_ip(format, bytes)) {
        return ip_text(static_cast<const sockaddr*>(address));
    }
    if (format == FI_ADDR_STR) {
        const auto* text = static_cast<const char*>(address);
        return {text, strnlen(text, bytes)};
    }
    return {};
}

std::string interface_of(std::uint32_t format, const void* address, std::size_t bytes) {
    if (address == nullptr || !is_ip(format, bytes)) {
        return {};
    }
    const std::string wanted = ip_text(static_cast<const sockaddr*>(address));
    for (const NetworkInterface& each : network_interfaces()) {
        if (each.address == wanted) {
            return each.name;
        }
    }
    return {};
}

int reach_of(std::uint32_t format, const void* address, std::size_t bytes, bool one_host) {
    if (address == nullptr || !is_ip(format, bytes)) {
        return 0;
    }
    const std::string text = address_text(format, address, bytes);
    const bool v4 = text.find(':') == std::string::npos;
    const bool loopback = text == "::1" || (v4 && text.substr(0, 4) == "127.");
    const bool link_local = v4 ? text.substr(0, 8) == "169.254." : text.substr(0, 4) == "fe80";
    const int kind = loopback                                           ? (one_host ? 3 : 0)
                     : is_virtual(interface_of(format, address, bytes)) ? 1
                                                                        : 2;
    return 3 * kind + (link_local ? 0 : v4 ? 2 : 1);
}

}  // namespace trefoil::ofi
