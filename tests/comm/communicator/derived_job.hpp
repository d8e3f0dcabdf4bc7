// SPDX-License-Identifier: BSD-3-Clause
// Communicators that are made from others, for tests: owned, looked at, and tried with every
// collective.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "collective_check.hpp"
#include "thread_job.hpp"

namespace trefoil::test {

/// Owns a communicator. Peers must not need this rank any more at its end.
class Made {
  public:
    Made() = default;
    explicit Made(trefoil_comm_t comm) : comm_(comm) {}
    Made(Made&& other) noexcept : comm_(std::exchange(other.comm_, nullptr)) {}
    Made& operator=(Made&& other) noexcept {
        std::swap(comm_, other.comm_);
        return *this;
    }
    ~Made() { EXPECT_EQ(trefoil_comm_destroy(comm_), TREFOIL_SUCCESS); }
    operator trefoil_comm_t() const { return comm_; }

  private:
    trefoil_comm_t comm_ = nullptr;
};

// What is made, or a failure of the test and nothing.
Made dup_of(trefoil_comm_t comm);
Made split_of(trefoil_comm_t comm, int colour, int key);
Made sub_of(trefoil_comm_t comm, const std::vector<int>& keep);
Made group_of(trefoil_comm_t comm, const std::vector<int>& ranks, int tag = 0);
/// A duplicate, this rank's line along each dimension and its first plane, and a duplicate of the
/// last of these.
std::vector<Made> parts_of(trefoil_comm_t comm);

int rank_in(trefoil_comm_t comm);
int size_of(trefoil_comm_t comm);
/// "3x2".
std::string torus_of(trefoil_comm_t comm);
std::string source_of(trefoil_comm_t comm);
/// By rank of `comm`, what each of its ranks gives.
std::vector<int> gathered(trefoil_comm_t comm, int mine);

/// Runs every collective by every algorithm that suits, with `counts` elements each; scans only
/// where ranks are in the torus's order. "", or what is wrong.
std::string try_all(trefoil_comm_t comm, const std::vector<std::size_t>& counts = {300});
/// A sum of one number per rank.
bool sum_is_right(trefoil_comm_t comm, int salt);

/// run_ranks() on this torus, with a communicator that is there.
void run_on(const std::string& torus, const std::function<void(int, trefoil_comm_t)>& body,
            int port_threads = -1, double timeout_seconds = 20);

}  // namespace trefoil::test
