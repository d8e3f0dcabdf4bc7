// SPDX-License-Identifier: BSD-3-Clause
// What the workers of one executor share.
#pragma once

#include <utility>

#include "threads/executor/channels.hpp"
#include "threads/executor/control_messages.hpp"
#include "threads/executor/executor_options.hpp"
#include "threads/executor/failure.hpp"
#include "threads/executor/operations.hpp"
#include "threads/executor/peer_reads.hpp"
#include "threads/executor/segment_queue.hpp"
#include "threads/executor/steps.hpp"
#include "threads/executor/wake_up.hpp"

namespace trefoil {

/// The shared parts, in the order in which they are built on each other. Each says which thread may
/// do what with it.
struct ExecutorParts {
    ExecutorParts(Channels& its_channels, ExecutorOptions its_options)
        : channels(its_channels), options(std::move(its_options)) {}

    Channels& channels;
    const ExecutorOptions options;
    SegmentQueue queue;
    WakeUp wake_up{channels.groups};
    Failure failure{wake_up};
    PeerReads reads{channels, failure};
    Operations operations{channels, reads, failure};
    Steps steps{operations, reads, wake_up, failure};
    ControlMessages controls{channels, wake_up};
};

}  // namespace trefoil
