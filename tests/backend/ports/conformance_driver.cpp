// SPDX-License-Identifier: BSD-3-Clause
// Drives one port group for the conformance suite: wiring, puts with retry, and event keeping.
#include <array>
#include <cstring>
#include <stdexcept>

#include "tests/backend/ports/conformance.hpp"

namespace trefoil::conformance {

namespace {

void append(std::string& blob, std::string_view piece) {
    const auto bytes = static_cast<std::uint32_t>(piece.size());
    blob.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    blob.append(piece);
}

std::string take(std::string_view& blob) {
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, blob.data(), sizeof bytes);
    std::string piece(blob.substr(sizeof bytes, bytes));
    blob.remove_prefix(sizeof bytes + bytes);
    return piece;
}

}  // namespace

Driver::Driver(std::unique_ptr<PortGroup> group, std::size_t bytes)
    : group_(std::move(group)), inbox_(group_->allocate(bytes)), outbox_(group_->allocate(bytes)) {}

std::string Driver::describe() const {
    std::string blob;
    append(blob, group_->describe(inbox_));
    for (const Port port : group_->ports()) {
        append(blob, std::to_string(port.index));
        append(blob, group_->address(port));
    }
    return blob;
}

void Driver::connect(Rank peer, const std::string& description) {
    std::string_view blob = description;
    const std::string memory = take(blob);
    while (!blob.empty()) {
        const Port port = Port{std::stoi(take(blob))}.opposite();
        const std::string address = take(blob);
        for (const Port mine : group_->ports()) {
            if (mine == port) {
                peers_[{port.index, peer}] = group_->connect(port, address);
                inboxes_[{port.index, peer}] = group_->import_memory(memory);
            }
        }
    }
}

PutResult Driver::try_put(Port port, Rank peer, std::size_t at, std::size_t to, std::size_t bytes,
                          std::uint64_t notification) {
    return try_put(port, peer, outbox_.data + at, outbox_.descriptor,
                   inboxes_.at({port.index, peer}), to, bytes, notification);
}

PutResult Driver::try_put(Port port, Rank peer, const void* source, void* descriptor,
                          const RemoteMemory& target, std::uint64_t offset, std::size_t bytes,
                          std::uint64_t notification) {
    const std::uint64_t cookie = next_cookie_;
    const PutResult result = group_->put({.port = port,
                                          .peer = peers_.at({port.index, peer}),
                                          .source = source,
                                          .descriptor = descriptor,
                                          .target = target,
                                          .offset = offset,
                                          .bytes = bytes,
                                          .notification = notification,
                                          .cookie = cookie});
    if (result == PutResult::failed) {
        throw std::runtime_error("put failed: " + group_->error_text());
    }
    if (result == PutResult::queued) {
        queued_.insert(cookie);
    }
    if (result != PutResult::again) {
        ++next_cookie_;
    }
    return result;
}

void Driver::put(const Node& node, Port port, Rank peer, std::size_t at, std::size_t to,
                 std::size_t bytes, std::uint64_t notification) {
    while (try_put(port, peer, at, to, bytes, notification) == PutResult::again) {
        node.check();
        poll();
    }
}

void Driver::put_to(const Node& node, Port port, Rank peer, const void* source, void* descriptor,
                    const RemoteMemory& target, std::uint64_t offset, std::size_t bytes,
                    std::uint64_t notification) {
    while (try_put(port, peer, source, descriptor, target, offset, bytes, notification) ==
           PutResult::again) {
        node.check();
        poll();
    }
}

void Driver::poll() {
    std::array<Event, 8> events;
    const std::size_t count = group_->poll(events);
    for (std::size_t i = 0; i < count; ++i) {
        switch (events[i].kind) {
            case Event::Kind::arrived:
                arrived_.push_back(events[i].notification);
                break;
            case Event::Kind::sent:
                if (queued_.erase(events[i].cookie) != 1) {
                    throw std::runtime_error("sent a put that was not queued, or sent it twice");
                }
                break;
            case Event::Kind::failed:
                throw std::runtime_error("the transport failed: " + group_->error_text());
        }
    }
}

std::uint64_t Driver::next_notification(const Node& node, std::chrono::microseconds nap) {
    poll();
    while (arrived_.empty()) {
        node.check();
        if (nap.count() > 0) {
            group_->wait(nap);
        }
        poll();
    }
    const std::uint64_t notification = arrived_.front();
    arrived_.pop_front();
    return notification;
}

void Driver::flush(const Node& node) {
    while (!queued_.empty()) {
        node.check();
        poll();
    }
}

std::vector<std::unique_ptr<Driver>> wire(Node& node, const Subject& subject,
                                          const std::vector<std::vector<Port>>& groups,
                                          std::size_t bytes) {
    BackendConfig config;
    config.provider = subject.provider;
    config.groups = groups;
    config.rank = node.rank();
    std::vector<std::unique_ptr<Driver>> drivers;
    std::string mine;
    for (auto& group : open_backend(subject.backend, config)) {
        drivers.push_back(std::make_unique<Driver>(std::move(group), bytes));
        append(mine, drivers.back()->describe());
    }
    const std::vector<std::string> all = node.allgather(mine);
    for (Rank peer = 0; peer < node.ranks(); ++peer) {
        std::string_view blob = all[peer];
        while (peer != node.rank() && !blob.empty()) {
            const std::string description = take(blob);
            for (auto& driver : drivers) {
                driver->connect(peer, description);
            }
        }
    }
    return drivers;
}

void finish(Node& node, const std::vector<std::unique_ptr<Driver>>& drivers) {
    const auto poll_all = [&drivers] {
        for (const auto& driver : drivers) {
            driver->poll();
        }
    };
    for (const auto& driver : drivers) {
        driver->flush(node);
    }
    node.allgather({}, poll_all);
    for (const auto& driver : drivers) {
        driver->poll();
        EXPECT_EQ(driver->unread(), 0U) << "a notification arrived that nobody sent";
    }
}

}  // namespace trefoil::conformance
