// SPDX-License-Identifier: BSD-3-Clause
// What a persistent call holds between its starts.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/communicator/user_memory.hpp"
#include "comm/plan/request.hpp"

namespace trefoil {

/// Keeps its buffers from being freed. Ends before its communicator.
class PersistentCall {
  public:
    /// `rank` is this one. Either vector may be null: then the call does not use it.
    PersistentCall(UserMemory& memory, const Request& request, const Torus& torus, Rank rank,
                   const void* send, const void* recv);
    ~PersistentCall();
    PersistentCall(const PersistentCall&) = delete;
    PersistentCall& operator=(const PersistentCall&) = delete;

  private:
    UserMemory& memory_;
    std::vector<std::uint64_t> uses_;
};

}  // namespace trefoil
