// SPDX-License-Identifier: BSD-3-Clause
// What a persistent call holds between its starts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator/lane.hpp"
#include "comm/communicator/user_memory.hpp"
#include "comm/plan/plan.hpp"
#include "comm/plan/request.hpp"
#include "threads/executor/direct_call.hpp"

namespace trefoil {

/// Keeps its buffers from being freed, and, where peers may put straight into its receive buffer,
/// registered. Ends before its communicator, when it is not in flight.
class PersistentCall {
  public:
    struct Buffers {
        const void* send = nullptr;
        void* recv = nullptr;  ///< either may be null: then the call does not use it
        BufferBytes bytes;
    };
    PersistentCall(UserMemory& memory, const Request& request, const Buffers& buffers);
    ~PersistentCall();
    PersistentCall(const PersistentCall&) = delete;
    PersistentCall& operator=(const PersistentCall&) = delete;

    /// Finds the messages that may land in the receive buffer, and registers it; also what is sent,
    /// where the transport wants that. What cannot be
    /// registered lands in landing slots, and the log says why. `running` is the call's; it, the
    /// plan and the lane outlive this. Throws bad_alloc.
    void let_land_directly(Lane& lane, const Plan& plan, const RunningCall& running);
    /// Null: all its messages land in landing slots.
    DirectCall* direct() { return direct_ ? &*direct_ : nullptr; }

  private:
    std::vector<DirectCall::Registered> register_at(const std::vector<bool>& groups,
                                                    Engine& engine);
    void register_buffer(int group, void* data, std::size_t bytes, bool for_peers,
                         PortGroup& port_group, std::vector<DirectCall::Registered>& all);

    UserMemory& memory_;
    const std::string name_;
    const Buffers buffers_;
    std::vector<std::uint64_t> uses_;
    Lane* lane_ = nullptr;
    std::optional<DirectCall> direct_;
};

}  // namespace trefoil
