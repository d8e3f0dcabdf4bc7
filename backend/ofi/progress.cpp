// SPDX-License-Identifier: BSD-3-Clause
// The data path of a libfabric port group: puts, completions, and a close that loses nothing.
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <thread>

#include "backend/ofi/completion.hpp"
#include "backend/ofi/environment.hpp"
#include "backend/ofi/group.hpp"
#include "topo/patience.hpp"

namespace trefoil::ofi {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int drain_rounds = 16;

}  // namespace

OfiGroup::~OfiGroup() {
    if (!abandoned_) {
        drain(patience().longest_drain);
    }
    if (remains_ != nullptr) {
        *remains_ = {std::move(pending_), std::move(fabric_), std::move(domain_),
                     std::move(queue_),   std::move(peers_),  std::move(endpoints_),
                     std::move(memory_)};
    }
}

// libfabric cancels no put, but an endpoint that is closed reads no source any more. One that has
// seen all off stays open, so that what it has sent is not lost with the connection.
void OfiGroup::abandon(std::chrono::milliseconds longest) noexcept {
    if (abandoned_) {
        return;
    }
    abandoned_ = true;
    drain(longest);
    for (const std::string& address : shared_memory_peers_) {
        remove_region_at(address);
    }
    // Over shm a peer in this process may write there, and fetches what was put by itself.
    if (queued_ == 0 || remains_ != nullptr) {
        return;
    }
    if ((mr_mode_ & FI_MR_ENDPOINT) != 0) {  // an endpoint closes after what is bound to it
        for (RegisteredMemory& memory : memory_) {
            memory.registration.reset();
        }
        registered_.clear();
    }
    for (PortEndpoint& port : endpoints_) {
        port.endpoint.reset();
    }
}

void OfiGroup::recycle(Pending* pending) {
    pending->next_free = free_;
    free_ = pending;
    --queued_;
}

PutResult OfiGroup::refuse(const char* what, long result) {
    std::snprintf(error_text_.data(), error_text_.size(), "%s: %s", what,
                  library().strerror(static_cast<int>(-result)));
    return PutResult::failed;
}

PutResult OfiGroup::put(const Put& put) {
    fid_ep* endpoint = endpoint_of(put.port);
    if (endpoint == nullptr || put.bytes > max_put_bytes_) {
        return refuse(endpoint == nullptr ? "put through a port of another group"
                                          : "put longer than the provider's longest message",
                      -FI_EINVAL);
    }
    if (free_ == nullptr) {
        return PutResult::again;
    }
    Pending* pending = free_;
    const iovec from{const_cast<void*>(put.source), put.bytes};
    const fi_rma_iov to{put.target.base + put.offset, put.bytes, put.target.key};
    void* descriptor = put.descriptor;
    const bool injected = put.bytes <= inject_bytes_;
    fi_msg_rma message{};
    message.msg_iov = &from;
    message.desc = &descriptor;
    message.iov_count = 1;
    message.addr = put.peer.handle;
    message.rma_iov = &to;
    message.rma_iov_count = 1;
    message.context = &pending->scratch;
    message.data = put.notification;
    // Injected puts complete as well: fi_inject_writedata would report neither that the bytes have
    // left nor that the peer is gone (and rxm 1.17 crashes on the latter).
    const auto result = fi_writemsg(endpoint, &message,
                                    FI_REMOTE_CQ_DATA | FI_COMPLETION | (injected ? FI_INJECT : 0));
    if (result != 0) {
        return result == -FI_EAGAIN ? PutResult::again : refuse("fi_writemsg", result);
    }
    free_ = pending->next_free;
    pending->cookie = put.cookie;
    pending->injected = injected;
    ++queued_;
    return injected ? PutResult::done : PutResult::queued;
}

bool OfiGroup::read_more() {
    kept_first_ = 0;
    kept_last_ = note(fi_cq_read(queue_.get(), kept_.data(), kept_.size()));
    return kept_last_ > 0;
}

// How many completions a read of the queue gave; a failure is left for read_failure().
std::size_t OfiGroup::note(long result) {
    if (result > 0) {
        return static_cast<std::size_t>(result);
    }
    failure_waits_ = result == -FI_EAVAIL;
    if (result != -FI_EAVAIL && result != -FI_EAGAIN && result != -FI_EINTR && result != 0) {
        refuse("fi_cq_read", result);
        queue_broken_ = true;
    }
    return 0;
}

std::size_t OfiGroup::translate(std::span<const fi_cq_data_entry> entries, Event* events) {
    std::size_t written = 0;
    for (const fi_cq_data_entry& entry : entries) {
        if (is_arrival(entry.flags)) {
            events[written++] = {Event::Kind::arrived, entry.data, 0};
        } else if (Pending* pending = pending_of(entry.op_context)) {
            if (!pending->injected) {
                events[written++] = {Event::Kind::sent, 0, pending->cookie};
            }
            recycle(pending);
        }
    }
    return written;
}

OfiGroup::Pending* OfiGroup::pending_of(void* context) {
    auto* pending = static_cast<Pending*>(context);
    const std::less<const Pending*> before;
    const bool mine =
        !before(pending, pending_.data()) && before(pending, pending_.data() + pending_.size());
    return mine ? pending : nullptr;
}

std::size_t OfiGroup::poll(std::span<Event> events) {
    if (events.empty()) {
        return 0;
    }
    // Again while there were only completions of injected puts, which are nobody's event: an empty
    // poll must mean that nothing is there. Ends, because only put() makes more of those.
    while (kept_first_ != kept_last_ || read_more()) {
        const std::size_t count = std::min(kept_last_ - kept_first_, events.size());
        const std::span<const fi_cq_data_entry> entries(&kept_[kept_first_], count);
        kept_first_ += count;
        if (const std::size_t written = translate(entries, events.data()); written > 0) {
            return written;
        }
    }
    if (failure_waits_ || queue_broken_) {
        events[0] = read_failure();
        return 1;
    }
    return 0;
}

Event OfiGroup::read_failure() {
    Event event{Event::Kind::failed, 0, 0};
    if (queue_broken_) {
        return event;
    }
    failure_waits_ = false;
    fi_cq_err_entry entry{};
    const auto result = fi_cq_readerr(queue_.get(), &entry, 0);
    if (result <= 0) {
        refuse("fi_cq_readerr", result);
        return event;
    }
    std::array<char, 128> words{};
    const char* text =
        fi_cq_strerror(queue_.get(), entry.prov_errno, entry.err_data, words.data(), words.size());
    std::snprintf(error_text_.data(), error_text_.size(), "%s (%s)", library().strerror(entry.err),
                  text != nullptr ? text : "the provider gives no detail");
    if (Pending* pending = pending_of(entry.op_context)) {
        event.cookie = pending->cookie;
        recycle(pending);
    }
    return event;
}

// fi_close drops what was accepted but has not left yet, and unread bytes make the kernel reset the
// connection, which can take our last bytes with it. So: see all puts off, then read what came
// meanwhile. Bounded, because a peer may be dead.
void OfiGroup::drain(std::chrono::milliseconds longest) {
    const Clock::time_point deadline = Clock::now() + longest;
    std::array<Event, batch> events;
    while (queued_ > 0 && !queue_broken_ && Clock::now() < deadline) {
        if (poll(events) == 0) {
            std::this_thread::yield();
        }
    }
    for (int round = 0; round < drain_rounds && !queue_broken_; ++round) {
        poll(events);
    }
}

}  // namespace trefoil::ofi
