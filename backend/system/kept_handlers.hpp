// SPDX-License-Identifier: BSD-3-Clause
// Signal handlers belong to the program, whatever libraries below do.
#pragma once

#include <signal.h>

#include <array>

namespace trefoil {

/// Libraries install handlers when they are loaded or look for devices: libinfinipath, which comes
/// with libfabric, and UCX. At the end of the scope those are back that were there at its
/// beginning.
class KeptHandlers {
  public:
    KeptHandlers() noexcept;
    ~KeptHandlers();
    KeptHandlers(const KeptHandlers&) = delete;
    KeptHandlers& operator=(const KeptHandlers&) = delete;

  private:
    std::array<struct sigaction, NSIG> before_{};
};

}  // namespace trefoil
