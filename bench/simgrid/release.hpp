// SPDX-License-Identifier: BSD-3-Clause
// What SimGrid 4.0 calls otherwise than the releases before it.
#pragma once

#include <simgrid/forward.h>
#include <simgrid/version.h>
#include <simgrid/s4u.hpp>
#include <string>
#include <utility>
#include <vector>

namespace trefoil::simgrid_engine {

namespace s4u = simgrid::s4u;

#if SIMGRID_VERSION_MAJOR >= 4
inline s4u::NetZone* new_network(const std::string& name) {
    return s4u::Engine::get_instance()->get_netzone_root()->add_netzone_full(name);
}
inline s4u::Host* new_host(s4u::NetZone& zone, const std::string& name, double speed) {
    return zone.add_host(name, speed);
}
inline s4u::Link* new_link(s4u::NetZone& zone, const std::string& name, double rate) {
    return zone.add_link(name, rate);
}
inline void add_route(s4u::NetZone& zone, const s4u::Host* from, const s4u::Host* to,
                      const std::vector<s4u::LinkInRoute>& route) {
    zone.add_route(from, to, route, false);
}
template <typename Code>
void start_actor(const std::string& name, s4u::Host* host, Code code) {
    s4u::Engine::get_instance()->add_actor(name, host, std::move(code));
}
#else
inline s4u::NetZone* new_network(const std::string& name) {
    return s4u::create_full_zone(name);
}
inline s4u::Host* new_host(s4u::NetZone& zone, const std::string& name, double speed) {
    return zone.create_host(name, speed);
}
inline s4u::Link* new_link(s4u::NetZone& zone, const std::string& name, double rate) {
    return zone.create_link(name, rate);
}
inline void add_route(s4u::NetZone& zone, const s4u::Host* from, const s4u::Host* to,
                      const std::vector<s4u::LinkInRoute>& route) {
    zone.add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route, false);
}
template <typename Code>
void start_actor(const std::string& name, s4u::Host* host, Code code) {
    s4u::Actor::create(name, host, std::move(code));
}
#endif

}  // namespace trefoil::simgrid_engine
