// SPDX-License-Identifier: BSD-3-Clause
// A port group over UCX: one rail per device, shared by the ports that use it.
//
// Two ways for a put, chosen per peer by asking UCX whether it can map the peer's memory here:
//   direct   the sender stores the bytes and appends the notification to the peer's queue, few
//   bytes
//            with it; the peer need not run, and only looks at its queue
//   message  an active message carries the bytes; its header says where they go and the
//   notification
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/ports/notification_queue.hpp"
#include "backend/ports/powers.hpp"
#include "backend/system/doorbell.hpp"
#include "backend/ucx/memory.hpp"
#include "backend/ucx/rail.hpp"

namespace trefoil::ucx {

/// A port to open and the device that it is to use; empty: any.
struct PortDevice {
    Port port;
    std::string device;
};

/// Not thread-safe, like every PortGroup; different groups share no state.
class UcxGroup final : public PortGroup, public Waking, public Landings, public Registering {
  public:
    UcxGroup(const std::string& transports, const std::vector<PortDevice>& ports);
    ~UcxGroup() override;

    LocalMemory allocate(std::size_t bytes) override;
    std::string describe(const LocalMemory& memory) const override;
    std::string address(Port port) const override;
    RemoteMemory import_memory(std::string_view description) override;
    Peer connect(Port port, std::string_view address) override;

    LocalMemory register_memory(void* data, std::size_t bytes) override;
    void deregister(const LocalMemory& memory) noexcept override;
    void release(const RemoteMemory& memory) noexcept override;

    std::byte* landing(Peer peer, const RemoteMemory& target, std::uint64_t offset,
                       std::size_t bytes) const override;
    PutResult put(const Put& put) override;
    std::size_t poll(std::span<Event> events) override;
    void wait(std::chrono::microseconds longest) override;
    void abandon(std::chrono::milliseconds longest) noexcept override;
    void wake() override;

    std::string error_text() const override { return error_text_.data(); }
    std::string port_text(Port port) const override;

  private:
    static constexpr std::size_t window = 256;  // messages under way, all peers together

    struct Header {
        std::uint64_t offset;
        std::uint64_t memory;  ///< key of the receiver's
        std::uint64_t notification;
    };
    /// A message under way: UCX reads the header until it is done.
    struct Pending {
        Header header;
        std::uint64_t cookie;
        UcxGroup* group;
        const Endpoint* to;  ///< null: not under way, or reported as failed already
        Pending* next_free;
    };
    /// A message that is being received into its place.
    struct Landing {
        std::uint64_t notification;
        std::size_t memory;  ///< its place in memory_
        UcxGroup* group;
        Landing* next_free;
    };
    /// A peer group as seen from one rail.
    struct Target {
        std::string address;
        Rail* rail;
        Endpoint* endpoint;
        Mapping mapping;
        std::optional<memory::QueueWriter> queue;
    };
    struct Imported {
        Mapping mapping;
        RemoteMemory memory;
        std::size_t times = 0;
    };

    /// A rail, and whom its messages are for.
    struct OwnRail {
        UcxGroup* group;
        std::unique_ptr<Rail> rail;
    };

    std::size_t open_rail(const std::string& transports, const std::string& device);
    Rail& rail_of(Port port) const;
    Mapping map(const SharedBlob& memory, std::size_t bytes);
    /// Messages name memory by a key that only those know who were told: random bits over its
    /// index. One of these bits tells what the program has registered: peers reach that by messages
    /// only, so that nobody but this group writes there.
    struct KeyedMemory {
        std::uint64_t key = 0;  ///< 0: no longer in use
        std::unique_ptr<Memory> memory;
        std::size_t landing = 0;  ///< messages that are being received into it
    };
    static constexpr int index_bits = 16;
    static constexpr std::uint64_t is_registered = std::uint64_t{1} << index_bits;

    KeyedMemory& keep(std::unique_ptr<Memory> memory, std::uint64_t kind);
    const KeyedMemory* memory_by(std::uint64_t key) const noexcept;
    bool land_all(const KeyedMemory& memory) noexcept;
    SharedBlob share(const Memory& memory) const;
    PutResult put_direct(Target& target, const Put& put);
    PutResult put_message(Target& target, const void* source, std::size_t bytes,
                          const Header& header, std::uint64_t cookie);
    PutResult refuse(const char* what, const char* why) noexcept;
    void release(Pending* pending);
    void fail_what_is_lost() noexcept;
    void keep(const Event& event) noexcept;
    void keep_failure(const char* what, const char* why, std::uint64_t cookie) noexcept;
    void deliver(const memory::SmallPut& put) noexcept;
    std::size_t take(std::span<Event> events);
    void progress();
    bool arm();
    void drain(std::chrono::milliseconds longest);
    bool sleep(std::chrono::microseconds longest, std::chrono::microseconds slice);
    bool doze(std::chrono::microseconds longest, std::chrono::microseconds slice);
    ucs_status_t receive(Rail& rail, KeyedMemory& memory, std::byte* to, void* data,
                         std::size_t bytes, std::uint64_t notification) noexcept;

    // UCX's callbacks.
    static ucs_status_t on_message(void* own_rail, const void* header, std::size_t header_bytes,
                                   void* data, std::size_t bytes, const ucp_am_recv_param_t* how);
    static void on_sent(void* request, ucs_status_t status, void* pending);
    static void on_received(void* request, ucs_status_t status, std::size_t bytes, void* landing);

    std::vector<std::unique_ptr<OwnRail>> rails_;
    Rail* memory_rail_ = nullptr;            // its context owns the memory
    bool shares_ = true;                     // memory is offered for mapping
    std::vector<std::size_t> rail_of_port_;  // in the order of ports_
    std::vector<KeyedMemory> memory_;
    std::vector<std::size_t> unused_;  // places in it
    std::unique_ptr<Memory> queue_memory_;
    std::optional<memory::QueueReader> queue_;
    std::vector<std::unique_ptr<Target>> targets_;
    std::map<std::string, Imported, std::less<>> imported_;                     // by description
    std::map<std::uint64_t, decltype(imported_)::const_iterator> imported_as_;  // by key

    std::deque<Pending> pending_;  // grows by what a lost connection keeps
    Pending* free_ = nullptr;
    std::size_t under_way_ = 0;
    std::deque<Landing> landings_;  // grows to the most that ever were under way
    Landing* free_landing_ = nullptr;
    // Events that UCX's callbacks have left and poll() has not returned yet.
    std::vector<Event> kept_;
    std::size_t kept_first_ = 0;
    std::uint32_t polls_ = 0;
    bool direct_ = false;         // the last arrival came through the queue
    bool queue_used_ = false;     // something has arrived through it
    bool messages_used_ = false;  // something has arrived by message
    bool abandoned_ = false;      // the rails are not touched any more
    bool cut_off_ = false;        // so is the group: a message would not end (deregister)
    Doorbell doorbell_;
    std::array<char, 256> error_text_{};
};

}  // namespace trefoil::ucx
