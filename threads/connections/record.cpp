// SPDX-License-Identifier: BSD-3-Clause
// Sealing and checking of records.
#include "threads/connections/record.hpp"

#include <cstring>

#include "threads/kernels/checksum.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

/// Of bytes whose own check is zero.
template <typename Sealed>
std::uint32_t check_of(std::byte* bytes, std::size_t count, const Proof& proof) noexcept {
    std::memset(bytes + offsetof(Sealed, check), 0, sizeof(std::uint32_t));
    return crc32c(bytes, count) ^ proof.bytes;
}

constexpr std::size_t entry_header = 1 + sizeof(std::uint32_t);

}  // namespace

std::size_t write_record(std::byte* place, std::uint64_t number, std::string_view payload,
                         const Proof& proof) noexcept {
    RecordHeader header{number, static_cast<std::uint32_t>(payload.size()), 0};
    std::memcpy(place, &header, sizeof header);
    std::memcpy(place + sizeof header, payload.data(), payload.size());
    const std::size_t bytes = sizeof header + payload.size();
    header.check = check_of<RecordHeader>(place, bytes, proof);
    std::memcpy(place, &header, sizeof header);
    return bytes;
}

std::optional<RecordView> read_record(const std::byte* place, RecordCopy& copy, const Proof& proof,
                                      std::size_t longest) noexcept {
    std::memcpy(copy, place, sizeof(RecordHeader) + longest);
    RecordHeader header;
    std::memcpy(&header, copy, sizeof header);
    if (header.bytes > longest ||
        header.check != check_of<RecordHeader>(copy, sizeof header + header.bytes, proof)) {
        return std::nullopt;
    }
    return RecordView{header.number,
                      {reinterpret_cast<const char*>(copy) + sizeof header, header.bytes}};
}

void write_answer(std::byte* place, std::uint64_t number, bool has_tried,
                  const Proof& proof) noexcept {
    Answer answer{number, has_tried ? 1U : 0U, 0};
    std::memcpy(place, &answer, sizeof answer);
    answer.check = check_of<Answer>(place, sizeof answer, proof);
    std::memcpy(place, &answer, sizeof answer);
}

std::optional<Answer> read_answer(const std::byte* place, const Proof& proof) noexcept {
    std::byte copy[sizeof(Answer)];
    std::memcpy(copy, place, sizeof copy);
    Answer answer;
    std::memcpy(&answer, copy, sizeof answer);
    if (answer.check != check_of<Answer>(copy, sizeof copy, proof)) {
        return std::nullopt;
    }
    return answer;
}

void append_entry(std::string& stream, std::uint8_t kind, std::string_view body) {
    if (body.size() > entry_limit) {
        throw Error(Status::internal, "an entry of " + std::to_string(body.size()) +
                                          " bytes is too long for a mailbox; please report this");
    }
    const auto length = static_cast<std::uint32_t>(body.size());
    char header[entry_header] = {static_cast<char>(kind)};
    std::memcpy(header + 1, &length, sizeof length);
    stream.reserve(stream.size() + sizeof header + body.size());  // whole or not at all
    stream.append(header, sizeof header);
    stream.append(body);
}

std::optional<StreamEntry> first_entry(std::string_view stream) {
    if (stream.size() < entry_header) {
        return std::nullopt;
    }
    std::uint32_t length = 0;
    std::memcpy(&length, stream.data() + 1, sizeof length);
    if (length > entry_limit) {
        throw Error(Status::mismatch,
                    "a peer's message cannot be read; do all ranks run the same "
                    "version of Trefoil?");
    }
    if (stream.size() - entry_header < length) {
        return std::nullopt;
    }
    return StreamEntry{static_cast<std::uint8_t>(stream[0]), stream.substr(entry_header, length),
                       entry_header + length};
}

}  // namespace trefoil
