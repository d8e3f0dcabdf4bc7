// SPDX-License-Identifier: BSD-3-Clause
// Set-up of a uTofu port group: virtual control queues, memory, peers.
#include "backend/utofu/group.hpp"

#include <algorithm>
#include <cstddef>
#include <thread>

#include "backend/system/writable_memory.hpp"
#include "backend/utofu/blob.hpp"
#include "topo/patience.hpp"

namespace trefoil::utofu {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint64_t edata_of_connect = static_cast<std::uint64_t>(Edata::connect);

std::string interface_text(const Interface& interface) {
    return "network interface " + std::to_string(interface.number);
}

bool is_exhausted(int code) {
    return code == UTOFU_ERR_FULL || code == UTOFU_ERR_NOT_AVAILABLE ||
           code == UTOFU_ERR_OUT_OF_RESOURCE;
}

}  // namespace

UtofuGroup::UtofuGroup(GroupOptions options)
    : grant_(std::move(options.grant)),
      capacity_(capacity_for(options.notices / options.sharers, options.peers)),
      layout_(capacity_),
      pending_(window) {
    if (options.ports.empty()) {
        throw Error(Status::invalid_argument, "a port group needs at least one port");
    }
    if (capacity_.streams == 0) {
        throw Error(Status::invalid_argument,
                    "TREFOIL_UTOFU_NOTICES=" + std::to_string(options.notices) +
                        " is too little for " + std::to_string(options.sharers) +
                        " ports of one network interface; 64 for each are enough for few peers");
    }
    ports_ = std::move(options.ports);
    traits_ = {.notification_bits = 32, .needs_registered_source = true};
    powers_ = {.waking = this, .registering = this};
    for (Pending& pending : pending_) {
        recycle(&pending);
    }
    kept_.reserve(ports_.size() * capacity_.streams * capacity_.window + window + 64);
    queues_.reserve(ports_.size());
    try {
        for (std::size_t i = 0; i < ports_.size(); ++i) {
            open_queue(ports_[i], grant_.interfaces[i], grant_.hold->shared(), options.sharers);
        }
    } catch (...) {
        close();
        throw;
    }
}

void UtofuGroup::open_queue(Port port, const std::vector<Interface>& candidates, bool shared,
                            std::uint32_t sharers) {
    const unsigned long flags = shared ? UTOFU_VCQ_FLAG_THREAD_SAFE : 0;
    Queue queue;
    queue.port = port;
    int code = UTOFU_ERR_FULL;
    for (std::size_t i = 0; i < candidates.size() && is_exhausted(code); ++i) {
        const auto there = std::count_if(queues_.begin(), queues_.end(), [&](const Queue& other) {
            return other.interface.number == candidates[i].number;
        });
        if (static_cast<std::uint32_t>(there) < sharers) {  // else its notices might overflow
            queue.interface = candidates[i];
            code = library().create_vcq(queue.interface.number, flags, &queue.handle);
        }
    }
    if (is_exhausted(code)) {
        throw Error(Status::system_error,
                    "uTofu: no virtual control queue is left for port " + to_string(port) +
                        " (the " + std::to_string(queues_.size() + 1) + ". of its thread): " +
                        code_text(code) + " on " + std::to_string(candidates.size()) +
                        " network interfaces; run fewer ranks per process or node, or choose "
                        "another backend (TREFOIL_BACKEND)");
    }
    check(code, "create a virtual control queue for port " + to_string(port) + " on " +
                    interface_text(queue.interface));
    queues_.push_back(std::move(queue));
    Queue& made = queues_.back();
    check(library().query_vcq_id(made.handle, &made.id),
          "ask for the address of port " + to_string(port));
    made.control = std::make_unique<Pages>(layout_.bytes);
    const int registered = library().reg_mem(made.handle, made.control->data(),
                                             made.control->bytes(), 0, &made.control_stadd);
    if (registered != UTOFU_SUCCESS) {
        made.control.reset();
        check(registered, "register the control block of port " + to_string(port) + " on " +
                              interface_text(made.interface));
    }
    made.streams.resize(capacity_.streams);
}

std::size_t UtofuGroup::place_of(Port port) const {
    const auto found = std::find(ports_.begin(), ports_.end(), port);
    if (found == ports_.end()) {
        throw Error(Status::invalid_argument, "port " + to_string(port) + " is not of this group");
    }
    return static_cast<std::size_t>(found - ports_.begin());
}

std::string UtofuGroup::port_text(Port port) const {
    const std::string coordinates = coordinates_text();
    return "uTofu " + interface_text(queues_[place_of(port)].interface) +
           (coordinates.empty() ? "" : " at " + coordinates);
}

// A registration belongs to one virtual control queue, so each of the group's gets one.
std::vector<utofu_stadd_t> UtofuGroup::register_with_all(void* data, std::size_t bytes) {
    Registered made;
    for (const Queue& queue : queues_) {
        utofu_stadd_t stadd = 0;
        const int code = library().reg_mem(queue.handle, data, bytes, 0, &stadd);
        if (code != UTOFU_SUCCESS) {
            deregister_from_all(made);
            check(code, "register " + std::to_string(bytes) + " bytes for port " +
                            to_string(queue.port) + " on " + interface_text(queue.interface));
        }
        made.by_queue.push_back(stadd);
    }
    return made.by_queue;
}

void UtofuGroup::deregister_from_all(const Registered& memory) noexcept {
    for (std::size_t i = 0; i < memory.by_queue.size(); ++i) {
        library().dereg_mem(queues_[i].handle, memory.by_queue[i], 0);
    }
}

LocalMemory UtofuGroup::allocate(std::size_t bytes) {
    auto memory = std::make_unique<Registered>();
    memory->pages = std::make_unique<Pages>(ControlLayout::padded(bytes));
    memory->data = memory->pages->data();
    memory->bytes = bytes;
    memory->by_queue = register_with_all(memory->data, memory->pages->bytes());
    allocated_.push_back(std::move(memory));
    return {allocated_.back()->data, bytes, allocated_.back().get()};
}

LocalMemory UtofuGroup::register_memory(void* data, std::size_t bytes) {
    require_writable_memory(data, bytes);
    auto memory = std::make_unique<Registered>();
    memory->data = static_cast<std::byte*>(data);
    memory->bytes = bytes;
    memory->by_queue = register_with_all(data, bytes);
    Registered* const made = memory.get();
    registered_.emplace(++registrations_, std::move(memory));
    return {made->data, bytes, made, registrations_};
}

void UtofuGroup::deregister(const LocalMemory& memory) noexcept {
    const auto found = registered_.find(memory.registration);
    if (found != registered_.end()) {
        deregister_from_all(*found->second);
        registered_.erase(found);
    }
}

std::string UtofuGroup::encode_registered(const Registered& memory,
                                          std::uint64_t registration) const {
    MemoryBlob blob{memory.bytes, registration, {}};
    for (std::size_t i = 0; i < queues_.size(); ++i) {
        blob.ports.push_back({queues_[i].port.index, memory.by_queue[i]});
    }
    return encode(blob);
}

std::string UtofuGroup::describe(const LocalMemory& memory) const {
    const auto registered = registered_.find(memory.registration);
    if (registered != registered_.end()) {
        return encode_registered(*registered->second, memory.registration);
    }
    for (const auto& each : allocated_) {
        if (memory.registration == 0 && each->data == memory.data) {
            return encode_registered(*each, 0);
        }
    }
    throw Error(Status::invalid_argument,
                "this memory was neither allocated nor registered by this port group, or is no "
                "longer");
}

std::string UtofuGroup::address(Port port) const {
    const Queue& queue = queues_[place_of(port)];
    return encode(AddressBlob{queue.id, queue.control_stadd, port.index, capacity_.streams,
                              capacity_.window});
}

RemoteMemory UtofuGroup::import_memory(std::string_view description) {
    const MemoryBlob memory = decode_memory(description);
    Imported imported{true, memory.registration, {}};
    for (const MemoryBlob::PortAddress& each : memory.ports) {
        const auto port = static_cast<std::size_t>(each.port);
        imported.by_port.resize(std::max(imported.by_port.size(), port + 1));
        imported.by_port[port] = each.stadd;
    }
    auto place = std::find_if(imported_.begin(), imported_.end(),
                              [](const Imported& each) { return !each.used; });
    if (place == imported_.end()) {
        place = imported_.emplace(imported_.end());
    }
    *place = std::move(imported);
    return {0, static_cast<std::uint64_t>(place - imported_.begin()), memory.bytes};
}

void UtofuGroup::release(const RemoteMemory& memory) noexcept {
    if (memory.key < imported_.size()) {
        imported_[memory.key].used = false;
    }
}

Peer UtofuGroup::connect(Port port, std::string_view address) {
    const std::size_t place = place_of(port);
    const auto known = connected_.find({port.index, std::string(address)});
    if (known != connected_.end()) {
        return known->second;
    }
    const AddressBlob peer = decode_address(address);
    Queue& queue = queues_[place];
    const std::string where =
        "port " + std::to_string(peer.port) + " of a peer through port " + to_string(port);
    if (queue.ways >= capacity_.streams) {
        throw Error(Status::unsupported,
                    "uTofu: cannot connect " + where + ": it has " + std::to_string(queue.ways) +
                        " peers already, and the queue of notices has no more room; raise "
                        "TREFOIL_UTOFU_NOTICES if it has more than " +
                        std::to_string(capacity_.of_notices) + " places per port");
    }
    Way way;
    way.queue = place;
    way.peer = peer.queue;
    way.peer_port = peer.port;
    way.window = peer.window;
    way.number = queue.ways;
    connect_stream(queue, way, peer.control, peer.streams, where);
    const ControlLayout theirs(peer.streams, peer.window);
    way.ring = peer.control + theirs.ring(way.stream);
    way.hello = peer.control + theirs.hello(way.stream);
    say_hello(queue, way);
    unfinished_.reserve(ways_.size() + 1);
    ways_.push_back(way);
    ++queue.ways;
    return connected_.emplace(std::pair(port.index, std::string(address)), Peer{ways_.size()})
        .first->second;
}

// The peer's counter gives the number of the stream; its software has no part in this.
void UtofuGroup::connect_stream(Queue& queue, Way& way, std::uint64_t control,
                                std::uint32_t streams, const std::string& where) {
    const Clock::time_point deadline = Clock::now() + patience().utofu_connect;
    // Whoever has the peer's address by a message may still lack its path: ask for the default one.
    library().set_vcq_id_path(&way.peer, nullptr);
    queue.answered = false;
    int code = UTOFU_ERR_BUSY;
    while (code == UTOFU_ERR_BUSY || (code == UTOFU_SUCCESS && !queue.answered)) {
        if (code == UTOFU_ERR_BUSY) {
            code = library().armw8(
                queue.handle, way.peer, UTOFU_ARMW_OP_ADD, 1, control + ControlLayout::counter,
                edata_of_connect,
                UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, nullptr);
            queue.busy |= code == UTOFU_ERR_BUSY;
        }
        keep();
        if (Clock::now() > deadline) {
            throw Error(Status::timeout, "uTofu: no answer in " +
                                             std::to_string(patience().utofu_connect.count()) +
                                             " ms on connecting to " + where);
        }
        std::this_thread::yield();
    }
    check(code != UTOFU_SUCCESS ? code : queue.answer, "connect to " + where);
    if (queue.counted >= streams) {
        throw Error(Status::unsupported,
                    "uTofu: cannot connect to " + where + ": it serves " + std::to_string(streams) +
                        " peers already, and its queue of notices has no more room; raise "
                        "TREFOIL_UTOFU_NOTICES on all ranks if that queue is longer");
    }
    way.stream = static_cast<std::uint32_t>(queue.counted);
}

void UtofuGroup::say_hello(Queue& queue, const Way& way) {
    Hello hello;
    hello.queue = queue.id;
    hello.credit = queue.control_stadd + layout_.credit(way.number);
    hello.words = 1;
    const Clock::time_point deadline = Clock::now() + patience().utofu_connect;
    int code = UTOFU_ERR_BUSY;
    while (code == UTOFU_ERR_BUSY && Clock::now() < deadline) {
        code = library().put_piggyback(queue.handle, way.peer, &hello, way.hello, hello_bytes,
                                       edata_of_connect, UTOFU_ONESIDED_FLAG_STRONG_ORDER, nullptr);
        if (code == UTOFU_ERR_BUSY) {
            queue.busy = true;
            keep();
            std::this_thread::yield();
        }
    }
    check(code, "greet port " + std::to_string(way.peer_port) + " of a peer");
}

}  // namespace trefoil::utofu
