// SPDX-License-Identifier: BSD-3-Clause
// Which network interface (TNI) each port takes, among all port groups of the process.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "backend/ports/transport.hpp"
#include "backend/utofu/library.hpp"

namespace trefoil::utofu {

/// The interfaces of a process, and who uses them: the virtual control queues of one interface
/// share a queue of the hardware. Without the flag THREAD_SAFE it bears one thread, so it belongs
/// to one group then; with it, to any number.
class Claims {
  public:
    /// Those of one group. Ends with the group.
    class Hold {
      public:
        Hold(Claims& claims, std::vector<std::size_t> places, bool shared)
            : claims_(claims), places_(std::move(places)), shared_(shared) {}
        ~Hold() { claims_.give_back(*this); }
        Hold(const Hold&) = delete;
        Hold& operator=(const Hold&) = delete;
        bool shared() const { return shared_; }

      private:
        friend class Claims;
        Claims& claims_;
        std::vector<std::size_t> places_;
        bool shared_;
    };
    struct Grant {
        std::shared_ptr<Hold> hold;
        /// By port of the group, the best one first; all of them are the group's to use.
        std::vector<std::vector<Interface>> interfaces;
    };

    static Claims& of_process();

    /// One grant per group of `config`. With `shared` other groups may use the same interfaces;
    /// without, Error(unsupported) where another group has them. Thread-safe.
    std::vector<Grant> claim(const BackendConfig& config, const std::vector<Interface>& all,
                             bool shared);

  private:
    void give_back(const Hold& hold);
    struct Users {
        int alone = 0, shared = 0;
    };
    std::vector<Users> users_;  // by place in the list of interfaces; guarded by a mutex
};

}  // namespace trefoil::utofu
