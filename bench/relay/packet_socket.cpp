// SPDX-License-Identifier: BSD-3-Clause
// The packet socket of the relay: many frames per system call, stamped by the kernel.
#include "bench/relay/packet_socket.hpp"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <system_error>

#include "topo/error.hpp"

namespace trefoil::relay {

namespace {

constexpr int buffer_bytes = 64 << 20;  // until the relay gets a processor

[[noreturn]] void fail(const std::string& what) {
    throw Error(Status::system_error,
                what + ": " + std::generic_category().message(errno) + "; it needs root");
}

void set(int file, int level, int option, int value, const char* what) {
    if (setsockopt(file, level, option, &value, sizeof value) != 0) {
        fail(what);
    }
}

Time real_time() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return Time{1000000000} * now.tv_sec + now.tv_nsec;
}

/// Since the kernel's stamp; 0 where there is none, or the clock was set meanwhile.
Time age_of(msghdr& message, Time now) {
    for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
        if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SCM_TIMESTAMPNS) {
            timespec stamp{};
            std::memcpy(&stamp, CMSG_DATA(one), sizeof stamp);
            const Time age = now - (Time{1000000000} * stamp.tv_sec + stamp.tv_nsec);
            return age >= 0 && age < 1000000000 ? age : 0;
        }
    }
    return 0;
}

}  // namespace

/// What the system calls read and write, kept so that only what changes is set for each batch.
struct PacketSocket::Batch {
    static constexpr std::size_t size = 64;
    struct Stamp {
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(timespec))> bytes;
    };
    std::array<mmsghdr, size> messages{};
    std::array<iovec, size> pieces{};
    std::array<sockaddr_ll, size> addresses{};
    std::array<Stamp, size> stamps{};

    Batch() {
        for (std::size_t i = 0; i < size; ++i) {
            messages[i].msg_hdr.msg_name = &addresses[i];
            messages[i].msg_hdr.msg_namelen = sizeof addresses[i];
            messages[i].msg_hdr.msg_iov = &pieces[i];
            messages[i].msg_hdr.msg_iovlen = 1;
            addresses[i].sll_family = AF_PACKET;
        }
    }
};

PacketSocket::PacketSocket()
    : incoming_(std::make_unique<Batch>()),
      outgoing_(std::make_unique<Batch>()),
      file_(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL))) {
    if (file_ < 0) {
        fail("cannot open a packet socket");
    }
    set(file_, SOL_PACKET, PACKET_VNET_HDR, 1, "PACKET_VNET_HDR");
    set(file_, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING");
    set(file_, SOL_PACKET, PACKET_QDISC_BYPASS, 1, "PACKET_QDISC_BYPASS");
    set(file_, SOL_SOCKET, SO_TIMESTAMPNS, 1, "SO_TIMESTAMPNS");
    set(file_, SOL_SOCKET, SO_RCVBUFFORCE, buffer_bytes, "SO_RCVBUFFORCE");
    set(file_, SOL_SOCKET, SO_SNDBUFFORCE, buffer_bytes, "SO_SNDBUFFORCE");
}

PacketSocket::~PacketSocket() {
    close(file_);
}

std::span<const Arrival> PacketSocket::receive(Frames& frames) {
    Batch& batch = *incoming_;
    while (slots_.size() < Batch::size && frames.free() > 0) {
        slots_.push_back(frames.take());  // kept for the next call if nothing comes into them
    }
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        batch.pieces[i] = {frames.bytes(slots_[i]), Frames::slot_bytes};
        batch.messages[i].msg_hdr.msg_namelen = sizeof batch.addresses[i];
        batch.messages[i].msg_hdr.msg_control = batch.stamps[i].bytes.data();
        batch.messages[i].msg_hdr.msg_controllen = batch.stamps[i].bytes.size();
    }
    const int got = recvmmsg(file_, batch.messages.data(), static_cast<unsigned>(slots_.size()),
                             MSG_DONTWAIT, nullptr);
    arrivals_.resize(static_cast<std::size_t>(std::max(got, 0)));
    const Time now = real_time();
    for (std::size_t i = 0; i < arrivals_.size(); ++i) {
        arrivals_[i] = {slots_[i], batch.addresses[i].sll_ifindex,
                        age_of(batch.messages[i].msg_hdr, now), batch.messages[i].msg_len};
    }
    slots_.erase(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(arrivals_.size()));
    return arrivals_;
}

std::size_t PacketSocket::send(Frames& frames, std::span<const Slot> slots) {
    Batch& batch = *outgoing_;
    std::size_t failed = 0;
    while (!slots.empty()) {
        const std::size_t count = std::min(Batch::size, slots.size());
        for (std::size_t i = 0; i < count; ++i) {
            const Frame& frame = frames.frame(slots[i]);
            batch.pieces[i] = {frames.bytes(slots[i]), frame.length};
            batch.addresses[i].sll_ifindex = frame.interface;
        }
        const int sent = sendmmsg(file_, batch.messages.data(), static_cast<unsigned>(count), 0);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        failed += sent <= 0 ? 1 : 0;  // the first one; the others get their chance
        slots = slots.subspan(sent <= 0 ? 1 : static_cast<std::size_t>(sent));
    }
    return failed;
}

std::uint64_t PacketSocket::dropped() const {
    tpacket_stats counts{};
    socklen_t size = sizeof counts;
    getsockopt(file_, SOL_PACKET, PACKET_STATISTICS, &counts, &size);
    return counts.tp_drops;
}

}  // namespace trefoil::relay
