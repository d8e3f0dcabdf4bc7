// SPDX-License-Identifier: BSD-3-Clause
// Filling and reading reports.
#include "threads/executor/reports.hpp"

#include <type_traits>

namespace trefoil {

static_assert(std::is_trivially_copyable_v<FailureReport>);
static_assert(std::is_trivially_copyable_v<StallReport>);
// No padding: all bytes of a record are compared.
static_assert(sizeof(FailureReport) == 8 + 3 * 4 + 4 + 1000);
static_assert(sizeof(StallReport) == 8 + 2 * 8 + 4 + 4 + 224);

std::uint64_t check_of(std::span<const std::byte> bytes) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const std::byte byte : bytes) {
        hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3ULL;
    }
    return hash;
}

FailureReport failure_report(const Cause& cause) noexcept {
    FailureReport report;
    report.body.status = static_cast<std::int32_t>(cause.status);
    report.body.culprit = static_cast<std::int32_t>(cause.culprit);
    report.body.text.set(cause.text);
    report.seal();
    return report;
}

Cause cause_of(const FailureReport& report) {
    Cause cause;
    const auto status = static_cast<Status>(report.body.status);
    const bool known = status > Status::success && status <= Status::internal;
    cause.status = known ? status : Status::peer_lost;
    cause.culprit = static_cast<Rank>(report.body.culprit);
    cause.text = report.body.text.view();
    return cause;
}

StallReport stall_report(std::uint64_t call, std::uint64_t signature, Rank suspect,
                         std::string_view text) noexcept {
    StallReport report;
    report.body.call = call;
    report.body.signature = signature;
    report.body.suspect = static_cast<std::int32_t>(suspect);
    report.body.text.set(text);
    report.seal();
    return report;
}

}  // namespace trefoil
