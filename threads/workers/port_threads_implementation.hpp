// SPDX-License-Identifier: BSD-3-Clause
// What the kinds of port threads have in common.
#pragma once

#include "threads/workers/port_threads.hpp"

namespace trefoil {

class PortThreads::Implementation {
  public:
    virtual ~Implementation() = default;
    virtual int threads() const = 0;
    virtual bool caller_works() const = 0;
    virtual void require_usable() const {}
    virtual bool serves() const { return false; }
    virtual bool spins() const { return false; }
    virtual void start(void (*)(void*, int), void*) {}
    virtual void finish() {}
    virtual bool run(void (*call)(void*, int), void* work) = 0;
};

}  // namespace trefoil
