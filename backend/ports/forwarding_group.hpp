// SPDX-License-Identifier: BSD-3-Clause
// A port group that passes everything on to another one: what decorators begin with.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "backend/ports/port_group.hpp"

namespace trefoil {

/// Keeps whatever contract the inner group keeps.
class ForwardingGroup : public PortGroup {
  public:
    explicit ForwardingGroup(std::unique_ptr<PortGroup> inner) : inner_(std::move(inner)) {
        ports_ = inner_->ports();
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

    bool can_register() const override { return inner_->can_register(); }
    LocalMemory register_memory(void* data, std::size_t bytes) override {
        return inner_->register_memory(data, bytes);
    }
    void deregister(const LocalMemory& memory) noexcept override { inner_->deregister(memory); }
    bool deregister_stops_landing() const override { return inner_->deregister_stops_landing(); }
    void release(const RemoteMemory& memory) noexcept override { inner_->release(memory); }

    PutResult put(Port port, Peer peer, const void* source, void* descriptor,
                  const RemoteMemory& target, std::uint64_t offset, std::size_t bytes,
                  std::uint64_t notification, std::uint64_t cookie) override {
        return inner_->put(port, peer, source, descriptor, target, offset, bytes, notification,
                           cookie);
    }
    std::byte* landing(Peer peer, const RemoteMemory& target, std::uint64_t offset,
                       std::size_t bytes) const override {
        return inner_->landing(peer, target, offset, bytes);
    }
    std::size_t poll(std::span<Event> events) override { return inner_->poll(events); }
    void wait(std::chrono::microseconds longest) override { inner_->wait(longest); }
    void wake() override { inner_->wake(); }

    bool shows_images() const override { return inner_->shows_images(); }
    std::byte* take_image(std::size_t bytes) override { return inner_->take_image(bytes); }
    void give_back_image(std::byte* image) noexcept override { inner_->give_back_image(image); }
    std::byte* image_of(Peer peer, std::uint64_t address) noexcept override {
        return inner_->image_of(peer, address);
    }

    Reach reach(Peer peer) const override { return inner_->reach(peer); }
    bool copy_from(Peer peer, void* target, std::uint64_t address,
                   std::size_t bytes) const override {
        return inner_->copy_from(peer, target, address, bytes);
    }
    ReadGuard* own_guard(int place) override { return inner_->own_guard(place); }
    const ReadGuard* guard_of(Peer peer, int place) const override {
        return inner_->guard_of(peer, place);
    }
    void abandon(std::chrono::milliseconds longest) noexcept override { inner_->abandon(longest); }

    int notification_bits() const override { return inner_->notification_bits(); }
    bool needs_registered_source() const override { return inner_->needs_registered_source(); }
    bool may_lose_puts() const override { return inner_->may_lose_puts(); }
    bool closes_after_peers() const override { return inner_->closes_after_peers(); }
    bool puts_by_stores() const override { return inner_->puts_by_stores(); }
    std::size_t inject_bytes() const override { return inner_->inject_bytes(); }
    std::string provider() const override { return inner_->provider(); }
    std::string error_text() const override { return inner_->error_text(); }
    std::string port_text(Port port) const override { return inner_->port_text(port); }

  protected:
    PortGroup& inner() { return *inner_; }
    const PortGroup& inner() const { return *inner_; }

  private:
    std::unique_ptr<PortGroup> inner_;
};

}  // namespace trefoil
