// SPDX-License-Identifier: BSD-3-Clause
// Puts are copies, and notifications go through the queue that ports share.
#include "tests/backend/smallest/smallest.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "backend/ports/notification_queue.hpp"
#include "backend/ports/port_group.hpp"
#include "topo/error.hpp"

namespace trefoil::smallest {

namespace {

constexpr std::align_val_t page{4096};

struct FreePage {
    void operator()(std::byte* data) const { operator delete[](data, page); }
};
using Memory = std::unique_ptr<std::byte[], FreePage>;

/// What the peers of a group touch. It outlives the group while one of them knows it, so a late put
/// does no harm.
struct End {
    memory::NotificationQueue queue{};
    std::mutex mutex;  ///< guards `allocated`, which peers read in import_memory()
    std::vector<Memory> allocated;
};

/// All ends of this process. Blobs name an end by a number that no other process has, never by its
/// address.
class Directory {
  public:
    static Directory& instance() {
        static Directory& directory = *new Directory;
        return directory;
    }
    std::uint64_t add(const std::shared_ptr<End>& end) {
        const std::lock_guard lock(mutex_);
        const std::uint64_t number = static_cast<std::uint64_t>(getpid()) << 32 | ++last_;
        ends_[number] = end;
        return number;
    }
    std::shared_ptr<End> find(std::uint64_t number) {
        const std::lock_guard lock(mutex_);
        const auto found = ends_.find(number);
        return found == ends_.end() ? nullptr : found->second.lock();
    }

  private:
    std::mutex mutex_;
    std::map<std::uint64_t, std::weak_ptr<End>> ends_;
    std::uint32_t last_ = 0;
};

/// What describes memory, or an end where `bytes` is 0.
struct Blob {
    static constexpr std::uint64_t right_mark = 0x7473656c6c616d73;  // "smallest"

    std::uint64_t mark = right_mark;
    std::uint64_t end = 0;
    std::uint64_t memory = 0;  ///< its place in End::allocated
    std::uint64_t bytes = 0;
};

std::string encode(const Blob& blob) {
    return {reinterpret_cast<const char*>(&blob), sizeof blob};
}

Blob decode(std::string_view bytes) {
    Blob blob;
    if (bytes.size() == sizeof blob) {
        std::memcpy(&blob, bytes.data(), sizeof blob);
    }
    if (bytes.size() != sizeof blob || blob.mark != Blob::right_mark) {
        throw Error(Status::invalid_argument, "backend smallest: this blob is not one of its own");
    }
    return blob;
}

class SmallestGroup final : public PortGroup {
  public:
    explicit SmallestGroup(const std::vector<Port>& ports) { ports_ = ports; }
    ~SmallestGroup() override { reader_.close(); }

    LocalMemory allocate(std::size_t bytes) override {
        auto* const data = new (page) std::byte[bytes]{};
        const std::lock_guard lock(end_->mutex);
        end_->allocated.emplace_back(data);
        return {.data = data, .bytes = bytes};
    }
    std::string describe(const LocalMemory& memory) const override {
        const auto& all = end_->allocated;  // nobody else changes it
        const auto found = std::find_if(
            all.begin(), all.end(), [&](const Memory& each) { return each.get() == memory.data; });
        return encode({.end = number_,
                       .memory = static_cast<std::uint64_t>(found - all.begin()),
                       .bytes = memory.bytes});
    }
    std::string address(Port) const override { return encode({.end = number_}); }
    RemoteMemory import_memory(std::string_view description) override {
        const Blob blob = decode(description);
        End& end = end_of(blob);
        const std::lock_guard lock(end.mutex);
        if (blob.memory >= end.allocated.size()) {
            throw Error(Status::invalid_argument,
                        "backend smallest: the peer has no memory of this number");
        }
        return {.base = reinterpret_cast<std::uint64_t>(end.allocated[blob.memory].get()),
                .bytes = blob.bytes};
    }
    Peer connect(Port, std::string_view address) override {
        writers_.push_back(std::make_unique<memory::QueueWriter>(end_of(decode(address)).queue));
        return {reinterpret_cast<std::uint64_t>(writers_.back().get())};
    }

    PutResult put(const Put& put) override {
        auto& writer = *reinterpret_cast<memory::QueueWriter*>(put.peer.handle);
        if (!writer.has_room()) {
            return writer.closed() ? PutResult::failed : PutResult::again;
        }
        if (put.bytes > 0) {
            std::memcpy(reinterpret_cast<std::byte*>(put.target.base) + put.offset, put.source,
                        put.bytes);
        }
        // Another group may have taken the room meanwhile; to copy once more does no harm.
        return writer.push(put.notification) ? PutResult::done : PutResult::again;
    }
    std::size_t poll(std::span<Event> events) override {
        std::size_t count = 0;
        while (count < events.size() && reader_.pop(events[count].notification)) {
            events[count++].kind = Event::Kind::arrived;
        }
        return count;
    }
    void abandon(std::chrono::milliseconds) noexcept override {}  // all puts are `done` at once

    std::string error_text() const override { return "the peer has closed its ports"; }
    std::string port_text(Port) const override { return "a thread of this process"; }

  private:
    /// Kept for as long as this group may put there.
    End& end_of(const Blob& blob) {
        std::shared_ptr<End> end = Directory::instance().find(blob.end);
        if (end == nullptr) {
            throw Error(Status::invalid_argument,
                        "backend smallest: the peer is not in this process, or has gone");
        }
        known_.push_back(std::move(end));
        return *known_.back();
    }

    std::shared_ptr<End> end_ = std::make_shared<End>();
    std::uint64_t number_ = Directory::instance().add(end_);
    memory::QueueReader reader_{end_->queue};
    std::vector<std::shared_ptr<End>> known_;
    std::vector<std::unique_ptr<memory::QueueWriter>> writers_;
};

std::vector<std::unique_ptr<PortGroup>> open(const BackendConfig& config) {
    if (!config.provider.empty()) {
        throw Error(Status::not_found,
                    "backend smallest has no providers, so not '" + config.provider + "'");
    }
    std::vector<std::unique_ptr<PortGroup>> groups;
    for (const std::vector<Port>& ports : config.groups) {
        groups.push_back(std::make_unique<SmallestGroup>(ports));
    }
    return groups;
}

std::vector<ProviderInfo> providers() {
    return {{.provider = "", .nic = "threads of a process", .address = ""}};
}

NicOffers nics(const std::string&) {
    NicOffers none;
    none.source = "backend smallest, which uses none";
    none.uses_shared_memory = true;
    return none;
}

}  // namespace

Transport smallest_transport() {
    Transport transport;
    transport.name = "smallest";
    transport.summary = "an example: threads of one process";
    transport.one_host_only = true;
    transport.open = open;
    transport.providers = providers;
    transport.nics = nics;
    return transport;
}

}  // namespace trefoil::smallest
