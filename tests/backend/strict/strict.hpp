// SPDX-License-Identifier: BSD-3-Clause
// Backend "strict": port groups, for tests, as strict as RDMA hardware may be. Everything that
// backend/ports/port_group.hpp allows a transport happens, and what it forbids the caller is found:
//
//  - a put may be refused (`again`), and few are under way at a time;
//  - its source is read late, once, in the middle of nowhere; puts overtake each other at random;
//  - from put() on its place at the target may hold junk; the bytes land in pieces, in any order;
//  - few arrivals wait for the target, which gets them in any order; `sent` comes late, in any
//    order, before or after the arrival;
//  - a source must be registered with the group, with its descriptor, and stay as it is until
//    `sent`; a target must be registered, too, imported by this group, with the right key, of the
//    group that is notified; no two puts under way may overlap there;
//  - memory must not be deregistered while a put of its own reads it;
//  - a group must be used by one thread at a time.
//
// What chance decides is repeated with STRICT_SEED, which each process prints. Threads only.
#pragma once

#include <functional>
#include <string>

#include "backend/ports/transport.hpp"

namespace trefoil::strict {

/// A row for register_transport(); whoever links registration.cpp has it registered.
Transport strict_transport();

/// Who hears of what the contract forbids; a test failure unless told otherwise. Returns the one
/// before. Called by any thread.
using Complaint = std::function<void(const std::string&)>;
Complaint complain_to(Complaint complaint);

/// Counts of what has happened in this process, to show that a test has met it.
struct Encounters {
    unsigned long puts = 0, refused = 0, overtaken = 0, early_sent = 0, late_sent = 0, pieces = 0;
    unsigned long cut = 0;  ///< puts on their way to memory that was deregistered
};
Encounters encounters();

}  // namespace trefoil::strict
