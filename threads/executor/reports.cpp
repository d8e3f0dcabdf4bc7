// SPDX-License-Identifier: BSD-3-Clause
// Reports as bytes.
#include "threads/executor/reports.hpp"

#include "topo/blob.hpp"

namespace trefoil {

namespace {
constexpr std::size_t longest_text = 1024;
}  // namespace

std::string encode(const Cause& cause, std::size_t longest) {
    BlobWriter blob;
    blob.number(static_cast<std::int32_t>(cause.status));
    blob.blame(cause.blame);
    blob.number(cause.names_calls);
    blob.text(std::string_view(cause.text).substr(0, longest));
    return blob.bytes();
}

Cause decode_cause(std::string_view bytes) {
    BlobReader blob(bytes);
    Cause cause;
    const auto status = static_cast<Status>(blob.number<std::int32_t>());
    const bool known = status > Status::success && status <= last_status;
    cause.status = known ? status : Status::peer_lost;
    cause.blame = blob.blame();
    cause.names_calls = blob.number<std::uint8_t>() != 0;
    cause.text = blob.text();
    return cause;
}

std::string encode(const StallReport& report) {
    BlobWriter blob;
    blob.number(report.call);
    blob.number(report.signature);
    blob.text(std::string_view(report.during).substr(0, longest_text));
    blob.blame(report.suspect);
    blob.text(std::string_view(report.text).substr(0, longest_text));
    return blob.bytes();
}

StallReport decode_stall(std::string_view bytes) {
    BlobReader blob(bytes);
    StallReport report;
    report.call = blob.number<std::uint64_t>();
    report.signature = blob.number<std::uint64_t>();
    report.during = blob.text();
    report.suspect = blob.blame();
    report.text = blob.text();
    return report;
}

}  // namespace trefoil
