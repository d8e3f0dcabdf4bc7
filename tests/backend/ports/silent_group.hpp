// SPDX-License-Identifier: BSD-3-Clause
// A port group whose peers are not there. Doubles of a test begin with it.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/ports/powers.hpp"

namespace trefoil::test {

/// Has memory, takes any peer, and brings nothing anywhere. It has no powers.
class SilentGroup : public PortGroup {
  public:
    explicit SilentGroup(std::vector<Port> ports = {}) { ports_ = std::move(ports); }

    using PortGroup::traits;
    PortTraits& traits() { return traits_; }  ///< what the test wants it to be like
    std::deque<Event> events;                 ///< that polls will give

    LocalMemory allocate(std::size_t bytes) override {
        memory_.emplace_back(bytes);
        return {memory_.back().data(), bytes, &memory_.back()};
    }
    std::string describe(const LocalMemory&) const override { return "memory"; }
    std::string address(Port) const override { return "address"; }
    RemoteMemory import_memory(std::string_view) override { return {}; }
    Peer connect(Port, std::string_view) override { return {}; }
    PutResult put(const Put&) override { return PutResult::failed; }
    std::size_t poll(std::span<Event> room) override {
        std::size_t count = 0;
        for (; !events.empty() && count < room.size(); events.pop_front()) {
            room[count++] = events.front();
        }
        return count;
    }
    void abandon(std::chrono::milliseconds) noexcept override {}
    std::string error_text() const override { return "the cable is cut"; }
    std::string port_text(Port) const override { return "a double"; }

  protected:
    std::deque<std::vector<std::byte>> memory_;
};

}  // namespace trefoil::test
