// SPDX-License-Identifier: BSD-3-Clause
// The relay's loop: send what is due, take what has come, sleep until the next is due.
#include "bench/relay/relay.hpp"

#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <system_error>

#include "topo/error.hpp"

namespace trefoil::relay {

namespace {

constexpr Time second = 1000000000;
constexpr Time awake = 60000;         // before a frame is due
constexpr Time awake_share = 10;      // a tenth of the time at most, and
constexpr Time most_budget = 200000;  // so much at once

Time clock_now() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return second * now.tv_sec + now.tv_nsec;
}

int listen_at(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        throw Error(Status::invalid_argument, path + " is too long for a socket's name");
    }
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (file < 0 || bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(file, 8) != 0) {
        throw Error(Status::system_error,
                    path + ": " + std::generic_category().message(errno) + "; remove it");
    }
    return file;
}

}  // namespace

Relay::Relay(Ways ways, const std::string& report)
    : ways_(std::move(ways)), counts_(clock_now()), listener_(listen_at(report)), report_(report) {}

Relay::~Relay() {
    close(listener_);
    unlink(report_.c_str());
}

void Relay::run(const volatile int& stop) {
    while (stop == 0 && !gone_) {
        send_due();
        if (!receive()) {
            wait();
        }
    }
}

bool Relay::receive() {
    const auto arrivals = socket_.receive(frames_);
    const Time now = clock_now();
    for (const Arrival& arrival : arrivals) {
        const auto found = ways_.find(arrival.interface);
        const bool whole = arrival.length > PacketSocket::note_bytes;
        if (found == ways_.end() || !whole) {
            frames_.give_back(arrival.slot);
            continue;
        }
        Way& way = found->second;
        const std::size_t length = arrival.length - PacketSocket::note_bytes;
        const Wire::Passage passage = way.wire.enter(now - arrival.age, length);
        const std::span<const std::byte> frame(
            frames_.bytes(arrival.slot) + PacketSocket::note_bytes, length);
        frames_.frame(arrival.slot) = {way.interface, arrival.length};
        frames_.schedule(arrival.slot, ends_at(frame, way.node) ? passage.tail : passage.head);
    }
    return !arrivals.empty();
}

void Relay::send_due() {
    const Time now = clock_now();
    leaving_.clear();
    while (!frames_.empty() && frames_.next_due() <= now) {
        const Time late = now - frames_.next_due();
        const Slot slot = frames_.take_due();
        counts_.sent(frames_.frame(slot).length - PacketSocket::note_bytes, late);
        leaving_.push_back(slot);
    }
    if (leaving_.empty()) {
        return;
    }
    counts_.lost(socket_.send(frames_, leaving_));
    for (const Slot slot : leaving_) {
        frames_.give_back(slot);
    }
}

/// A sleeper is woken some tens of microseconds late. So the last of them are spent awake, as long
/// as that takes no more than a share of the time in all.
Time Relay::sleep_until_due(Time now) {
    const Time left = std::clamp<Time>(frames_.next_due() - now, 0, second);
    budget_ = std::min(most_budget, budget_ + (now - budgeted_at_) / awake_share);
    budgeted_at_ = now;
    if (budget_ <= 0) {
        return left;
    }
    if (left > awake) {
        return left - awake;
    }
    while (clock_now() < frames_.next_due()) {
    }
    budget_ -= left;
    return 0;
}

/// Until something comes, or the next frame is due; all slots taken: for the latter alone.
void Relay::wait() {
    const Time left = frames_.empty() ? second : sleep_until_due(clock_now());
    if (left == 0) {
        return;
    }
    const timespec time{left / second, left % second};
    std::array<pollfd, 2> files{{{listener_, POLLIN, 0}, {socket_.file(), POLLIN, 0}}};
    sigset_t none;
    sigemptyset(&none);
    const int ready = ppoll(files.data(), frames_.free() > 0 ? 2 : 1, &time, &none);
    if ((files[0].revents & POLLIN) != 0) {
        answer();
    }
    // A network that was removed takes its interfaces along; nobody may tell the relay.
    if (ready == 0 && left == second) {
        gone_ = !any_interface();
    } else if ((files[1].revents & POLLERR) != 0) {
        int error = 0;
        socklen_t size = sizeof error;
        getsockopt(socket_.file(), SOL_SOCKET, SO_ERROR, &error, &size);
        gone_ = !any_interface();
    }
}

void Relay::answer() {
    const int file = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (file < 0) {
        return;
    }
    counts_.lost(socket_.dropped());
    const std::string text = counts_.json(clock_now());
    // Who does not read it all at once gets a part: the relay waits for nobody.
    [[maybe_unused]] const ssize_t sent = send(file, text.data(), text.size(), MSG_NOSIGNAL);
    close(file);
}

bool Relay::any_interface() const {
    std::array<char, IF_NAMESIZE> name{};
    return std::ranges::any_of(ways_, [&](const auto& way) {
        return if_indextoname(static_cast<unsigned>(way.first), name.data()) != nullptr;
    });
}

}  // namespace trefoil::relay
