// SPDX-License-Identifier: BSD-3-Clause
// What ranks write to each other about failures and stalls.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "threads/executor/cause.hpp"

namespace trefoil {

/// The first byte of a letter says what it is.
enum class LetterKind : char {
    failure = 'F',   ///< of a communicator: why it has failed
    stall = 'S',     ///< of a communicator: a StallReport
    direct = 'D',    ///< of a lane: about persistent calls; for DirectCalls
    agreement = 'A'  ///< of no communicator: for Engine::on_letter()
};

/// That a rank makes no progress, in which call, and through whose fault, as far as it knows.
struct StallReport {
    std::uint64_t call = 0;       ///< its number among the rank's calls
    std::uint64_t signature = 0;  ///< equal on all ranks that make the same call
    std::string during{};         ///< the call in words
    Blame suspect{};              ///< a rank of the communicator
    std::string text{};           ///< what is known of the suspect: "rank 4 (...) is stopped"
};

/// Texts of a letter, without its kind. What is longer than `longest`, or a KiB, is cut. Throw
/// bad_alloc; the readers Error(mismatch) when the bytes are no such report.
std::string encode(const Cause& cause, std::size_t longest = 1024);
std::string encode(const StallReport& report);
Cause decode_cause(std::string_view bytes);
StallReport decode_stall(std::string_view bytes);

}  // namespace trefoil
