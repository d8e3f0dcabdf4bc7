// SPDX-License-Identifier: BSD-3-Clause
// What a peer has told of itself through one incoming channel.
#pragma once

#include <cstdint>
#include <optional>

#include "threads/executor/channel_uses.hpp"
#include "threads/executor/notification.hpp"

namespace trefoil {

/// Written by the owner of the channel's group; read by worker 0. Each word stands for itself and
/// orders nothing, so all accesses are relaxed.
class PeerNews {
  public:
    void take(Control kind, std::uint32_t number) noexcept;

    /// The channel works. Of interest to the thread that greets, which then polls all groups.
    bool greeted() const { return greeted_; }
    bool left() const { return left_.load(std::memory_order_relaxed); }
    /// Control::mismatch or Control::failed; nullopt: the peer has reported no failure.
    std::optional<Control> failure() const {
        const std::uint32_t kind = failed_.load(std::memory_order_relaxed);
        return kind == 0 ? std::nullopt : std::optional(static_cast<Control>(kind));
    }
    /// The number, modulo Notification::use_modulus, is that of the last set-up that the peer has
    /// announced.
    bool prepares(std::uint32_t number) const {
        return connecting_.load(std::memory_order_relaxed) == number % Notification::use_modulus;
    }

  private:
    static constexpr std::uint32_t nothing = ~0U;

    bool greeted_ = false;
    CopyableAtomic<bool> left_{false};
    CopyableAtomic<std::uint32_t> failed_{0};
    CopyableAtomic<std::uint32_t> connecting_{nothing};
};

}  // namespace trefoil
