// SPDX-License-Identifier: BSD-3-Clause
// How a put leaves: pieces, then a record, as far as queues and the peer's credit let it.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "backend/utofu/group.hpp"

namespace trefoil::utofu {

namespace {

constexpr unsigned long in_order = UTOFU_ONESIDED_FLAG_STRONG_ORDER;
constexpr std::uint64_t edata_of_data = static_cast<std::uint64_t>(Edata::data);

}  // namespace

void UtofuGroup::recycle(Pending* pending) {
    pending->next_free = free_;
    free_ = pending;
}

PutResult UtofuGroup::refuse_put(const char* why) {
    std::snprintf(error_text_.data(), error_text_.size(), "uTofu: put %s", why);
    return PutResult::failed;
}

// The credit word is read only when the notices were read to the last since: it may tell of credit
// whose own notice is still in the queue, and only so many of those fit.
std::uint32_t UtofuGroup::credit_of(Way& way) {
    const Queue& queue = queues_[way.queue];
    std::uint32_t left = way.window - (way.sent - way.credited);
    if (left < least_window && way.looked != queue.emptied) {
        way.looked = queue.emptied;
        auto* const word =
            reinterpret_cast<std::uint64_t*>(queue.control->data() + layout_.credit(way.number));
        way.credited = static_cast<std::uint32_t>(
            std::atomic_ref<std::uint64_t>(*word).load(std::memory_order_acquire));
        left = way.window - (way.sent - way.credited);
    }
    return left;
}

PutResult UtofuGroup::put(const Put& asked) {
    const std::uint64_t number = asked.peer.handle;
    if (number == 0 || number > ways_.size() ||
        queues_[ways_[number - 1].queue].port != asked.port) {
        return refuse_put("through a port that is not connected to this peer");
    }
    const std::size_t bytes = asked.bytes;
    Way& way = ways_[number - 1];
    if (way.unfinished || free_ == nullptr || credit_of(way) < (bytes == 0 ? 1U : least_window)) {
        return PutResult::again;
    }
    Unfinished& put = way.put;
    put.left = 0;
    put.inlined_bytes = 0;
    put.pending = nullptr;
    put.kind = Record::Kind::message;
    if (bytes > 0) {
        const Imported* const memory =
            asked.target.key < imported_.size() ? &imported_[asked.target.key] : nullptr;
        const auto peer_port = static_cast<std::size_t>(way.peer_port);
        if (memory == nullptr || !memory->used || peer_port >= memory->by_port.size()) {
            return refuse_put("to memory that was not imported, or is not of the peer's port");
        }
        put.target = memory->by_port[peer_port] + asked.offset;
        put.registration = memory->registration;
        put.kind = memory->registration == 0 ? Record::Kind::message : Record::Kind::registered;
        if (bytes <= inline_bytes) {
            std::memcpy(put.inlined.data(), asked.source, bytes);
            put.inlined_bytes = static_cast<std::uint8_t>(bytes);
        } else {
            const auto* const own = static_cast<const Registered*>(asked.descriptor);
            if (own == nullptr) {
                return refuse_put("from memory without a descriptor");
            }
            const auto from = static_cast<const std::byte*>(asked.source) - own->data;
            put.source = own->by_queue[way.queue] + static_cast<std::uint64_t>(from);
            put.left = bytes;
        }
    }
    put.notification = static_cast<std::uint32_t>(asked.notification);
    put.units = 0;
    put.pending = free_;
    free_ = free_->next_free;
    *put.pending = {asked.cookie, 0, false, false, nullptr};
    // The network reads the source, and the peer goes on, behind what this thread did before.
    std::atomic_thread_fence(std::memory_order_release);
    return begin(way, number - 1);
}

// What was posted at once, and has no piece that will be reported, is done. Else the owner must
// poll until the record has gone, so the put is queued.
PutResult UtofuGroup::begin(Way& way, std::size_t number) {
    Pending* const pending = way.put.pending;
    const std::uint32_t before = way.sent;
    const Progress progress = advance(way);
    const bool untouched = way.sent == before;
    if (progress == Progress::stalled && !untouched) {
        way.unfinished = true;
        unfinished_.push_back(number);
        return PutResult::queued;
    }
    if (progress == Progress::lost && !untouched) {
        end_lost(pending);
        return PutResult::queued;
    }
    if (progress == Progress::complete && pending->pieces > 0) {
        return PutResult::queued;
    }
    recycle(pending);
    return progress == Progress::complete  ? PutResult::done
           : progress == Progress::stalled ? PutResult::again
                                           : PutResult::failed;
}

/// The error text says why.
void UtofuGroup::end_lost(Pending* pending) {
    kept_.push_back({Event::Kind::failed, 0, pending->cookie});
    pending->lost = true;
    pending->posted = true;
    if (pending->pieces == 0) {
        recycle(pending);
    }
}

// Goes on with the put that a way has begun. A piece needs a second unit for the record behind it;
// a put of more pieces than there are units pauses with a record that lets the peer give credit.
UtofuGroup::Progress UtofuGroup::advance(Way& way) {
    Queue& queue = queues_[way.queue];
    Unfinished& put = way.put;
    const auto stopped = [&](int code) {
        if (code == UTOFU_ERR_BUSY) {
            queue.busy = true;
            return Progress::stalled;
        }
        failure("a put was refused", code, 0);
        return Progress::lost;
    };
    int code = UTOFU_SUCCESS;
    while (code == UTOFU_SUCCESS && (put.left > 0 || put.inlined_bytes > 0)) {
        const std::uint32_t credit = credit_of(way);
        if (credit >= least_window) {
            code = post_piece(queue, way);
        } else if (credit > 0 && put.units > 0) {
            code = post_record(queue, way, Record::Kind::pause);
        } else {
            return Progress::stalled;
        }
    }
    if (code == UTOFU_SUCCESS) {
        if (credit_of(way) == 0) {
            return Progress::stalled;
        }
        code = post_record(queue, way, put.kind);
    }
    if (code != UTOFU_SUCCESS) {
        return stopped(code);
    }
    put.pending->posted = true;
    return Progress::complete;
}

int UtofuGroup::post_piece(Queue& queue, Way& way) {
    Unfinished& put = way.put;
    int code = UTOFU_SUCCESS;
    std::uint64_t bytes = 0;
    if (put.inlined_bytes > 0) {
        code = library().put_piggyback(queue.handle, way.peer, put.inlined.data(), put.target,
                                       put.inlined_bytes, edata_of_data, in_order, nullptr);
    } else {
        bytes = std::min<std::uint64_t>(put.left, queue.interface.caps.max_putget_size);
        code = library().put(queue.handle, way.peer, put.source, put.target, bytes, edata_of_data,
                             in_order | UTOFU_ONESIDED_FLAG_TCQ_NOTICE, put.pending);
    }
    if (code != UTOFU_SUCCESS) {
        return code;
    }
    ++way.sent;
    ++put.units;
    put.inlined_bytes = 0;
    if (bytes > 0) {
        put.source += bytes;
        put.target += bytes;
        put.left -= bytes;
        ++put.pending->pieces;
        ++queue.under_way;
    }
    return UTOFU_SUCCESS;
}

int UtofuGroup::post_record(Queue& queue, Way& way, Record::Kind kind) {
    Unfinished& put = way.put;
    RecordPlace place;
    place.record.notification = put.notification;
    place.record.sequence = static_cast<std::uint16_t>(way.sequence + 1);
    place.record.units = static_cast<std::uint8_t>(put.units + 1);
    place.record.kind = kind;
    place.registration = put.registration;
    const utofu_stadd_t target =
        way.ring + (place.record.sequence % way.window) * sizeof(RecordPlace);
    constexpr unsigned long flags =
        in_order | UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE | UTOFU_ONESIDED_FLAG_TCQ_NOTICE;
    int code = UTOFU_SUCCESS;
    if (kind == Record::Kind::registered) {
        code = library().put_piggyback(queue.handle, way.peer, &place, target, sizeof place,
                                       way.stream, flags, nullptr);
    } else {
        code = library().put_piggyback8(queue.handle, way.peer,
                                        std::bit_cast<std::uint64_t>(place.record), target,
                                        sizeof(Record), way.stream, flags, nullptr);
    }
    if (code != UTOFU_SUCCESS) {
        return code;
    }
    ++queue.under_way;
    ++way.sent;
    way.sequence = place.record.sequence;
    put.units = 0;
    return UTOFU_SUCCESS;
}

void UtofuGroup::go_on() {
    std::size_t left = 0;
    for (const std::size_t number : unfinished_) {
        Way& way = ways_[number];
        const Progress progress = advance(way);
        if (progress == Progress::stalled) {
            unfinished_[left++] = number;
            continue;
        }
        way.unfinished = false;
        Pending* const pending = way.put.pending;
        if (progress == Progress::lost) {
            end_lost(pending);
        } else if (pending->pieces == 0) {
            kept_.push_back({Event::Kind::sent, 0, pending->cookie});
            recycle(pending);
        }
    }
    unfinished_.resize(left);
}

}  // namespace trefoil::utofu
