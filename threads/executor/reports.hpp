// SPDX-License-Identifier: BSD-3-Clause
// What ranks write to each other about failures and stalls: records of a fixed form with a check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "threads/executor/cause.hpp"

namespace trefoil {

/// A hash for the records below. Not zero for a record of zeros, as which fresh memory looks.
std::uint64_t check_of(std::span<const std::byte> bytes) noexcept;

/// A text of bounded length. What is too long is cut.
template <std::size_t Capacity>
struct ReportText {
    std::uint32_t length = 0;
    char bytes[Capacity] = {};

    void set(std::string_view text) noexcept {
        length = static_cast<std::uint32_t>(text.copy(bytes, Capacity));
    }
    /// Whatever the record holds, inside its bytes.
    std::string_view view() const noexcept {
        return {bytes, length < Capacity ? length : Capacity};
    }
};

/// A record in memory that peers write: its check says whether it has arrived whole. `Body` is
/// trivially copyable and ends with a ReportText named `text`, of which only the used part travels.
template <typename Body>
struct Report {
    std::uint64_t check = 0;
    Body body{};

    /// Bytes that travel.
    std::size_t bytes() const noexcept {
        return sizeof *this - sizeof body.text.bytes + body.text.view().size();
    }
    void seal() noexcept { check = computed(); }
    /// Not torn, not older memory.
    bool whole() const noexcept { return check == computed(); }

  private:
    std::uint64_t computed() const noexcept {
        const auto all = std::as_bytes(std::span(this, 1));
        return check_of(all.subspan(sizeof check, bytes() - sizeof check));
    }
};

/// A cause, as it travels. Written once per channel.
struct FailureBody {
    std::int32_t status = 0;
    std::int32_t culprit = Cause::nobody;
    std::uint32_t unused = 0;
    ReportText<1000> text{};
};
using FailureReport = Report<FailureBody>;

/// That a rank makes no progress, in which call, and through whose fault, as far as it knows.
struct StallBody {
    std::uint64_t call = 0;       ///< its number among the rank's calls
    std::uint64_t signature = 0;  ///< equal on all ranks that make the same call
    std::int32_t suspect = Cause::nobody;
    ReportText<224> text{};  ///< what is known of the suspect: "rank 4 (...) is stopped"
};
using StallReport = Report<StallBody>;

FailureReport failure_report(const Cause& cause) noexcept;
/// Throws bad_alloc.
Cause cause_of(const FailureReport& report);
StallReport stall_report(std::uint64_t call, std::uint64_t signature, Rank suspect,
                         std::string_view text) noexcept;

/// Where the reports of a channel's sender land, behind the landing slots. Stall reports take turns
/// so that none is overwritten while it may still be read; of one call there are at most
/// `stall_places`.
struct ControlArea {
    static constexpr std::uint32_t stall_places = 8;

    FailureReport failure;
    StallReport stalls[stall_places];
};
inline constexpr std::size_t control_area_bytes = 4096;
static_assert(sizeof(ControlArea) <= control_area_bytes);

}  // namespace trefoil
