// SPDX-License-Identifier: BSD-3-Clause
// Set-up of a UCX port group: rails, memory, peers; and its end.
#include "backend/ucx/group.hpp"

#include <unistd.h>

#include <algorithm>

#include "backend/system/secrets.hpp"
#include "backend/system/writable_memory.hpp"
#include "backend/ucx/discovery.hpp"
#include "topo/patience.hpp"
#include "topo/process_space.hpp"
#include "topo/process_state.hpp"

namespace trefoil::ucx {

namespace {
constexpr std::size_t usual_events = 1024;  // kept at a time; more make the store grow
}  // namespace

UcxGroup::UcxGroup(const std::string& transports, const std::vector<PortDevice>& ports)
    : pending_(window) {
    if (ports.empty()) {
        throw Error(Status::invalid_argument, "a port group needs at least one port");
    }
    for (const PortDevice& port : ports) {
        rail_of_port_.push_back(open_rail(transports, port.device));
        ports_.push_back(port.port);
    }
    // Puts get lost where connections are made while other peers die.
    traits_ = {.may_lose_puts = true, .provider = rails_.front()->rail->transports()};
    powers_ = {.waking = this, .landings = this, .registering = this};
    // Mapping takes a connection, and a device of this group may not reach the first one of the
    // peer's. So where there are several, memory is shared through a rail without any.
    shares_ = rails_.size() == 1 || maps_memory(rails_.front()->rail->context());
    memory_rail_ =
        rails_[rails_.size() > 1 && shares_ ? open_rail(transports, no_device) : 0]->rail.get();
    queue_memory_ =
        std::make_unique<Memory>(memory_rail_->context(), sizeof(memory::NotificationQueue));
    // All zeros is an empty queue.
    queue_.emplace(*reinterpret_cast<memory::NotificationQueue*>(queue_memory_->data()));
    kept_.reserve(usual_events);
    for (Pending& pending : pending_) {
        pending.group = this;
        release(&pending);
    }
}

// The rail of this device, opened if there is none yet.
std::size_t UcxGroup::open_rail(const std::string& transports, const std::string& device) {
    for (std::size_t i = 0; i < rails_.size(); ++i) {
        if (rails_[i]->rail->device() == device) {
            return i;
        }
    }
    auto own = std::make_unique<OwnRail>(OwnRail{this, nullptr});
    own->rail = std::make_unique<Rail>(transports, device, on_message, own.get());
    rails_.push_back(std::move(own));
    return rails_.size() - 1;
}

// Keys go before the endpoints that they were read with, workers before the memory that late
// messages are received into, and all of them before the contexts.
UcxGroup::~UcxGroup() {
    if (queue_) {
        queue_->close();
    }
    if (!abandoned_) {
        drain(patience().longest_drain);
    }
    targets_.clear();
    imported_as_.clear();
    imported_.clear();
    for (const auto& own : rails_) {
        own->rail->close();
    }
    queue_memory_.reset();
    memory_.clear();
}

// Endpoints without error handling cannot be closed by force (see Rail::connect). But nothing is
// sent, nor any source read, while nobody progresses the worker, and from now on nobody does.
void UcxGroup::abandon(std::chrono::milliseconds longest) noexcept {
    if (abandoned_) {
        return;
    }
    drain(longest);
    abandoned_ = true;
    for (const auto& own : rails_) {
        own->rail->abandon();
    }
}

Rail& UcxGroup::rail_of(Port port) const {
    for (std::size_t i = 0; i < ports_.size(); ++i) {
        if (ports_[i] == port) {
            return *rails_[rail_of_port_[i]]->rail;
        }
    }
    throw Error(Status::invalid_argument,
                "backend ucx: port " + to_string(port) + " is not one of this group");
}

std::string UcxGroup::port_text(Port port) const {
    const Rail& rail = rail_of(port);
    return rail.transports() + (rail.device().empty() ? "" : " through " + rail.device());
}

UcxGroup::KeyedMemory& UcxGroup::keep(std::unique_ptr<Memory> memory, std::uint64_t kind) {
    std::size_t index = memory_.size();
    if (!unused_.empty()) {
        index = unused_.back();
        unused_.pop_back();
    } else if (index >> index_bits != 0) {
        throw Error(Status::unsupported,
                    "more than " + std::to_string(1 << index_bits) +
                        " pieces of memory in one port group; use fewer algorithms in one "
                        "communicator, or register larger pieces");
    } else {
        memory_.emplace_back();
        unused_.reserve(memory_.size());  // deregister() cannot fail
    }
    const std::uint64_t key = (random_number() << 1 << index_bits) | kind | index;
    return memory_[index] = KeyedMemory{key, std::move(memory), 0};
}

LocalMemory UcxGroup::allocate(std::size_t bytes) {
    const KeyedMemory& kept = keep(std::make_unique<Memory>(memory_rail_->context(), bytes), 0);
    return {kept.memory->data(), bytes, nullptr};
}

LocalMemory UcxGroup::register_memory(void* data, std::size_t bytes) {
    require_writable_memory(data, bytes);
    const KeyedMemory& kept =
        keep(std::make_unique<Memory>(memory_rail_->context(), data, bytes), is_registered);
    return {kept.memory->data(), bytes, nullptr, kept.key};
}

// A message that is being received cannot be called back. One that does not end has a peer that has
// stopped: then this group is over, as nothing is written while nobody progresses its workers.
void UcxGroup::deregister(const LocalMemory& memory) noexcept {
    const KeyedMemory* const found =
        memory.registration != 0 ? memory_by(memory.registration) : nullptr;
    if (found == nullptr) {
        return;
    }
    KeyedMemory& kept = memory_[static_cast<std::size_t>(found - memory_.data())];
    kept.key = 0;  // what comes now is too late
    if (land_all(kept)) {
        kept.memory.reset();
        unused_.push_back(static_cast<std::size_t>(found - memory_.data()));
        return;
    }
    cut_off_ = abandoned_ = true;
    for (const auto& own : rails_) {
        own->rail->abandon();
    }
}

SharedBlob UcxGroup::share(const Memory& memory) const {
    SharedBlob blob = shares_ ? memory.share() : SharedBlob{};
    blob.minor = minor_version();
    if (!shares_) {
        return blob;
    }
    blob.process_space = process_space();
    blob.process = getpid();
    blob.started = process_state(getpid()).started;
    blob.worker = memory_rail_->address();
    return blob;
}

Mapping UcxGroup::map(const SharedBlob& memory, std::size_t bytes) {
    if (!shares_ || memory.process_space != process_space()) {
        return {};
    }
    require_same(memory.minor);
    require_owner(memory);
    return open_shared(memory_rail_->connect(memory.worker).handle, memory, bytes);
}

std::string UcxGroup::describe(const LocalMemory& memory) const {
    if (memory.registration != 0) {
        if (memory_by(memory.registration) != nullptr) {
            return encode(MemoryBlob{memory.registration, memory.bytes, {}});
        }
    }
    for (const KeyedMemory& each : memory_) {
        if (memory.registration == 0 && each.key != 0 && each.memory->data() == memory.data &&
            (each.key & is_registered) == 0) {
            return encode(MemoryBlob{each.key, memory.bytes, share(*each.memory)});
        }
    }
    throw Error(Status::invalid_argument,
                "backend ucx: only memory that this group has allocated or registered can be "
                "described, until it is deregistered");
}

std::string UcxGroup::address(Port port) const {
    return encode(AddressBlob{rail_of(port).address(), share(*queue_memory_)});
}

RemoteMemory UcxGroup::import_memory(std::string_view description) {
    auto known = imported_.find(description);
    if (known == imported_.end()) {
        const MemoryBlob blob = decode_memory(description);
        if ((blob.id & is_registered) != 0) {
            return {0, blob.id, blob.bytes};  // nothing to map, nothing to release
        }
        Mapping mapping = map(blob.shared, blob.bytes);
        const RemoteMemory memory{reinterpret_cast<std::uint64_t>(mapping.data), blob.id,
                                  blob.bytes};
        known = imported_.emplace(description, Imported{std::move(mapping), memory, 0}).first;
        imported_as_[blob.id] = known;
    }
    ++known->second.times;
    return known->second.memory;
}

void UcxGroup::release(const RemoteMemory& memory) noexcept {
    const auto found = imported_as_.find(memory.key);
    if (found == imported_as_.end()) {
        return;
    }
    const auto imported = imported_.find(found->second->first);
    if (--imported->second.times == 0) {
        imported_as_.erase(found);
        imported_.erase(imported);
    }
}

Peer UcxGroup::connect(Port port, std::string_view address) {
    Rail& rail = rail_of(port);
    for (const auto& known : targets_) {
        if (known->rail == &rail && known->address == address) {
            return {reinterpret_cast<std::uint64_t>(known.get())};
        }
    }
    const AddressBlob blob = decode_address(address);
    require_same(blob.queue.minor);
    auto target = std::make_unique<Target>();
    target->address = address;
    target->rail = &rail;
    target->mapping = map(blob.queue, queue_memory_->bytes());
    if (target->mapping.data != nullptr) {
        const bool is_known = blob.queue.process_space == process_space();
        target->queue.emplace(*reinterpret_cast<memory::NotificationQueue*>(target->mapping.data),
                              is_known ? memory::own_writer_name() : 0);
    }
    target->endpoint = &rail.connect(blob.worker);
    targets_.push_back(std::move(target));
    return {reinterpret_cast<std::uint64_t>(targets_.back().get())};
}

}  // namespace trefoil::ucx
