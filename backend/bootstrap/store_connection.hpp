// SPDX-License-Identifier: BSD-3-Clause
// A non-blocking stream of whole messages, as both ends of the store use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "backend/bootstrap/store_socket.hpp"
#include "backend/bootstrap/store_wire.hpp"

namespace trefoil::store {

/// Not thread-safe. No function blocks.
class Connection {
  public:
    explicit Connection(Descriptor socket) : socket_(std::move(socket)) {}

    int number() const { return socket_.number(); }

    void queue(std::shared_ptr<const std::string> message) { out_.push_back(std::move(message)); }
    bool has_output() const { return !out_.empty(); }
    /// Sends what the socket takes; false: the connection is broken.
    bool send_some();
    /// Reads what is there, as long as no more than `most` bytes of input are kept; false: the
    /// other side has ended, or the connection is broken.
    bool receive_some(std::size_t most = SIZE_MAX);

    enum class Next : std::uint8_t { nothing, message, garbage, other_version, too_long };
    /// What lies at the front of the input. A body longer than `limit` is refused unread.
    Next next(std::uint64_t limit, Header& header) const;
    /// The body of the message at the front; valid until the input changes.
    std::string_view body(const Header& header) const;
    void drop(const Header& header) { in_.erase(0, header_bytes + header.body); }

  private:
    Descriptor socket_;
    std::string in_;
    std::deque<std::shared_ptr<const std::string>> out_;  // shared: one result goes to all ranks
    std::size_t sent_ = 0;                                // of the front of out_
};

}  // namespace trefoil::store
