// SPDX-License-Identifier: BSD-3-Clause
// The store's messages as bytes: a fixed header, then fields in little-endian order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "topo/error.hpp"

namespace trefoil::store {

inline constexpr std::uint16_t version = 3;
inline constexpr std::size_t header_bytes = 16;
inline constexpr std::size_t job_name_limit = 512;
/// Of a message of one who is not known yet.
inline constexpr std::uint64_t stranger_limit = 1024;
/// Of the text that tells why a rank gives up.
inline constexpr std::size_t cause_limit = 8192;
/// Of one rank's blob, and of all blobs of an allgather together.
inline constexpr std::uint64_t allgather_limit = std::uint64_t{256} << 20;

enum class Kind : std::uint16_t {
    hello = 1,      ///< client: nonce (16), whether it has a token (4)
    welcome = 2,    ///< server: nothing
    allgather = 3,  ///< client: number (8), limit in milliseconds (8), blob (rest)
    result = 4,     ///< server: number (8), then for each rank length (8) and blob
    error = 5,      ///< server: status (4), text (rest); the same in all versions
    abandon = 6,    ///< client: a cause: why this rank comes to no further allgather
    cause = 7,      ///< server: a cause: what a rank has said when it gave up
    challenge = 8,  ///< server: nonce (16), whether it asks for a token (4), proof (32)
    join = 9,     ///< client: proof (32), claim: rank (4), ranks (4), origin (8), job's name (rest)
    failure = 10  ///< server: a cause: why a job has failed, as the server has found
};

/// What opens every message: mark (4), version (2), kind (2), length of the body (8).
struct Header {
    std::uint16_t version = 0;
    Kind kind = Kind::error;
    std::uint64_t body = 0;
};

/// Builds a message field by field.
class Message {
  public:
    explicit Message(Kind kind);
    Message& number32(std::uint32_t value);
    Message& number64(std::uint64_t value);
    Message& bytes(std::string_view value);
    /// The whole message, its length filled in.
    std::string finish() &&;

  private:
    std::string text_;
};

/// Null when the bytes (at least header_bytes of them) are not the store's language.
std::optional<Header> read_header(std::string_view bytes);

/// Reads fields off the front of a body. Reading past the end gives zeros and clears good().
class Fields {
  public:
    explicit Fields(std::string_view body) : body_(body) {}
    std::uint32_t number32() { return static_cast<std::uint32_t>(number(4)); }
    std::uint64_t number64() { return number(8); }
    std::string_view bytes(std::uint64_t count);
    std::string_view rest() { return bytes(body_.size()); }
    bool good() const { return good_; }
    bool at_end() const { return body_.empty(); }

  private:
    std::uint64_t number(std::size_t count);

    std::string_view body_;
    bool good_ = true;
};

/// A message of kind `error`.
std::string error_message(Status status, std::string_view text);
/// The body of such a message.
Error read_error(std::string_view body);
/// A message of a kind that brings a cause: status (4), culprit (4), evidence (4), finder (4),
/// since in microseconds of 1970 (8), text (rest), of which `cause_limit` bytes are kept.
std::string cause_message(Kind kind, const Error& cause);
Error read_cause(std::string_view body);

}  // namespace trefoil::store
