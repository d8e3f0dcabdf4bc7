// SPDX-License-Identifier: BSD-3-Clause
// A port group over libfabric: one domain and one completion queue, one endpoint per port.
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/ofi/ends_here.hpp"
#include "backend/ofi/handle.hpp"
#include "backend/ofi/memory.hpp"
#include "backend/ports/powers.hpp"
#include "backend/ports/transport.hpp"
#include "backend/system/doorbell.hpp"

namespace trefoil::ofi {

/// A port to open and the offer (provider, NIC) that it is to use.
struct PortOffer {
    Port port;
    Info info;
};

/// Not thread-safe, like every PortGroup; different groups share no state.
class OfiGroup final : public PortGroup, public Waking, public Registering {
  public:
    /// All offers are of one provider. Throws Error(system_error), or Error(unsupported) when the
    /// ports cannot share one domain.
    explicit OfiGroup(std::vector<PortOffer> offers);
    ~OfiGroup() override;

    LocalMemory allocate(std::size_t bytes) override;
    std::string describe(const LocalMemory& memory) const override;
    std::string address(Port port) const override;
    RemoteMemory import_memory(std::string_view description) override;
    Peer connect(Port port, std::string_view address) override;

    LocalMemory register_memory(void* data, std::size_t bytes) override;
    void deregister(const LocalMemory& memory) noexcept override;
    /// Providers in software look at the key when a put begins to come.
    bool deregister_stops_landing() const override { return false; }

    PutResult put(const Put& put) override;
    std::size_t poll(std::span<Event> events) override;
    void wait(std::chrono::microseconds longest) override;
    void wake() override;
    void abandon(std::chrono::milliseconds longest) noexcept override;

    std::string error_text() const override { return error_text_.data(); }
    std::string port_text(Port port) const override;

  private:
    static constexpr std::size_t window = 256;  // queued puts of a group, all ports together
    static constexpr std::size_t batch = 32;    // completions read at a time

    /// What the provider may scribble in while a put is under way, and whose put it is.
    struct Pending {
        fi_context2 scratch;  // first: completions hand this address back
        std::uint64_t cookie;
        bool injected;  // put() has said `done`: nobody waits for the completion
        Pending* next_free;
    };
    struct PortEndpoint {
        Port port;
        ProviderInfo names;  // as offered, before the names of the shared domain replace them
        Info info;
        Handle<fid_ep> endpoint;
    };

    /// What outlives a group whose endpoints threads of this process still write into
    /// (ends_here.hpp). Closed from the last to the first, as the members of the group.
    struct Remains {
        std::vector<Pending> pending;
        Handle<fid_fabric> fabric;
        Handle<fid_domain> domain;
        Handle<fid_cq> queue;
        Handle<fid_av> peers;
        std::vector<PortEndpoint> endpoints;
        std::vector<RegisteredMemory> memory;
    };

    void open_domain();
    void open_completion_queue();
    void open_endpoint(PortEndpoint& port);
    Handle<fid_mr> open_to_peers(void* data, std::size_t bytes);
    const PortEndpoint& find(Port port) const;
    std::string raw_address(Port port) const;
    std::string where() const;

    fid_ep* endpoint_of(Port port) const {
        for (const PortEndpoint& each : endpoints_) {
            if (each.port == port) {
                return each.endpoint.get();
            }
        }
        return nullptr;
    }
    PutResult refuse(const char* what, long result);
    void recycle(Pending* pending);
    Pending* pending_of(void* context);
    std::size_t note(long result);
    bool read_more();
    std::size_t translate(std::span<const fi_cq_data_entry> entries, Event* events);
    Event read_failure();
    bool something_kept() const;
    void block(std::chrono::microseconds longest);
    void nap(std::chrono::microseconds longest);
    void drain(std::chrono::milliseconds longest);

    int mr_mode_ = 0;
    std::size_t inject_bytes_ = 0;
    std::size_t max_put_bytes_ = 0;
    static constexpr int key_attempts = 16;
    std::uint64_t key_mask_ = ~std::uint64_t{0};  // of the bits that the provider has for a key
    bool can_block_ = false;
    Doorbell doorbell_;
    std::shared_ptr<KeptEnds> kept_ends_;  // of peers: released after this group's own
    std::shared_ptr<Remains> remains_;     // null: nobody here writes into its endpoints
    bool files_in_doubt_ = true;           // the queue's files may be readable for nothing
    // Closed from the last to the first: registrations and endpoints before what they are bound to,
    // and all of them before the contexts that a provider may still write to.
    std::vector<Pending> pending_;
    Handle<fid_fabric> fabric_;
    Handle<fid_domain> domain_;
    Handle<fid_cq> queue_;
    Handle<fid_av> peers_;
    std::map<std::string, Peer, std::less<>> connected_;
    std::vector<std::string> shared_memory_peers_;  // addresses of those that leave files behind
    std::vector<PortEndpoint> endpoints_;
    std::vector<RegisteredMemory> memory_;
    std::map<std::uint64_t, Handle<fid_mr>> registered_;  // of the user's memory
    std::uint64_t registrations_ = 0;                     // that there ever were

    Pending* free_ = nullptr;
    std::size_t queued_ = window;  // until the constructor has recycled each
    // Completions that were read and not yet reported.
    std::array<fi_cq_data_entry, batch> kept_{};
    std::size_t kept_first_ = 0;
    std::size_t kept_last_ = 0;
    bool failure_waits_ = false;  // fi_cq_readerr has something to say
    bool queue_broken_ = false;   // the queue itself fails; error_text_ says how
    bool abandoned_ = false;
    std::array<char, 256> error_text_{};
};

}  // namespace trefoil::ofi
