// SPDX-License-Identifier: BSD-3-Clause
// What the store tells people about those whom it did not let in: one line per kind, now and then.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

namespace trefoil::store {

enum class Refusal : std::uint8_t {
    garbage,   ///< does not speak the store's language
    language,  ///< speaks another version of it
    too_long,  ///< announces more than may be sent
    order,     ///< says what is out of place
    late,      ///< has not said in time who it is
    crowded,   ///< the same, while others wait for its place
    token,     ///< does not know the job's token
    place      ///< claims a rank that cannot be its own
};
inline constexpr std::size_t refusal_kinds = 8;

/// Not thread-safe. Says the first of each kind at once, then at most one line in `pause` for each,
/// with the number of those that came meanwhile; at its end, what has not been said.
class Refusals {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds pause{60};

    /// `store`: "127.0.0.1:7000".
    explicit Refusals(std::string store) : store_(std::move(store)) {}
    ~Refusals();
    Refusals(const Refusals&) = delete;
    Refusals& operator=(const Refusals&) = delete;

    /// `why`: as the stranger is told, if it is told at all.
    void note(Refusal kind, const std::string& from, const std::string& why, Clock::time_point now);

  private:
    struct Kind {
        std::uint64_t unsaid = 0;
        std::string last;  ///< who, and why
        Clock::time_point quiet_until;
    };
    void say(Kind& kind, Clock::time_point now);

    std::string store_;
    std::array<Kind, refusal_kinds> kinds_;
};

}  // namespace trefoil::store
