// SPDX-License-Identifier: BSD-3-Clause
// What packets do at their target: strong order per flow, all else in any order, notices late.
#include <algorithm>
#include <cstring>

#include "tests/backend/utofu/emulation/process.hpp"

namespace emulated_tofu {

namespace {

constexpr std::size_t piece_bytes = 1920;  // that the network keeps together
constexpr std::size_t most_waiting = 256;  // packets, before the inbox is left alone

}  // namespace

bool Process::receive_all() {
    std::size_t waiting = unordered_.size();
    for (const auto& [ends, flow] : flows_) {
        waiting += flow.packets.size();
    }
    if (waiting > most_waiting) {
        return false;
    }
    std::vector<Delivery> all = inbox->take();
    for (Delivery& each : all) {
        receive(std::move(each));
    }
    return !all.empty();
}

void Process::receive(Delivery delivery) {
    const Packet& packet = delivery.packet;
    if (packet.kind == Packet::Kind::answer) {
        take_answer(packet);
        return;
    }
    if (packet.strong && !options.unordered) {
        Flow& flow = flows_[{packet.from, packet.to}];
        if (flow.packets.empty()) {
            flow.packet_delay = draw_delay();
        }
        flow.packets.push_back(std::move(delivery));
        return;
    }
    // Cut up, so that the pieces land in any order.
    std::size_t at = 0;
    do {
        Delivery piece{packet, {}};
        const std::size_t bytes = std::min<std::size_t>(packet.bytes - at, piece_bytes);
        const auto from = delivery.data.begin() + static_cast<std::ptrdiff_t>(at);
        piece.data.assign(from, from + static_cast<std::ptrdiff_t>(bytes));
        piece.packet.offset += at;
        piece.packet.bytes = static_cast<std::uint32_t>(bytes);
        at += bytes;
        unordered_.insert(
            unordered_.begin() + static_cast<std::ptrdiff_t>(random() % (unordered_.size() + 1)),
            {static_cast<unsigned>(random() % 8), std::move(piece)});
    } while (at < packet.bytes);
}

bool Process::apply_some() {
    bool moved = false;
    const std::uint64_t now = options.latency > 0 ? now_nanoseconds() : 0;
    for (std::size_t i = 0; i < unordered_.size();) {
        auto& [delay, delivery] = unordered_[i];
        if (delay > 0 || delivery.packet.due > now) {
            delay -= delay > 0 ? 1 : 0;
            ++i;
            continue;
        }
        const Delivery next = std::move(delivery);
        unordered_.erase(unordered_.begin() + static_cast<std::ptrdiff_t>(i));
        apply(next);
        moved = true;
    }
    for (std::size_t i = 0; i < unordered_notices_.size();) {
        auto& [delay, notice] = unordered_notices_[i];
        if (delay > 0) {
            --delay;
            ++i;
            continue;
        }
        const auto next = notice;
        unordered_notices_.erase(unordered_notices_.begin() + static_cast<std::ptrdiff_t>(i));
        deliver(next.first, next.second);
        moved = true;
    }
    for (auto each = flows_.begin(); each != flows_.end();) {
        Flow& flow = each->second;
        while (!flow.packets.empty()) {
            if (flow.packet_delay > 0) {
                --flow.packet_delay;
                break;
            }
            if (flow.packets.front().packet.due > now) {
                break;
            }
            const Delivery next = std::move(flow.packets.front());
            flow.packets.pop_front();
            flow.packet_delay = draw_delay();
            apply(next);
            moved = true;
        }
        while (!flow.notices.empty()) {
            if (flow.notice_delay > 0) {
                --flow.notice_delay;
                break;
            }
            const auto next = flow.notices.front();
            flow.notices.pop_front();
            flow.notice_delay = draw_delay();
            deliver(next.first, next.second);
            moved = true;
        }
        each = flow.packets.empty() && flow.notices.empty() ? flows_.erase(each) : std::next(each);
    }
    return moved;
}

/// Success, or what the sender is told.
int Process::write(const Packet& packet, const std::vector<std::byte>& data, std::uint64_t& old) {
    const Vcq* const vcq = vcq_with_id(packet.to);
    if (vcq == nullptr) {
        return UTOFU_ERR_MRQ_PEER;
    }
    if (registrations.count(packet.target >> 40) == 0) {
        return UTOFU_ERR_MRQ_RMT_STADD;
    }
    const bool word = packet.kind == Packet::Kind::word;
    const std::uint64_t place = packet.target + packet.offset;
    const Registration* const memory = find(place, word ? sizeof old : packet.bytes);
    if (memory == nullptr) {
        return UTOFU_ERR_MRQ_RMT_LENGTH;
    }
    const Vcq* const owner = vcq_of(memory->queue);
    if (owner != vcq || memory->read_only) {
        return UTOFU_ERR_MRQ_RMT_MEMORY;
    }
    std::byte* const to = memory->data + (place - memory->stadd);
    const bool aligned = reinterpret_cast<std::uintptr_t>(to) % sizeof(std::uint64_t) == 0;
    if (word) {
        if (!aligned) {
            return UTOFU_ERR_MRQ_RMT_STADD;
        }
        std::atomic_ref<std::uint64_t> target(*reinterpret_cast<std::uint64_t*>(to));
        old = target.load();
        const std::uint64_t value = packet.value;
        target.store(packet.operation == UTOFU_ARMW_OP_SWAP  ? value
                     : packet.operation == UTOFU_ARMW_OP_ADD ? old + value
                     : packet.operation == UTOFU_ARMW_OP_XOR ? old ^ value
                     : packet.operation == UTOFU_ARMW_OP_AND ? (old & value)
                                                             : (old | value));
    } else if (aligned && packet.bytes == sizeof(std::uint64_t)) {
        std::uint64_t value = 0;
        std::memcpy(&value, data.data(), sizeof value);
        std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(to)).store(value);
    } else {
        std::memcpy(to, data.data(), packet.bytes);
    }
    return UTOFU_SUCCESS;
}

void Process::apply(const Delivery& delivery) {
    const Packet& packet = delivery.packet;
    const auto key = std::pair(packet.from, packet.put);
    const bool word = packet.kind == Packet::Kind::word;
    auto landing = landing_.find(key);
    if (landing == landing_.end()) {
        landing = landing_.emplace(key, Landing{packet.put_bytes, false}).first;
    }
    std::uint64_t old = 0;
    if (!landing->second.failed) {
        const int code = write(packet, delivery.data, old);
        if (code != UTOFU_SUCCESS) {
            landing->second.failed = true;
            answer(packet, code, 0);
        }
    }
    landing->second.left -= word ? landing->second.left : packet.bytes;
    if (landing->second.left > 0) {
        return;
    }
    const bool failed = landing->second.failed;
    landing_.erase(landing);
    if (!failed) {
        notify(packet, old);
        if (packet.wants_answer) {
            answer(packet, UTOFU_SUCCESS, old);
        }
    }
}

void Process::notify(const Packet& packet, std::uint64_t value) {
    if (!packet.wants_notice && !chance(options.unrequested)) {
        return;
    }
    const bool word = packet.kind == Packet::Kind::word;
    MrqEntry entry;
    entry.notice.notice_type = word ? UTOFU_MRQ_TYPE_RMT_ARMW : UTOFU_MRQ_TYPE_RMT_PUT;
    entry.notice.vcq_id = packet.from;
    entry.notice.edata = packet.edata;
    entry.notice.rmt_value = word ? value : random();  // of a put it tells nothing
    entry.notice.lcl_stadd = random();
    entry.notice.rmt_stadd = packet.target + packet.put_bytes;
    if (packet.strong && !options.unordered) {
        Flow& flow = flows_[{packet.from, packet.to}];
        if (flow.notices.empty()) {
            flow.notice_delay = draw_delay();
        }
        flow.notices.emplace_back(packet.to, entry);
    } else {
        unordered_notices_.push_back({draw_delay(), {packet.to, entry}});
    }
}

void Process::answer(const Packet& packet, int code, std::uint64_t value) {
    Packet back;
    back.kind = Packet::Kind::answer;
    back.operation = static_cast<std::uint8_t>(
        packet.kind == Packet::Kind::word ? UTOFU_MRQ_TYPE_LCL_ARMW : UTOFU_MRQ_TYPE_LCL_PUT);
    back.code = code;
    back.from = packet.to;
    back.to = packet.from;
    back.put = packet.put;
    back.edata = packet.edata;
    back.target = packet.target + packet.put_bytes;
    back.value = value;
    answers_.push_back(back);
}

void Process::take_answer(const Packet& packet) {
    asked_.erase(packet.put);
    MrqEntry entry;
    entry.code = packet.code;
    entry.notice.notice_type = packet.operation;
    entry.notice.vcq_id = packet.from & ~path_bit;
    entry.notice.edata = packet.edata;
    entry.notice.rmt_value = packet.operation == UTOFU_MRQ_TYPE_LCL_ARMW ? packet.value : random();
    entry.notice.rmt_stadd = packet.target;
    deliver(packet.to, entry);
}

void Process::deliver(std::uint64_t id, const MrqEntry& entry) {
    Vcq* const vcq = vcq_with_id(id);
    if (vcq == nullptr) {
        return;  // it was freed meanwhile
    }
    HardwareQueue& queue = queues[vcq->interface];
    if (queue.unread >= options.notices) {
        misuse("the queue of notices of network interface %u overflows: %zu places", vcq->interface,
               options.notices);
    }
    ++queue.unread;
    vcq->notices.push_back(entry);
}

}  // namespace emulated_tofu
