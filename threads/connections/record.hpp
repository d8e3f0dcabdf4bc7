// SPDX-License-Identifier: BSD-3-Clause
// What lies in a place of a mailbox: a piece of a stream of entries, or the answer to one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "threads/connections/mailbox.hpp"

namespace trefoil {

/// What only the two ranks of a connection know, for one direction of it. It keeps strangers out;
/// it does not hide what is written.
struct Proof {
    std::uint32_t signal = 0;  ///< in notifications
    std::uint32_t bytes = 0;   ///< in what is written
};

/// Ahead of a record's bytes. Records of a direction are numbered from 1.
struct RecordHeader {
    std::uint64_t number = 0;
    std::uint32_t bytes = 0;
    std::uint32_t check = 0;
};
struct Answer {
    std::uint64_t number = 0;     ///< of the record that has been taken
    std::uint32_t has_tried = 0;  ///< 1: a trial has come
    std::uint32_t check = 0;
};
inline constexpr std::size_t record_payload = MailboxLayout::record_bytes - sizeof(RecordHeader);
inline constexpr std::size_t urgent_payload = MailboxLayout::urgent_bytes - sizeof(RecordHeader);
static_assert(sizeof(Answer) <= MailboxLayout::answer_bytes);

/// Writes a record of at most record_payload or urgent_payload bytes to `place`; returns how many
/// bytes travel.
std::size_t write_record(std::byte* place, std::uint64_t number, std::string_view payload,
                         const Proof& proof) noexcept;
/// Of memory that others may write meanwhile: `copy` is where the record is checked, and what the
/// result points into. None: it is torn, or of a stranger.
struct RecordView {
    std::uint64_t number = 0;
    std::string_view payload;
};
using RecordCopy = std::byte[std::max(MailboxLayout::record_bytes, MailboxLayout::urgent_bytes)];
/// `longest`: its payload.
std::optional<RecordView> read_record(const std::byte* place, RecordCopy& copy, const Proof& proof,
                                      std::size_t longest = record_payload) noexcept;

void write_answer(std::byte* place, std::uint64_t number, bool has_tried,
                  const Proof& proof) noexcept;
std::optional<Answer> read_answer(const std::byte* place, const Proof& proof) noexcept;

/// A connection's stream is entries one behind the other: a kind, a length, so many bytes.
inline constexpr std::size_t entry_limit = std::size_t{1} << 20;
void append_entry(std::string& stream, std::uint8_t kind, std::string_view body);
struct StreamEntry {
    std::uint8_t kind = 0;
    std::string_view body;
    std::size_t bytes = 0;  ///< that it takes of the stream
};
/// The first entry of a stream, if it is there whole. Throws Error(mismatch) for one that is longer
/// than any.
std::optional<StreamEntry> first_entry(std::string_view stream);

}  // namespace trefoil
