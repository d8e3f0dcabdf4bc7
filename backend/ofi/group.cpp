// SPDX-License-Identifier: BSD-3-Clause
// Set-up of a libfabric port group: domain, queue, endpoints, memory, peers.
#include "backend/ofi/group.hpp"

#include <rdma/fi_cm.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "backend/ofi/blob.hpp"
#include "backend/ofi/discovery.hpp"
#include "backend/system/room_to_map.hpp"
#include "backend/system/secrets.hpp"
#include "backend/system/writable_memory.hpp"

namespace trefoil::ofi {

namespace {

/// Provider shm maps a region of 16 MiB of each peer's at the first put, and libfabric 1.17 crashes
/// where it cannot.
constexpr std::size_t room_for_region = std::size_t{32} << 20;

// libfabric's C strings are freed by fi_freeinfo, hence malloc's family.
void replace(char*& text, const char* by) {
    char* copy = by != nullptr ? strdup(by) : nullptr;
    if (by != nullptr && copy == nullptr) {
        throw Error(Status::out_of_memory, "no memory for a libfabric name");
    }
    std::free(text);
    text = copy;
}

bool same_text(const char* a, const char* b) {
    return std::string_view(a != nullptr ? a : "") == std::string_view(b != nullptr ? b : "");
}

// One domain has to carry all ports of a group. Providers over sockets bind an endpoint to an
// address and do not mind which domain it is opened in, so the first offer's names will do for all;
// a device has a domain of its own.
void share_domain(const fi_info& first, fi_info& other) {
    if (other.nic != nullptr && !same_text(first.domain_attr->name, other.domain_attr->name)) {
        throw Error(Status::unsupported,
                    std::string("ports of one thread cannot use the two devices ") +
                        first.domain_attr->name + " and " + other.domain_attr->name +
                        ": run one thread per port, or give these ports the same NIC "
                        "(TREFOIL_NICS)");
    }
    replace(other.fabric_attr->name, first.fabric_attr->name);
    replace(other.domain_attr->name, first.domain_attr->name);
}

}  // namespace

OfiGroup::OfiGroup(std::vector<PortOffer> offers) : pending_(window) {
    if (offers.empty()) {
        throw Error(Status::invalid_argument, "a port group needs at least one port");
    }
    for (PortOffer& offer : offers) {
        ports_.push_back(offer.port);
        endpoints_.push_back({offer.port, names(*offer.info), std::move(offer.info), {}});
    }
    const fi_info& first = *endpoints_.front().info;
    for (std::size_t i = 1; i < endpoints_.size(); ++i) {
        share_domain(first, *endpoints_[i].info);
    }
    for (Pending& pending : pending_) {
        recycle(&pending);
    }
    const std::string provider = endpoints_.front().names.provider;
    traits_ = {
        .notification_bits = first.domain_attr->cq_data_size >= sizeof(std::uint64_t) ? 64 : 32,
        .needs_registered_source = (first.domain_attr->mr_mode & FI_MR_LOCAL) != 0,
        // Seen where two ranks connect to each other at the same time, or a peer has died.
        .may_lose_puts = true,
        // A write that comes while rxm closes a connection over verbs makes it post a receive at
        // the endpoint that it has just freed.
        .closes_after_peers = provider.starts_with("verbs"),
        .provider = provider};
    powers_ = {.waking = this, .registering = this};
    open_domain();
    open_completion_queue();
    for (PortEndpoint& port : endpoints_) {
        open_endpoint(port);
    }
    if (first.addr_format == FI_ADDR_STR) {
        kept_ends_ = std::make_shared<KeptEnds>();
        remains_ = std::make_shared<Remains>();
        for (const Port port : ports_) {
            add_end(raw_address(port), remains_, kept_ends_);
        }
    }
}

void OfiGroup::open_domain() {
    fi_info& info = *endpoints_.front().info;
    mr_mode_ = info.domain_attr->mr_mode;
    if ((mr_mode_ & FI_MR_ENDPOINT) != 0 && endpoints_.size() > 1) {
        throw Error(Status::unsupported,
                    traits_.provider +
                        " registers memory per endpoint, so the ports of one thread "
                        "cannot share it: run one thread per port");
    }
    inject_bytes_ = info.tx_attr->inject_size;
    max_put_bytes_ = info.ep_attr->max_msg_size;
    const std::size_t key_bytes = info.domain_attr->mr_key_size;
    if (key_bytes > 0 && key_bytes < sizeof key_mask_) {
        key_mask_ = (std::uint64_t{1} << (8 * key_bytes)) - 1;
    }

    fid_fabric* fabric = nullptr;
    check(library().fabric(info.fabric_attr, &fabric, nullptr), "open the fabric of " + where());
    fabric_.reset(fabric);
    fid_domain* domain = nullptr;
    check(fi_domain(fabric, &info, &domain, nullptr), "open the domain of " + where());
    domain_.reset(domain);

    fi_av_attr attributes{};
    attributes.type = info.domain_attr->av_type;
    fid_av* peers = nullptr;
    check(fi_av_open(domain, &attributes, &peers, nullptr), "open a peer table on " + where());
    peers_.reset(peers);
}

// A queue with a file descriptor is one that can really sleep; where that is refused, a blocking
// read exists at most in name (it spins), so naps in wait() are better. The queue itself is opened
// with the provider's own choice of wait object, which some providers handle better than the
// descriptor.
void OfiGroup::open_completion_queue() {
    fi_cq_attr attributes{};
    attributes.format = FI_CQ_FORMAT_DATA;
    fid_cq* queue = nullptr;
    attributes.wait_obj = FI_WAIT_FD;
    can_block_ = fi_cq_open(domain_.get(), &attributes, &queue, nullptr) == 0;
    if (can_block_) {
        fi_close(&queue->fid);
        attributes.wait_obj = FI_WAIT_UNSPEC;
        can_block_ = fi_cq_open(domain_.get(), &attributes, &queue, nullptr) == 0;
    }
    if (!can_block_) {
        attributes.wait_obj = FI_WAIT_NONE;
        check(fi_cq_open(domain_.get(), &attributes, &queue, nullptr),
              "open a completion queue on " + where());
    }
    queue_.reset(queue);
}

void OfiGroup::open_endpoint(PortEndpoint& port) {
    fi_info& info = *port.info;
    const std::string name = "port " + to_string(port.port) + " of " + where();
    inject_bytes_ = std::min(inject_bytes_, info.tx_attr->inject_size);
    max_put_bytes_ = std::min(max_put_bytes_, info.ep_attr->max_msg_size);
    fid_ep* endpoint = nullptr;
    check(fi_endpoint(domain_.get(), &info, &endpoint, nullptr), "open an endpoint for " + name);
    port.endpoint.reset(endpoint);
    check(fi_ep_bind(endpoint, &peers_->fid, 0), "bind the peer table to " + name);
    check(fi_ep_bind(endpoint, &queue_->fid, FI_TRANSMIT | FI_RECV), "bind the queue to " + name);
    const bool layered = traits_.provider.find(";ofi_rxm") != std::string::npos;
    check(fi_enable(endpoint), "enable " + name +
                                   (layered ? " (does its device have queues of that many entries? "
                                              "FI_UNIVERSE_SIZE, the number "
                                              "of ranks, makes them shorter)"
                                            : ""));
}

const OfiGroup::PortEndpoint& OfiGroup::find(Port port) const {
    for (const PortEndpoint& each : endpoints_) {
        if (each.port == port) {
            return each;
        }
    }
    throw Error(Status::invalid_argument, "port " + to_string(port) + " is not of this group");
}

std::string OfiGroup::where() const {
    return port_text(ports_.front());
}

std::string OfiGroup::port_text(Port port) const {
    const ProviderInfo& mine = find(port).names;
    if (mine.address.empty()) {
        return mine.provider + " " + mine.nic;
    }
    return mine.provider + " " + mine.address + (mine.nic.empty() ? "" : " (" + mine.nic + ")");
}

Handle<fid_mr> OfiGroup::open_to_peers(void* data, std::size_t bytes) {
    const std::string what = "register " + std::to_string(bytes) + " bytes with " + where() +
                             " (is `ulimit -l` too low?)";
    fid_mr* opened = nullptr;
    // A key that only those know who were told; it may be taken by chance where keys are short.
    // A provider that makes its own (FI_MR_PROV_KEY) ignores it.
    int result = -FI_ENOKEY;
    for (int i = 0; i < key_attempts && result == -FI_ENOKEY; ++i) {
        result = fi_mr_reg(domain_.get(), data, bytes, FI_WRITE | FI_REMOTE_WRITE, 0,
                           random_number() & key_mask_, 0, &opened, nullptr);
    }
    check(result, what);
    Handle<fid_mr> registration(opened);
    if ((mr_mode_ & FI_MR_ENDPOINT) != 0) {
        check(fi_mr_bind(opened, &endpoints_.front().endpoint->fid, 0), what);
        check(fi_mr_enable(opened), what);
    }
    return registration;
}

LocalMemory OfiGroup::allocate(std::size_t bytes) {
    RegisteredMemory memory;
    memory.pages = std::make_unique<Pages>(bytes);
    memory.registration = open_to_peers(memory.pages->data(), memory.pages->bytes());
    memory_.push_back(std::move(memory));
    return {memory_.back().pages->data(), bytes, fi_mr_desc(memory_.back().registration.get())};
}

LocalMemory OfiGroup::register_memory(void* data, std::size_t bytes) {
    require_writable_memory(data, bytes);
    Handle<fid_mr> registration = open_to_peers(data, bytes);
    void* const descriptor = fi_mr_desc(registration.get());
    registered_.emplace(++registrations_, std::move(registration));
    return {static_cast<std::byte*>(data), bytes, descriptor, registrations_};
}

void OfiGroup::deregister(const LocalMemory& memory) noexcept {
    registered_.erase(memory.registration);
}

std::string OfiGroup::describe(const LocalMemory& memory) const {
    const auto encoded = [&](fid_mr* registration) {
        const bool by_address = (mr_mode_ & FI_MR_VIRT_ADDR) != 0;
        return encode(MemoryBlob{by_address ? reinterpret_cast<std::uint64_t>(memory.data) : 0,
                                 fi_mr_key(registration), memory.bytes});
    };
    const auto registered = registered_.find(memory.registration);
    if (registered != registered_.end()) {
        return encoded(registered->second.get());
    }
    for (const RegisteredMemory& each : memory_) {
        if (memory.registration == 0 && each.pages->data() == memory.data) {
            return encoded(each.registration.get());
        }
    }
    throw Error(Status::invalid_argument,
                "this memory was neither allocated nor registered by this port group, or is no "
                "longer");
}

std::string OfiGroup::raw_address(Port port) const {
    std::string raw(256, '\0');
    std::size_t bytes = raw.size();
    const fid_t endpoint = &find(port).endpoint->fid;
    int result = fi_getname(endpoint, raw.data(), &bytes);
    if (result == -FI_ETOOSMALL) {
        raw.resize(bytes);
        result = fi_getname(endpoint, raw.data(), &bytes);
    }
    check(result, "get the address of " + port_text(port));
    raw.resize(bytes);
    return raw;
}

std::string OfiGroup::address(Port port) const {
    return encode(AddressBlob{traits_.provider, version_text(library().version()),
                              find(port).info->addr_format, raw_address(port)});
}

RemoteMemory OfiGroup::import_memory(std::string_view description) {
    const MemoryBlob memory = decode_memory(description);
    return {memory.base, memory.key, memory.bytes};
}

namespace {

/// libfabric 1.17 calls `net` what later ones call `tcp`.
std::string_view later_name(std::string_view provider) {
    return provider == "net" ? "tcp" : provider;
}

/// Endpoints of one name understand each other across versions (tried with sockets); the layout of
/// shared memory differs, and libfabric does not check it.
void require_same_protocol(const AddressBlob& peer, const std::string& provider) {
    const std::string own = version_text(library().version());
    const bool other_version = own != peer.library;
    if (later_name(peer.provider) != later_name(provider)) {
        // With 1.17 TREFOIL_PROVIDER=tcp is tcp;ofi_rxm; `net` means the same to all.
        throw Error(Status::mismatch,
                    "a peer uses libfabric provider \"" + peer.provider + "\" and this rank \"" +
                        provider + "\"" +
                        (other_version ? " (libfabric " + peer.library + " and " + own +
                                             "); set TREFOIL_PROVIDER=net on all ranks"
                                       : "; set the same TREFOIL_PROVIDER on all ranks"));
    }
    if (peer.format == FI_ADDR_STR && other_version) {
        throw Error(Status::mismatch, "a peer's shared memory is that of libfabric " +
                                          peer.library + ", and this rank has " + own +
                                          "; use one libfabric on all ranks of a host "
                                          "(LD_LIBRARY_PATH)");
    }
}

}  // namespace

// The peer table is the domain's, so all ports reach a peer under the same handle.
Peer OfiGroup::connect(Port port, std::string_view address) {
    find(port);
    const auto known = connected_.find(address);
    if (known != connected_.end()) {
        return known->second;
    }
    const AddressBlob peer = decode_address(address);
    require_same_protocol(peer, traits_.provider);
    if (peer.format != find(port).info->addr_format) {
        throw Error(Status::mismatch,
                    "a peer is reached by another kind of address than this rank at " + where() +
                        " (IPv4 and IPv6?); set TREFOIL_NICS to addresses of one kind");
    }
    if (peer.format == FI_ADDR_STR) {
        require_room_to_map(room_for_region);
        keep_each_other(peer.raw, remains_, *kept_ends_);
    }
    fi_addr_t handle = FI_ADDR_NOTAVAIL;
    const int inserted = fi_av_insert(peers_.get(), peer.raw.data(), 1, &handle, 0, nullptr);
    if (inserted != 1) {
        check(inserted < 0 ? inserted : -FI_EINVAL, "accept a peer's address on " + where());
    }
    if (peer.format == FI_ADDR_STR) {
        shared_memory_peers_.push_back(peer.raw);
    }
    return connected_.emplace(address, Peer{handle}).first->second;
}

}  // namespace trefoil::ofi
