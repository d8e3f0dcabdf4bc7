// SPDX-License-Identifier: BSD-3-Clause
// How puts arrive and completions come back; credit for the peers; sleeping.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "backend/utofu/group.hpp"

namespace trefoil::utofu {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr bool is(std::uint64_t edata, Edata kind) {
    return edata == static_cast<std::uint64_t>(kind);
}

/// A code of a notice that tells of a failure, rather than of a call that failed.
constexpr bool is_of_notice(int code) {
    return code <= UTOFU_ERR_MRQ_OTHER && code >= UTOFU_ERR_MRQ_RMT_LENGTH;
}

std::uint64_t word_at(std::byte* place) {
    const std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(place));
    return word.load(std::memory_order_acquire);
}

}  // namespace

std::size_t UtofuGroup::poll(std::span<Event> events) {
    if (events.empty()) {
        return 0;
    }
    std::size_t written = take_kept(events);
    if (written == 0) {
        written = look(events);
    }
    return written > 0 ? written : take_kept(events);
}

std::size_t UtofuGroup::take_kept(std::span<Event> events) {
    std::size_t written = 0;
    while (kept_read_ < kept_.size() && written < events.size()) {
        events[written++] = kept_[kept_read_++];
    }
    if (kept_read_ == kept_.size()) {
        kept_.clear();
        kept_read_ = 0;
    }
    return written;
}

std::size_t UtofuGroup::look(std::span<Event> events) {
    std::size_t written = 0;
    for (Queue& queue : queues_) {
        written += read_completions(queue, events.subspan(written));
        written += read_notices(queue, events.subspan(written));
        if (queue.debts > 0) {
            pay_debts(queue);
        }
    }
    if (!unfinished_.empty()) {
        go_on();
    }
    return written;
}

// Entries of the queue of puts become free here alone, also those of puts that report nothing. All
// that a queue may be closed behind is reported: pieces, records, credit.
std::size_t UtofuGroup::read_completions(Queue& queue, std::span<Event> events) {
    std::size_t written = 0;
    while (written < events.size() && (queue.under_way > 0 || queue.busy)) {
        void* data = nullptr;
        const int code = library().poll_tcq(queue.handle, 0, &data);
        if (code == UTOFU_ERR_NOT_FOUND) {
            queue.busy = false;
            break;
        }
        queue.under_way -= queue.under_way > 0 ? 1 : 0;  // errors come unasked
        auto* const pending = static_cast<Pending*>(data);
        if (pending == nullptr) {  // a record or credit
            if (code != UTOFU_SUCCESS) {
                events[written++] = failure("a put has failed", code, 0);
            }
            continue;
        }
        --pending->pieces;
        if (code != UTOFU_SUCCESS && !pending->lost) {
            pending->lost = true;
            events[written++] = failure("a put has failed", code, pending->cookie);
        }
        if (pending->pieces == 0 && pending->posted) {
            if (!pending->lost) {
                events[written++] = {Event::Kind::sent, 0, pending->cookie};
            }
            recycle(pending);
        }
    }
    return written;
}

std::size_t UtofuGroup::read_notices(Queue& queue, std::span<Event> events) {
    std::size_t written = 0;
    while (written < events.size()) {
        utofu_mrq_notice notice{};
        const int code = library().poll_mrq(queue.handle, 0, &notice);
        if (code == UTOFU_ERR_NOT_FOUND) {
            ++queue.emptied;
            break;
        }
        if (code == UTOFU_SUCCESS) {
            written += take_notice(queue, notice, events[written]) ? 1 : 0;
        } else if (is_of_notice(code)) {
            written += take_failure(queue, code, notice, events[written]) ? 1 : 0;
        } else {
            events[written++] = failure("the queue of notices cannot be read", code, 0);
            break;
        }
    }
    return written;
}

bool UtofuGroup::take_notice(Queue& queue, const utofu_mrq_notice& notice, Event& event) {
    if (notice.notice_type == UTOFU_MRQ_TYPE_LCL_ARMW && is(notice.edata, Edata::connect)) {
        queue.answered = true;
        queue.answer = UTOFU_SUCCESS;
        queue.counted = notice.rmt_value;
    } else if (notice.notice_type == UTOFU_MRQ_TYPE_LCL_PUT && is(notice.edata, Edata::farewell)) {
        queue.farewells -= queue.farewells > 0 ? 1 : 0;
    } else if (notice.notice_type == UTOFU_MRQ_TYPE_RMT_PUT && notice.edata < most_streams) {
        return take_record(queue, static_cast<std::uint32_t>(notice.edata), event);
    }
    return false;  // of a piece, a greeting or credit: they may make notices, or not
}

// Strong order has brought the record's data before it, and the records of a stream one by one.
bool UtofuGroup::take_record(Queue& queue, std::uint32_t number, Event& event) {
    std::atomic_thread_fence(std::memory_order_acquire);
    if (number >= queue.streams.size()) {
        event = failure("a notice names a stream that does not exist", 0, 0);
        return true;
    }
    Stream& stream = queue.streams[number];
    const auto sequence = static_cast<std::uint16_t>(stream.sequence + 1);
    RecordPlace place;
    std::memcpy(
        &place,
        queue.control->data() + layout_.ring(number) + (sequence % capacity_.window) * sizeof place,
        sizeof place);
    if (place.record.sequence != sequence) {
        event = failure("a record is not the one that its notice announces", 0, 0);
        return true;
    }
    stream.sequence = sequence;
    stream.taken += place.record.units;
    if (stream.taken - stream.credited >= capacity_.window / 2) {
        give_credit(queue, number);
    }
    event = {Event::Kind::arrived, place.record.notification, 0};
    return place.record.kind == Record::Kind::message ||
           (place.record.kind == Record::Kind::registered &&
            registered_.count(place.registration) > 0);  // else it came too late
}

void UtofuGroup::give_credit(Queue& queue, std::uint32_t number) {
    Stream& stream = queue.streams[number];
    std::byte* const place = queue.control->data() + layout_.hello(number);
    if (word_at(place + offsetof(Hello, closed)) != 0) {
        stream.credited = stream.taken;
    } else {
        Hello hello;
        std::memcpy(static_cast<void*>(&hello), place, hello_bytes);
        library().set_vcq_id_path(&hello.queue, nullptr);
        // The records were read before the peer may write others in their places.
        std::atomic_thread_fence(std::memory_order_release);
        const int code = library().put_piggyback8(
            queue.handle, hello.queue, stream.taken, hello.credit, sizeof(std::uint64_t),
            static_cast<std::uint64_t>(Edata::credit),
            UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_TCQ_NOTICE, nullptr);
        if (code == UTOFU_ERR_BUSY) {
            queue.busy = true;
            queue.debts += stream.owes ? 0 : 1;
            stream.owes = true;
            return;
        }
        queue.under_way += code == UTOFU_SUCCESS ? 1 : 0;
        stream.credited = stream.taken;  // where it failed, the peer is no more
    }
    queue.debts -= stream.owes ? 1 : 0;
    stream.owes = false;
}

void UtofuGroup::pay_debts(Queue& queue) {
    for (std::uint32_t i = 0; i < queue.streams.size() && queue.debts > 0; ++i) {
        if (queue.streams[i].owes) {
            give_credit(queue, i);
            if (queue.streams[i].owes) {
                return;
            }
        }
    }
}

bool UtofuGroup::take_failure(Queue& queue, int code, const utofu_mrq_notice& notice,
                              Event& event) {
    if (is(notice.edata, Edata::connect)) {
        queue.answered = true;
        queue.answer = code;
        return false;
    }
    if (is(notice.edata, Edata::farewell)) {
        queue.farewells -= queue.farewells > 0 ? 1 : 0;
        return false;
    }
    if (is(notice.edata, Edata::credit) || has_left(queue, notice.vcq_id)) {
        return false;
    }
    event = failure("a put has not reached its peer", code, 0);
    return true;
}

/// Whether the peer with this queue has said farewell: what is put there gets lost.
bool UtofuGroup::has_left(const Queue& queue, std::uint64_t peer) const {
    for (std::uint32_t i = 0; i < queue.streams.size(); ++i) {
        std::byte* const place = queue.control->data() + layout_.hello(i);
        if (word_at(place + offsetof(Hello, closed)) != 0 &&
            word_at(place + offsetof(Hello, queue)) == peer) {
            return true;
        }
    }
    return false;
}

Event UtofuGroup::failure(const char* what, int code, std::uint64_t cookie) {
    const std::string words = code == 0 ? std::string() : ": " + code_text(code);
    std::snprintf(error_text_.data(), error_text_.size(), "uTofu: %s%s", what, words.c_str());
    return {Event::Kind::failed, 0, cookie};
}

void UtofuGroup::keep() {
    std::array<Event, 16> events;
    const std::size_t count = look(events);
    kept_.insert(kept_.end(), events.begin(), events.begin() + static_cast<std::ptrdiff_t>(count));
}

// uTofu has no call that sleeps.
void UtofuGroup::wait(microseconds longest) {
    const Clock::time_point deadline = Clock::now() + longest;
    const microseconds slice = nap_slice(longest);
    if (kept_.empty()) {
        keep();
    }
    while (kept_.empty()) {
        const auto left = std::chrono::duration_cast<microseconds>(deadline - Clock::now());
        if (left.count() <= 0 || doorbell_.wait(std::min(left, slice))) {
            return;
        }
        keep();
    }
}

}  // namespace trefoil::utofu
