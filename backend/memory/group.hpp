// SPDX-License-Identifier: BSD-3-Clause
// A port group in shared memory: copies into peers' regions and queues notifications.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/memory/images.hpp"
#include "backend/memory/memory_region.hpp"
#include "backend/memory/pull_offers.hpp"
#include "backend/memory/registration.hpp"
#include "backend/ports/notification_queue.hpp"
#include "backend/ports/powers.hpp"
#include "backend/ports/read_guard.hpp"

namespace trefoil::memory {

/// What peers see of a group. All zeros is an empty queue, no offer, no image and closed guards, so
/// a fresh or a peer's region is one as it is.
struct Front {
    NotificationQueue queue;
    ReadGuard guards[read_guards];
    PullOffers offers;  ///< to this group
    ImageTable images;
};

/// Three ways for a put. Up to SmallPut::most_bytes travel with their notification. More are copied
/// by the sender where the target's memory is mapped, or its process is this one; else the sender
/// offers them and the target fetches them (pull_offers.hpp).
class MemoryGroup final : public PortGroup,
                          public Waking,
                          public Landings,
                          public Storing,
                          public Registering,
                          public Pulling,
                          public Images {
  public:
    explicit MemoryGroup(const std::vector<Port>& ports);
    ~MemoryGroup() override;

    LocalMemory allocate(std::size_t bytes) override;
    std::string describe(const LocalMemory& memory) const override;
    std::string address(Port port) const override;
    RemoteMemory import_memory(std::string_view description) override;
    Peer connect(Port port, std::string_view address) override;

    bool can_register() const override;
    LocalMemory register_memory(void* data, std::size_t bytes) override;
    void deregister(const LocalMemory& memory) noexcept override;
    void release(const RemoteMemory& memory) noexcept override;

    PutResult put(const Put& put) override;
    std::byte* landing(Peer, const RemoteMemory& target, std::uint64_t offset,
                       std::size_t bytes) const override {
        return is_registered(target) ? nullptr : mapped_landing(target, offset, bytes);
    }
    std::byte* mapped(const RemoteMemory& memory) const override {
        return is_registered(memory) ? nullptr : reinterpret_cast<std::byte*>(memory.base);
    }
    void ring(Peer peer) noexcept override;
    void watch(Watch watch) noexcept override { watch_ = watch; }
    std::size_t poll(std::span<Event> events) override;
    bool may_have_arrivals() const noexcept override { return !reader_.empty(); }
    void wait(std::chrono::microseconds longest) override;
    void wake() override { reader_.wake(); }
    void abandon(std::chrono::milliseconds longest) noexcept override;

    std::byte* take_image(std::size_t bytes) override { return images_->take(bytes); }
    void give_back_image(std::byte* image) noexcept override { images_->give_back(image); }
    std::byte* image_of(Peer peer, std::uint64_t address) noexcept override;

    Reach reach(Peer peer) const override;
    bool copy_from(Peer peer, void* target, std::uint64_t address,
                   std::size_t bytes) const override;
    ReadGuard* own_guard(int place) override;
    const ReadGuard* guard_of(Peer peer, int place) const override;

    std::string error_text() const override;
    std::string port_text(Port) const override { return "shared memory"; }

  private:
    enum class Failure : std::uint8_t { none, left, ended, outside, stray, closed, forbidden };
    /// What became of bytes that a notification brought, or announced.
    enum class Delivery : std::uint8_t { whole, dropped, failed };
    struct Target;
    /// A put that the target has not fetched yet.
    struct Offered {
        OfferTicket ticket;
        Target* target;
        std::uint64_t cookie;
    };
    struct ImportedRegion {
        std::shared_ptr<Region> region;
        std::size_t times = 0;
    };
    static constexpr std::size_t most_offered = 64;  ///< of one group

    /// Tokens of registrations are odd.
    static bool is_registered(const RemoteMemory& memory) { return memory.key % 2 != 0; }
    static Target& target_of(Peer peer) { return *reinterpret_cast<Target*>(peer.handle); }
    void check_port(Port port) const;
    PutResult put_here(Target& target, const Put& put);
    PutResult put_by_offer(Target& target, const Put& put);
    PutResult refuse(Target& target);
    PutResult fail(Failure failure, const Target& target);
    Delivery deliver(const SmallPut& put);
    Delivery fetch(const SmallPut& put);
    bool settle(const Offered& offered, Event& event);
    std::size_t settle_offers(std::span<Event> events);
    bool any_settled() const;
    void drain(std::chrono::milliseconds longest) noexcept;

    std::shared_ptr<Region> front_;
    QueueReader reader_;
    std::shared_ptr<ImagePool> images_;
    std::vector<std::shared_ptr<Region>> own_;
    std::unordered_map<std::uint64_t, std::shared_ptr<Registration>> registered_;  // by token
    std::map<std::uint64_t, ImportedRegion> imported_;                             // by token
    // Registrations of this process; RemoteMemory::base of one is the place of its pointer.
    std::unordered_map<std::uint64_t, std::unique_ptr<std::shared_ptr<Registration>>> here_;
    std::vector<std::unique_ptr<Target>> targets_;
    std::vector<Offered> offered_;
    Watch watch_;
    std::uint32_t polls_ = 0;
    bool abandoned_ = false;
    Failure failure_ = Failure::none;
    pid_t failed_process_ = 0;
};

}  // namespace trefoil::memory
