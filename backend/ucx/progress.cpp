// SPDX-License-Identifier: BSD-3-Clause
// The data path of a UCX port group: puts, arrivals, waiting.
#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <thread>

#include "backend/ucx/group.hpp"
#include "topo/patience.hpp"

namespace trefoil::ucx {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint32_t polls_per_progress = 16;  // where the last arrival came through the queue
constexpr const char* cut_off_text =
    "the ports were closed, as a peer had stopped while it put into memory that was deregistered";

}  // namespace

void UcxGroup::release(Pending* pending) {
    pending->to = nullptr;
    pending->next_free = free_;
    free_ = pending;
}

PutResult UcxGroup::refuse(const char* what, const char* why) noexcept {
    std::snprintf(error_text_.data(), error_text_.size(), "%s: %s", what, why);
    return PutResult::failed;
}

void UcxGroup::keep(const Event& event) noexcept {
    kept_.push_back(event);
}

void UcxGroup::keep_failure(const char* what, const char* why, std::uint64_t cookie) noexcept {
    refuse(what, why);
    keep({Event::Kind::failed, 0, cookie});
}

PutResult UcxGroup::put(const Put& put) {
    const RemoteMemory& target = put.target;
    Target& reached = *reinterpret_cast<Target*>(put.peer.handle);
    if (cut_off_) {
        return refuse("put", cut_off_text);
    }
    if (put.bytes > target.bytes || put.offset > target.bytes - put.bytes) {
        return refuse("put", "it would leave the target's memory");
    }
    if (reached.queue && target.base != 0) {
        return put_direct(reached, put);
    }
    const Header header{put.offset, target.key, put.notification};
    return put_message(reached, put.source, put.bytes, header, put.cookie);
}

std::byte* UcxGroup::landing(Peer peer, const RemoteMemory& target, std::uint64_t offset,
                             std::size_t bytes) const {
    const Target& reached = *reinterpret_cast<const Target*>(peer.handle);
    return reached.queue && target.base != 0 ? memory::mapped_landing(target, offset, bytes)
                                             : nullptr;
}

PutResult UcxGroup::put_direct(Target& target, const Put& put) {
    if (!target.queue->has_room()) {
        return target.queue->closed() ? refuse("put", "the peer has closed its ports")
                                      : PutResult::again;
    }
    if (put.bytes <= memory::SmallPut::most_bytes) {
        const bool pushed =
            target.queue->push(put.notification, put.target.key, put.offset, put.source, put.bytes);
        return pushed ? PutResult::done : PutResult::again;
    }
    std::byte* const place = reinterpret_cast<std::byte*>(put.target.base) + put.offset;
    if (place != put.source) {  // else the caller has gathered it there: landing()
        std::memcpy(place, put.source, put.bytes);
    }
    // If others took the room meanwhile, copying once more does no harm.
    return target.queue->push(put.notification) ? PutResult::done : PutResult::again;
}

PutResult UcxGroup::put_message(Target& target, const void* source, std::size_t bytes,
                                const Header& header, std::uint64_t cookie) {
    if (target.endpoint->lost != UCS_OK) {
        return refuse("the peer is lost", library().status_string(target.endpoint->lost));
    }
    if (free_ == nullptr) {
        return PutResult::again;
    }
    Pending* pending = free_;
    pending->header = header;
    pending->cookie = cookie;
    ucp_request_param_t how{};
    how.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    how.cb.send = on_sent;
    how.user_data = pending;
    how.memory_type = UCS_MEMORY_TYPE_HOST;
    target.endpoint->used = true;
    const ucs_status_ptr_t request = library().am_send_nbx(
        target.endpoint->handle, 0, &pending->header, sizeof pending->header, source, bytes, &how);
    if (request == nullptr) {
        return PutResult::done;
    }
    if (UCS_PTR_IS_ERR(request)) {
        return refuse("active message", library().status_string(UCS_PTR_STATUS(request)));
    }
    free_ = pending->next_free;
    pending->to = target.endpoint;
    ++under_way_;
    return PutResult::queued;
}

void UcxGroup::on_sent(void* request, ucs_status_t status, void* user) {
    auto* pending = static_cast<Pending*>(user);
    UcxGroup& group = *pending->group;
    if (pending->to != nullptr) {
        --group.under_way_;
        if (status == UCS_OK) {
            group.keep({Event::Kind::sent, 0, pending->cookie});
        } else {
            group.keep_failure("active message", library().status_string(status), pending->cookie);
        }
    }
    group.release(pending);
    library().request_free(request);
}

/// UCX closes the lanes of a lost endpoint, so nobody reads the sources of what was under way. But
/// it completes none of the messages that the peer had yet to fetch. Their places stay taken until
/// it does, so others get theirs; without memory for that the window is the smaller.
void UcxGroup::fail_what_is_lost() noexcept {
    for (std::size_t i = 0, count = pending_.size(); i < count; ++i) {
        Pending& pending = pending_[i];
        if (pending.to == nullptr || pending.to->lost == UCS_OK) {
            continue;
        }
        keep_failure("active message", library().status_string(pending.to->lost), pending.cookie);
        pending.to = nullptr;
        --under_way_;
        try {
            pending_.emplace_back().group = this;
            release(&pending_.back());
        } catch (const std::bad_alloc&) {
        }
    }
}

const UcxGroup::KeyedMemory* UcxGroup::memory_by(std::uint64_t key) const noexcept {
    const std::uint64_t index = key & (is_registered - 1);
    return key != 0 && index < memory_.size() && memory_[index].key == key ? &memory_[index]
                                                                           : nullptr;
}

/// False: a message does not end.
bool UcxGroup::land_all(const KeyedMemory& memory) noexcept {
    const Clock::time_point deadline = Clock::now() + patience().longest_drain;
    while (memory.landing > 0 && !abandoned_ && Clock::now() < deadline) {
        progress();
        std::this_thread::yield();
    }
    return memory.landing == 0 || abandoned_;
}

ucs_status_t UcxGroup::on_message(void* own_rail, const void* header, std::size_t header_bytes,
                                  void* data, std::size_t bytes, const ucp_am_recv_param_t* how) {
    const OwnRail& own = *static_cast<OwnRail*>(own_rail);
    UcxGroup& group = *own.group;
    Header where{};
    const bool whole = header_bytes == sizeof where;
    if (whole) {
        std::memcpy(&where, header, sizeof where);
    }
    const KeyedMemory* keyed = whole ? group.memory_by(where.memory) : nullptr;
    if (keyed == nullptr && (where.memory & is_registered) != 0) {
        return UCS_OK;  // deregistered meanwhile: dropped, and the peer is told that it was sent
    }
    const Memory* memory = keyed != nullptr ? keyed->memory.get() : nullptr;
    if (memory == nullptr || bytes > memory->bytes() || where.offset > memory->bytes() - bytes) {
        group.keep_failure("active message", "a peer names memory that does not exist", 0);
        return UCS_ERR_INVALID_PARAM;
    }
    std::byte* to = memory->data() + where.offset;
    group.direct_ = false;
    group.messages_used_ = true;
    if ((how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) {
        KeyedMemory& target = group.memory_[where.memory & (is_registered - 1)];
        return group.receive(*own.rail, target, to, data, bytes, where.notification);
    }
    if (bytes > 0) {
        std::memcpy(to, data, bytes);
    }
    group.keep({Event::Kind::arrived, where.notification, 0});
    return UCS_OK;
}

// The sender still has the bytes: fetches them to their place.
ucs_status_t UcxGroup::receive(Rail& rail, KeyedMemory& memory, std::byte* to, void* data,
                               std::size_t bytes, std::uint64_t notification) noexcept {
    if (free_landing_ == nullptr) {
        free_landing_ = &landings_.emplace_back();
    }
    Landing* landing = free_landing_;
    Landing* next = landing->next_free;
    landing->notification = notification;
    landing->memory = static_cast<std::size_t>(&memory - memory_.data());
    landing->group = this;
    ucp_request_param_t how{};
    how.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    how.cb.recv_am = on_received;
    how.user_data = landing;
    how.memory_type = UCS_MEMORY_TYPE_HOST;
    const ucs_status_ptr_t request =
        library().am_recv_data_nbx(rail.worker(), data, to, bytes, &how);
    if (UCS_PTR_IS_PTR(request)) {
        free_landing_ = next;
        ++memory.landing;
    } else if (request == nullptr) {
        keep({Event::Kind::arrived, notification, 0});
    } else {
        keep_failure("reception", library().status_string(UCS_PTR_STATUS(request)), 0);
    }
    return UCS_OK;
}

void UcxGroup::on_received(void* request, ucs_status_t status, std::size_t, void* user) {
    auto* landing = static_cast<Landing*>(user);
    UcxGroup& group = *landing->group;
    if (status == UCS_OK) {
        group.keep({Event::Kind::arrived, landing->notification, 0});
    } else {
        group.keep_failure("reception", library().status_string(status), 0);
    }
    --group.memory_[landing->memory].landing;
    landing->next_free = group.free_landing_;
    group.free_landing_ = landing;
    library().request_free(request);
}

// Bytes that came with their notification go where the put wanted them.
void UcxGroup::deliver(const memory::SmallPut& put) noexcept {
    const KeyedMemory* keyed = memory_by(put.memory);
    const Memory* memory = keyed != nullptr ? keyed->memory.get() : nullptr;
    if (memory == nullptr || put.bytes > memory::SmallPut::most_bytes ||
        put.bytes > memory->bytes() || put.offset > memory->bytes() - put.bytes) {
        keep_failure("put", "a peer names memory that does not exist", 0);
        return;
    }
    std::memcpy(memory->data() + put.offset, put.data, put.bytes);
}

std::size_t UcxGroup::take(std::span<Event> events) {
    const std::size_t count = std::min(events.size(), kept_.size() - kept_first_);
    std::copy_n(kept_.begin() + static_cast<std::ptrdiff_t>(kept_first_), count, events.begin());
    kept_first_ += count;
    if (kept_first_ == kept_.size()) {
        kept_.clear();
        kept_first_ = 0;
    }
    return count;
}

void UcxGroup::progress() {
    if (abandoned_) {
        return;
    }
    for (const auto& own : rails_) {
        own->rail->progress();
        if (own->rail->has_lost_one()) {
            fail_what_is_lost();
        }
    }
}

std::size_t UcxGroup::poll(std::span<Event> events) {
    std::size_t count = take(events);
    std::uint64_t notification = 0;
    const auto land = [this](const memory::SmallPut& put) { deliver(put); };
    while (count < events.size() && queue_->pop(notification, land)) {
        events[count++] = {Event::Kind::arrived, notification, 0};
        direct_ = true;
        queue_used_ = true;
    }
    // A look at the rails costs more than one at the queue. What is kept is returned before there
    // is more of it, so the store stays small.
    if (kept_.empty() && (!direct_ || ++polls_ % polls_per_progress == 0)) {
        progress();
        count += take(events.subspan(count));
    }
    if (cut_off_ && count == 0 && !events.empty()) {
        refuse("poll", cut_off_text);
        events[count++] = {Event::Kind::failed, 0, 0};
    }
    return count;
}

// True when every rail will signal whatever comes.
bool UcxGroup::arm() {
    return std::all_of(rails_.begin(), rails_.end(),
                       [](const auto& own) { return own->rail->arm(); });
}

void UcxGroup::wait(std::chrono::microseconds longest) {
    const Clock::time_point deadline = Clock::now() + longest;
    const std::chrono::microseconds slice = nap_slice(longest);
    while (kept_.empty() && queue_->empty()) {
        const auto left =
            std::chrono::duration_cast<std::chrono::microseconds>(deadline - Clock::now());
        if (left.count() <= 0) {
            return;
        }
        const bool woken = sleep(left, slice);
        progress();
        if (woken) {
            return;
        }
    }
}

// The two kinds of arrival cannot end one sleep. A group that has seen both, or none yet, sleeps
// for the one that came last and looks for the other after each slice. One that has seen a single
// kind (all peers are on this host, or none) sleeps for that alone; should the other kind come
// after all, it is late once, by `longest` at most. True: woken by wake().
bool UcxGroup::sleep(std::chrono::microseconds longest, std::chrono::microseconds slice) {
    const bool one_kind = queue_used_ != messages_used_;
    const std::chrono::microseconds length = one_kind ? longest : std::min(longest, slice);
    return direct_ ? queue_->wait(length) : doze(length, slice);
}

// Sleeps until a rail has something.
bool UcxGroup::doze(std::chrono::microseconds longest, std::chrono::microseconds slice) {
    constexpr std::size_t most = 16;
    std::array<pollfd, most + 1> files{};
    const bool have_files = rails_.size() <= most &&
                            std::all_of(rails_.begin(), rails_.end(),
                                        [](const auto& own) { return own->rail->event_fd() >= 0; });
    if (!have_files) {
        return doorbell_.wait(std::min(longest, slice));
    }
    if (!arm()) {
        return false;  // something is there to be progressed
    }
    for (std::size_t i = 0; i < rails_.size(); ++i) {
        files[i] = {rails_[i]->rail->event_fd(), POLLIN, 0};
    }
    files[rails_.size()] = {doorbell_.file(), POLLIN, 0};
    const std::span<pollfd> watched(files.data(), rails_.size() + 1);
    return doorbell_.wait(longest, watched);
}

void UcxGroup::wake() {
    queue_->wake();
    doorbell_.ring();
}

// A peer fetches a large message when it gets round to it. Bounded, because it may be dead.
void UcxGroup::drain(std::chrono::milliseconds longest) {
    const Clock::time_point deadline = Clock::now() + longest;
    while (under_way_ > 0 && Clock::now() < deadline) {
        progress();
        std::this_thread::yield();
    }
    for (const auto& own : rails_) {
        own->rail->drain(deadline);
    }
}

}  // namespace trefoil::ucx
