// SPDX-License-Identifier: BSD-3-Clause
// A port group that passes everything on to another one: what decorators begin with.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "backend/ports/powers.hpp"

namespace trefoil {

/// Keeps whatever contract the inner group keeps. Powers are the inner group's own, but for
/// Storing: stores would pass the decorator by. One that changes what a power does implements it
/// and puts itself into powers_.
class ForwardingGroup : public PortGroup {
  public:
    explicit ForwardingGroup(std::unique_ptr<PortGroup> inner) : inner_(std::move(inner)) {
        ports_ = inner_->ports();
        traits_ = inner_->traits();
        powers_ = {.waking = inner_->waking(),
                   .landings = inner_->landings(),
                   .registering = inner_->registering(),
                   .pulling = inner_->pulling(),
                   .images = inner_->images()};
    }

    LocalMemory allocate(std::size_t bytes) override { return inner_->allocate(bytes); }
    std::string describe(const LocalMemory& memory) const override {
        return inner_->describe(memory);
    }
    std::string address(Port port) const override { return inner_->address(port); }
    RemoteMemory import_memory(std::string_view description) override {
        return inner_->import_memory(description);
    }
    Peer connect(Port port, std::string_view address) override {
        return inner_->connect(port, address);
    }
    PutResult put(const Put& put) override { return inner_->put(put); }
    std::size_t poll(std::span<Event> events) override { return inner_->poll(events); }
    void abandon(std::chrono::milliseconds longest) noexcept override { inner_->abandon(longest); }
    std::string error_text() const override { return inner_->error_text(); }
    std::string port_text(Port port) const override { return inner_->port_text(port); }

  protected:
    PortGroup& inner() { return *inner_; }
    const PortGroup& inner() const { return *inner_; }

  private:
    std::unique_ptr<PortGroup> inner_;
};

}  // namespace trefoil
