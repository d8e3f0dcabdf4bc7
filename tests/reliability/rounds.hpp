// SPDX-License-Identifier: BSD-3-Clause
// Checked collectives of one kind, round after round, until they fail or the ranks agree to end.
#pragma once

#include <cstddef>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "trefoil/requests.h"
#include "trefoil/trefoil.h"

namespace trefoil::test {

constexpr int exit_failed = 3;
constexpr int exit_wrong = 5;

/// A line of `word`: a call returned an error; status, call and text follow. Returns exit_failed.
int fail(trefoil_status_t status, const char* call, const char* text, const char* word = "failed");

class Rounds {
  public:
    Rounds(trefoil_comm_t comm, unsigned seed);
    ~Rounds();
    Rounds(const Rounds&) = delete;
    Rounds& operator=(const Rounds&) = delete;

    /// `kind`: mixed, small, large, rooted, nonblocking, persistent. Ends when rank 0 has seen the
    /// file `stop_file`, or after many seconds. `between` is called between two calls.
    /// An exit code; 0: all ranks have ended together.
    int run(const std::string& kind, const char* stop_file,
            const std::function<void()>& between = {});
    /// Rounds until a call fails, as it has to. 0: it has, and a line "expected" says how.
    int until_failure(const std::string& kind);
    /// One round of it. 0 or an exit code.
    int round_of(const std::string& kind);

  private:
    /// What all ranks know of a call.
    struct Call {
        std::size_t count = 0;
        int root = 0;
    };
    /// A call in flight, with buffers of its own.
    struct InFlight {
        Call call;
        std::vector<int> send, recv;
        bool sums = true;  ///< else a broadcast, in `recv`
    };

    Call draw(std::size_t most);
    int allreduce(const Call& call);
    int bcast(const Call& call);
    int reduce(const Call& call);
    int alltoall(const Call& call);
    int gather(const Call& call);
    int mixed();
    int in_flight();
    int persistent();
    int prepare();
    void fill(InFlight& flight);
    int check(const InFlight& flight, const char* what) const;
    int ended(trefoil_status_t status, const char* call) const;

    static int value(int rank, std::size_t i) {
        return static_cast<int>((static_cast<std::size_t>(rank) * 7 + i) % 1000);
    }
    int sum_at(std::size_t i) const;
    void fill(std::vector<int>& data, std::size_t count) const;
    template <typename Expected>
    int check(const std::vector<int>& data, const char* call, Expected expected) const;

    trefoil_comm_t comm_;
    std::mt19937 random_;
    unsigned seed_;
    int rank_ = 0, ranks_ = 0, number_ = 0;
    bool expects_failure_ = false;
    std::vector<int> data_, result_;
    std::vector<InFlight> flights_;
    std::vector<trefoil_request_t> requests_;  ///< persistent ones, of flights_
};

}  // namespace trefoil::test
