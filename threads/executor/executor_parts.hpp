// SPDX-License-Identifier: BSD-3-Clause
// What the workers of one executor share.
#pragma once

#include <utility>

#include "threads/executor/call_queue.hpp"
#include "threads/executor/channels.hpp"
#include "threads/executor/control_messages.hpp"
#include "threads/executor/direct_call.hpp"
#include "threads/executor/executor_options.hpp"
#include "threads/executor/failure.hpp"
#include "threads/executor/in_flight.hpp"
#include "threads/executor/operations.hpp"
#include "threads/executor/peer_reads.hpp"
#include "threads/executor/segment_queue.hpp"
#include "threads/executor/steps.hpp"
#include "threads/executor/stored_calls.hpp"
#include "threads/executor/wake_up.hpp"

namespace trefoil {

/// The shared parts, in the order in which they are built on each other. Each says which thread may
/// do what with it.
struct ExecutorParts {
    ExecutorParts(Channels& its_channels, Engine& engine, ExecutorOptions its_options)
        : channels(its_channels),
          options(std::move(its_options)),
          wake_up(engine.wake_up()),
          in_flight(engine),
          controls(channels, wake_up, engine.letter_boxes(), options.reports),
          direct(channels, engine) {}

    Channels& channels;
    const ExecutorOptions options;
    WakeUp& wake_up;
    InFlight in_flight;
    RoomNeeded room;
    CallQueue calls;
    SegmentQueue queue;
    Failure failure{wake_up, channels.rank};
    PeerReads reads{channels, failure};
    Operations operations{channels, reads, failure};
    Steps steps{operations, reads, in_flight, wake_up, failure};
    StoredCalls stored{channels, calls, room, operations, in_flight, failure};
    ControlMessages controls;
    DirectCalls direct;
};

}  // namespace trefoil
