// SPDX-License-Identifier: BSD-3-Clause
// How a libfabric port group sleeps.
//
// fi_cq_sread alone would not do: fi_cq_signal ends it, but one that comes just before it sleeps is
// lost (libfabric 1.17). Polling the queue's files alone would not do either: in provider net they
// stay readable after traffic until somebody sleeps in fi_cq_sread. So a sleep is a poll of the
// files and the doorbell; one that follows a poll which the files ended, though there was nothing
// to be read, begins with the shortest fi_cq_sread: what is lost then, is lost for a millisecond.
// Queues without files sleep in fi_cq_sread, and those that cannot block (shm), nap.
#include <rdma/fi_errno.h>

#include <algorithm>

#include "backend/ofi/group.hpp"

namespace trefoil::ofi {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr milliseconds block_granularity{1};  // fi_cq_sread counts milliseconds

microseconds until(Clock::time_point deadline) {
    return std::chrono::duration_cast<microseconds>(deadline - Clock::now());
}

/// Writes the files that tell of something in the queue; returns how many, or 0 if there are none.
std::size_t files_of(fid_cq* queue, std::span<pollfd> files) {
    fi_wait_obj object = FI_WAIT_NONE;
    if (fi_control(&queue->fid, FI_GETWAITOBJ, &object) != 0) {
        return 0;
    }
    if (object == FI_WAIT_FD) {
        int file = -1;
        if (fi_control(&queue->fid, FI_GETWAIT, &file) != 0) {
            return 0;
        }
        files[0] = {file, POLLIN, 0};
        return 1;
    }
    fi_wait_pollfd list{0, files.size(), files.data()};
    const bool has_list =
        object == FI_WAIT_POLLFD && fi_control(&queue->fid, FI_GETWAIT, &list) == 0;
    return has_list ? list.nfds : 0;
}

}  // namespace

void OfiGroup::wait(microseconds longest) {
    if (something_kept()) {
        return;
    }
    if (!can_block_ || longest < block_granularity) {
        nap(longest);
        return;
    }
    const Clock::time_point deadline = Clock::now() + longest;
    std::array<pollfd, 16> files{};
    const std::size_t count = files_of(queue_.get(), std::span(files).first(files.size() - 1));
    if (count == 0) {
        block(longest);
        return;
    }
    if (files_in_doubt_) {
        block(block_granularity);
        files_in_doubt_ = false;
    }
    const microseconds left = until(deadline);
    fid* const queue = &queue_->fid;
    std::array<fid*, 1> waited{queue};
    if (something_kept() || left.count() <= 0 ||
        fi_trywait(fabric_.get(), waited.data(), 1) != FI_SUCCESS) {
        return;
    }
    files[count] = {doorbell_.file(), POLLIN, 0};
    doorbell_.wait(left, std::span(files).first(count + 1));
    files_in_doubt_ = std::any_of(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(count),
                                  [](const pollfd& file) { return file.revents != 0; });
}

bool OfiGroup::something_kept() const {
    return kept_first_ != kept_last_ || failure_waits_ || queue_broken_;
}

void OfiGroup::block(microseconds longest) {
    const auto limit = std::chrono::duration_cast<milliseconds>(longest).count();
    kept_first_ = 0;
    kept_last_ = note(fi_cq_sread(queue_.get(), kept_.data(), kept_.size(), nullptr,
                                  static_cast<int>(std::min<long>(limit, 1000))));
}

// Where the queue cannot block, nothing but looking tells whether something is there.
void OfiGroup::nap(microseconds longest) {
    const Clock::time_point deadline = Clock::now() + longest;
    const microseconds slice = nap_slice(longest);
    for (microseconds left = longest; left.count() > 0 && !something_kept();
         left = until(deadline)) {
        if (doorbell_.wait(std::min(left, slice)) || read_more()) {
            return;
        }
    }
}

void OfiGroup::wake() {
    doorbell_.ring();
    if (can_block_) {
        fi_cq_signal(queue_.get());
    }
}

}  // namespace trefoil::ofi
