// SPDX-License-Identifier: BSD-3-Clause
// Start-up communication behind one interface: allgather of small blobs. Used at set-up only.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "topo/error.hpp"
#include "topo/patience.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// Connects the ranks of a job before endpoints exist. All ranks call in the same order. Not
/// thread-safe. Errors are thrown: Error(timeout) names the ranks that did not come, where it is
/// known.
class Bootstrap {
  public:
    virtual ~Bootstrap() = default;
    virtual Rank rank() const = 0;
    virtual Rank ranks() const = 0;
    /// Every rank's blob, by rank. Blobs may differ in length and may be empty.
    virtual std::vector<std::string> allgather(std::string_view mine) = 0;
    void barrier() { allgather({}); }
    /// This rank will not come to any further allgather, because of `cause`, whose text names the
    /// rank. Who waits for it now or later gets this error as it is, where that can be told: at
    /// once by the store; by PMIx and PMI with the next exchange of this process; not by a caller's
    /// allgather. Not collective; no allgather may follow on this rank.
    virtual void abandon(const Error& /*cause*/) noexcept {}
};

/// The caller's own fixed-size allgather: copies `bytes` from `mine` to all[r*bytes] of every rank
/// r; returns 0 on success.
using AllgatherCallback = int (*)(const void* mine, void* all, std::size_t bytes, void* context);

/// Bootstrap over a caller's callback (MPI_Allgather, a vendor's allgather, ...).
std::unique_ptr<Bootstrap> make_callback_bootstrap(Rank rank, Rank ranks,
                                                   AllgatherCallback allgather, void* context);

/// One rank alone.
std::unique_ptr<Bootstrap> make_single_bootstrap();

/// Who joins which store.
struct StoreClient {
    std::string host;
    int port = 0;
    std::string token;  ///< the job's secret; empty: none
    Rank rank = 0, ranks = 0;
    /// For the server to exist, and for the others in each allgather.
    std::chrono::milliseconds deadline{120'000};
};

/// A client of Trefoil's TCP store. `job` separates independent groups of ranks that share one
/// store (e.g. successive communicators). Throws Error(mismatch) when the store does not know the
/// same token, or the other way round.
std::unique_ptr<Bootstrap> make_store_bootstrap(const StoreClient& client, const std::string& job);

/// The store: a small TCP server with a thread of its own; lives in the launcher, or in rank 0. It
/// listens on `host` (default loopback) and `port` (0: any free one), and ends with the object. Who
/// does not know `token` is refused, unless it is empty. Who does not say in time who he is loses
/// his connection, earlier where others wait for it, and the number of such connections is limited,
/// so that strangers use up neither descriptors nor memory. Refusals are told as warnings, seldom.
class StoreServer {
  public:
    explicit StoreServer(const std::string& host = "127.0.0.1", int port = 0,
                         std::string token = {},
                         std::chrono::milliseconds for_a_stranger = patience().stranger);
    ~StoreServer();
    StoreServer(const StoreServer&) = delete;
    StoreServer& operator=(const StoreServer&) = delete;
    int port() const;
    /// Whether only this host reaches it.
    bool on_loopback() const;
    /// For whoever starts the ranks: the process of one has ended; `how`: "exit 0". Ranks that wait
    /// for it in vain hear so at once. Any thread.
    void rank_ended(Rank rank, const std::string& how);
    /// In a child after fork(), which has not the server's thread: closes its parent's sockets.
    /// Such a one can neither be used nor destroyed.
    void forsake() noexcept;

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace trefoil
