// SPDX-License-Identifier: BSD-3-Clause
// Tells interfaces that lead to other hosts from those of containers, virtual machines and VPNs.
#pragma once

#include <filesystem>
#include <string>

namespace trefoil {

/// What `interface` is if it does not lead to other hosts by itself ("bridge", "port of a bridge",
/// "tunnel", "container network", "dummy"); empty for those that do. In this order:
/// - what has hardware (`device`) is real, and so is a bridge that holds such an interface;
/// - then the kernel's word (`uevent`, `bridge`, `brport`, `tun_flags`);
/// - then the name: docker*, podman*, br-*, virbr*, lxcbr*, lxdbr*, cni*, flannel*, cali*, tun*,
///   tap*, wg*, tailscale*, zt*, vpn*, dummy*.
/// A veth that is not a port of a bridge is real: containers and namespaces have nothing else.
/// `classes` is the kernel's directory of interfaces.
std::string virtual_kind(const std::string& interface,
                         const std::filesystem::path& classes = "/sys/class/net");

}  // namespace trefoil
