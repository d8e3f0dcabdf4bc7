// SPDX-License-Identifier: BSD-3-Clause
// A port group over uTofu: one virtual control queue per port.
//
// A put is pieces of data and a record (backend/utofu/control_block.hpp), all in strong order. So a
// record's notice tells that the data have landed, and a queue that is full (BUSY) or a peer that
// gives no credit only stops a put in its middle: poll() goes on with it. uTofu's calls are for the
// thread that owns the interface; nothing here blocks but connect(), for one round trip.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/ports/powers.hpp"
#include "backend/system/doorbell.hpp"
#include "backend/utofu/claims.hpp"
#include "backend/utofu/control_block.hpp"
#include "backend/utofu/pages.hpp"

namespace trefoil::utofu {

/// What a group is opened with.
struct GroupOptions {
    std::vector<Port> ports;
    Claims::Grant grant;
    std::uint32_t peers = 0;    ///< that each port will be connected to, at most
    std::uint32_t notices = 0;  ///< places in the queue of notices of an interface
    std::uint32_t sharers = 1;  ///< virtual control queues that may share one of those
};

class UtofuGroup final : public PortGroup, public Waking, public Registering {
  public:
    /// Throws Error(system_error) where a virtual control queue or a registration is refused.
    explicit UtofuGroup(GroupOptions options);
    ~UtofuGroup() override;

    LocalMemory allocate(std::size_t bytes) override;
    std::string describe(const LocalMemory& memory) const override;
    std::string address(Port port) const override;
    RemoteMemory import_memory(std::string_view description) override;
    void release(const RemoteMemory& memory) noexcept override;
    Peer connect(Port port, std::string_view address) override;

    LocalMemory register_memory(void* data, std::size_t bytes) override;
    void deregister(const LocalMemory& memory) noexcept override;
    /// What the network does with packets under way is nowhere said.
    bool deregister_stops_landing() const override { return false; }

    PutResult put(const Put& put) override;
    std::size_t poll(std::span<Event> events) override;
    void wait(std::chrono::microseconds longest) override;
    void wake() override { doorbell_.ring(); }
    void abandon(std::chrono::milliseconds longest) noexcept override;

    std::string error_text() const override { return error_text_.data(); }
    std::string port_text(Port port) const override;

  private:
    static constexpr std::size_t inline_bytes = 32;  // that fit into a descriptor
    static constexpr std::size_t window = 256;       // queued puts of a group

    /// A queued put, until all of it has been handed to the network and its source may be reused.
    struct Pending {
        std::uint64_t cookie = 0;
        std::uint32_t pieces = 0;  // posted and not yet reported
        bool posted = false;       // all of them, and the record
        bool lost = false;         // one has failed, which was told
        Pending* next_free = nullptr;
    };
    /// A peer that puts to a port of this group.
    struct Stream {
        std::uint32_t taken = 0;     // units
        std::uint32_t credited = 0;  // of those, told to the peer
        std::uint16_t sequence = 0;  // of the last record
        bool owes = false;           // a credit that met a full queue
    };
    struct Queue {
        Port port;
        Interface interface;
        utofu_vcq_hdl_t handle = 0;
        utofu_vcq_id_t id = 0;
        std::unique_ptr<Pages> control;
        utofu_stadd_t control_stadd = 0;
        std::vector<Stream> streams;
        std::uint32_t ways = 0;
        std::uint64_t emptied = 0;    // how often its notices were read to the last
        std::uint32_t under_way = 0;  // what the queue of completions will report
        bool busy = false;            // a call met a full queue since the last look
        std::uint32_t debts = 0;      // streams that are owed credit
        std::uint32_t farewells = 0;  // not yet answered
        bool answered = false;        // of connect()
        int answer = 0;               // its code
        std::uint64_t counted = 0;    // its value
    };
    /// The rest of a put that has begun.
    struct Unfinished {
        utofu_stadd_t source = 0, target = 0;
        std::uint64_t left = 0;  // bytes
        std::array<std::byte, inline_bytes> inlined{};
        std::uint8_t inlined_bytes = 0;
        std::uint8_t units = 0;  // since the last record
        Record::Kind kind = Record::Kind::none;
        std::uint32_t notification = 0;
        std::uint64_t registration = 0;
        Pending* pending = nullptr;
    };
    /// From a port to a peer's port.
    struct Way {
        std::size_t queue = 0;  // place in queues_
        utofu_vcq_id_t peer = 0;
        std::int32_t peer_port = 0;
        utofu_stadd_t ring = 0;
        utofu_stadd_t hello = 0;
        std::uint32_t stream = 0;
        std::uint32_t window = 0;
        std::uint32_t number = 0;                  // of the queue's ways
        std::uint32_t sent = 0;                    // units
        std::uint32_t credited = 0;                // of those, taken by the peer
        std::uint64_t looked = ~std::uint64_t{0};  // Queue::emptied when the credit was last read
        std::uint16_t sequence = 0;
        bool unfinished = false;
        Unfinished put;
    };
    struct Imported {
        bool used = false;
        std::uint64_t registration = 0;
        std::vector<utofu_stadd_t> by_port;  // of the peer; 0: not there
    };
    /// Own memory, with a registration for each queue.
    struct Registered {
        std::byte* data = nullptr;
        std::size_t bytes = 0;
        std::vector<utofu_stadd_t> by_queue;
        std::unique_ptr<Pages> pages;  // null: the user's
    };

    void open_queue(Port port, const std::vector<Interface>& candidates, bool shared,
                    std::uint32_t sharers);
    std::vector<utofu_stadd_t> register_with_all(void* data, std::size_t bytes);
    void deregister_from_all(const Registered& memory) noexcept;
    std::size_t place_of(Port port) const;
    std::string encode_registered(const Registered& memory, std::uint64_t registration) const;
    void say_hello(Queue& queue, const Way& way);
    void connect_stream(Queue& queue, Way& way, std::uint64_t control, std::uint32_t streams,
                        const std::string& where);

    // Sending.
    enum class Progress : std::uint8_t { complete, stalled, lost };
    PutResult begin(Way& way, std::size_t number);
    Progress advance(Way& way);
    int post_piece(Queue& queue, Way& way);
    int post_record(Queue& queue, Way& way, Record::Kind kind);
    void end_lost(Pending* pending);
    std::uint32_t credit_of(Way& way);
    PutResult refuse_put(const char* why);
    void go_on();
    void recycle(Pending* pending);

    // Receiving: each returns how many events it wrote.
    std::size_t take_kept(std::span<Event> events);
    std::size_t look(std::span<Event> events);
    std::size_t read_completions(Queue& queue, std::span<Event> events);
    std::size_t read_notices(Queue& queue, std::span<Event> events);
    bool take_notice(Queue& queue, const utofu_mrq_notice& notice, Event& event);
    bool take_record(Queue& queue, std::uint32_t stream, Event& event);
    bool take_failure(Queue& queue, int code, const utofu_mrq_notice& notice, Event& event);
    void give_credit(Queue& queue, std::uint32_t stream);
    void pay_debts(Queue& queue);
    bool has_left(const Queue& queue, std::uint64_t peer) const;
    void keep();
    Event failure(const char* what, int code, std::uint64_t cookie);

    bool is_quiet() const;
    void drain(std::chrono::steady_clock::time_point deadline);
    void say_farewells(std::chrono::steady_clock::time_point deadline);
    void close();

    Claims::Grant grant_;
    Capacity capacity_;
    ControlLayout layout_;
    Doorbell doorbell_;
    std::vector<Queue> queues_;
    std::vector<Way> ways_;
    std::vector<std::size_t> unfinished_;  // ways; as much room as there are ways
    std::map<std::pair<int, std::string>, Peer> connected_;
    std::vector<Imported> imported_;
    std::vector<std::unique_ptr<Registered>> allocated_;
    std::unordered_map<std::uint64_t, std::unique_ptr<Registered>> registered_;
    std::uint64_t registrations_ = 0;  // that there ever were
    std::vector<Pending> pending_;
    Pending* free_ = nullptr;
    std::vector<Event> kept_;  // what connect() and wait() came across
    std::size_t kept_read_ = 0;
    bool abandoned_ = false;
    std::array<char, 256> error_text_{};
};

}  // namespace trefoil::utofu
