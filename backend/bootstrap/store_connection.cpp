// SPDX-License-Identifier: BSD-3-Clause
// Reading and writing of the store's messages without blocking.
#include "backend/bootstrap/store_connection.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace trefoil::store {

namespace {

bool is_passing(int error) {
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

bool Connection::send_some() {
    while (!out_.empty()) {
        const std::string& message = *out_.front();
        const ssize_t count =
            send(socket_.number(), message.data() + sent_, message.size() - sent_, MSG_NOSIGNAL);
        if (count < 0) {
            return is_passing(errno);
        }
        sent_ += static_cast<std::size_t>(count);
        if (sent_ == message.size()) {
            out_.pop_front();
            sent_ = 0;
        }
    }
    return true;
}

bool Connection::receive_some(std::size_t most) {
    std::array<char, 65536> piece;
    // A bounded number of pieces, so that one rank with much to say does not keep the others.
    for (int i = 0; i < 64 && in_.size() < most; ++i) {
        const std::size_t room = std::min(piece.size(), most - in_.size());
        const ssize_t count = recv(socket_.number(), piece.data(), room, 0);
        if (count < 0) {
            return is_passing(errno);
        }
        if (count == 0) {
            return false;
        }
        in_.append(piece.data(), static_cast<std::size_t>(count));
        if (static_cast<std::size_t>(count) < room) {
            return true;
        }
    }
    return true;
}

Connection::Next Connection::next(std::uint64_t limit, Header& header) const {
    if (in_.size() < header_bytes) {
        return Next::nothing;
    }
    const auto found = read_header(in_);
    if (!found) {
        return Next::garbage;
    }
    header = *found;
    // An error says the same in all versions, and is what explains another version.
    if (header.version != version && header.kind != Kind::error) {
        return Next::other_version;
    }
    if (header.body > limit) {
        return Next::too_long;
    }
    return in_.size() - header_bytes < header.body ? Next::nothing : Next::message;
}

std::string_view Connection::body(const Header& header) const {
    return std::string_view(in_).substr(header_bytes, header.body);
}

}  // namespace trefoil::store
