// SPDX-License-Identifier: BSD-3-Clause
// Encoding and decoding of the store's messages.
#include "backend/bootstrap/store_wire.hpp"

namespace trefoil::store {

namespace {

constexpr std::uint32_t mark = 0x53465254;  // "TRFS"
constexpr std::size_t length_at = 8;

void append(std::string& text, std::uint64_t value, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        text.push_back(static_cast<char>(value >> (8 * i) & 0xff));
    }
}

}  // namespace

Message::Message(Kind kind) {
    append(text_, mark, 4);
    append(text_, version, 2);
    append(text_, static_cast<std::uint16_t>(kind), 2);
    append(text_, 0, 8);
}

Message& Message::number32(std::uint32_t value) {
    append(text_, value, 4);
    return *this;
}

Message& Message::number64(std::uint64_t value) {
    append(text_, value, 8);
    return *this;
}

Message& Message::bytes(std::string_view value) {
    text_.append(value);
    return *this;
}

std::string Message::finish() && {
    std::string length;
    append(length, text_.size() - header_bytes, 8);
    text_.replace(length_at, length.size(), length);
    return std::move(text_);
}

std::optional<Header> read_header(std::string_view bytes) {
    Fields fields(bytes.substr(0, header_bytes));
    const bool ours = fields.number32() == mark;
    Header header;
    const std::uint32_t both = fields.number32();
    header.version = static_cast<std::uint16_t>(both & 0xffff);
    header.kind = static_cast<Kind>(both >> 16);
    header.body = fields.number64();
    if (!ours || !fields.good()) {
        return std::nullopt;
    }
    return header;
}

std::string_view Fields::bytes(std::uint64_t count) {
    if (count > body_.size()) {
        good_ = false;
        body_ = {};
        return {};
    }
    const std::string_view piece = body_.substr(0, count);
    body_.remove_prefix(count);
    return piece;
}

std::uint64_t Fields::number(std::size_t count) {
    const std::string_view piece = bytes(count);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < piece.size(); ++i) {
        value |= static_cast<std::uint64_t>(static_cast<unsigned char>(piece[i])) << (8 * i);
    }
    return value;
}

namespace {

Status read_status(Fields& fields) {
    const std::uint32_t number = fields.number32();
    const bool known = number > 0 && number <= static_cast<std::uint32_t>(last_status);
    return known ? static_cast<Status>(number) : Status::internal;
}

}  // namespace

std::string error_message(Status status, std::string_view text) {
    Message message(Kind::error);
    message.number32(static_cast<std::uint32_t>(status)).bytes(text);
    return std::move(message).finish();
}

Error read_error(std::string_view body) {
    Fields fields(body);
    const Status status = read_status(fields);
    return {status, std::string(fields.rest())};
}

std::string cause_message(Kind kind, const Error& cause) {
    using std::chrono::microseconds;
    const Blame& blame = cause.blame();
    const auto since = std::chrono::duration_cast<microseconds>(blame.since.time_since_epoch());
    Message message(kind);
    message.number32(static_cast<std::uint32_t>(cause.status()))
        .number32(static_cast<std::uint32_t>(blame.culprit))
        .number32(static_cast<std::uint32_t>(blame.evidence))
        .number32(static_cast<std::uint32_t>(blame.finder))
        .number64(static_cast<std::uint64_t>(since.count()))
        .bytes(std::string_view(cause.what()).substr(0, cause_limit));
    return std::move(message).finish();
}

Error read_cause(std::string_view body) {
    Fields fields(body);
    const Status status = read_status(fields);
    Blame blame(static_cast<std::int32_t>(fields.number32()));
    const std::uint32_t evidence = fields.number32();
    const bool known = evidence <= static_cast<std::uint32_t>(last_evidence);
    blame.evidence = known ? static_cast<Evidence>(evidence) : Evidence::none;
    blame.finder = static_cast<std::int32_t>(fields.number32());
    const std::uint64_t since = fields.number64();
    constexpr std::uint64_t most = 4'000'000'000'000'000;  // in the year 2096
    const bool can_be = fields.good() && blame.culprit >= Blame::nobody &&
                        blame.finder >= Blame::nobody && since <= most;
    blame.since += std::chrono::microseconds(can_be ? since : 0);
    return {status, std::string(fields.rest()), can_be ? blame : Blame()};
}

}  // namespace trefoil::store
