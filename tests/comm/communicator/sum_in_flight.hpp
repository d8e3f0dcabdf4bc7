// SPDX-License-Identifier: BSD-3-Clause
// A sum over all ranks that is in flight: what the tests of requests begin and end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ok.hpp"
#include "thread_job.hpp"

namespace trefoil::test {

inline JobOptions on(const std::string& torus, int port_threads = -1) {
    JobOptions options;
    options.torus = torus;
    options.port_threads = port_threads;
    return options;
}

/// A sum over all ranks that is in flight, with vectors of its own.
struct Sum {
    std::vector<std::int64_t> send, recv;
    trefoil_request_t request = TREFOIL_REQUEST_NULL;

    void begin(trefoil_comm_t comm, int rank, std::size_t count, std::int64_t salt) {
        fill(rank, count, salt);
        ASSERT_EQ(trefoil_iallreduce(send.data(), recv.data(), count, TREFOIL_INT64, TREFOIL_SUM,
                                     comm, &request),
                  ok)
            << trefoil_last_error(nullptr);
    }
    void fill(int rank, std::size_t count, std::int64_t salt) {
        send.resize(count);
        recv.assign(count, -1);
        for (std::size_t i = 0; i < count; ++i) {
            send[i] = static_cast<std::int64_t>(i) * salt + rank;
        }
    }
    bool right(int ranks, std::int64_t salt) const {
        for (std::size_t i = 0; i < recv.size(); ++i) {
            if (recv[i] != ranks * static_cast<std::int64_t>(i) * salt + ranks * (ranks - 1) / 2) {
                return false;
            }
        }
        return true;
    }
};

}  // namespace trefoil::test
