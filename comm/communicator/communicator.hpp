// SPDX-License-Identifier: BSD-3-Clause
// The communicator: one rank's part in a job. It turns a call into a plan and has it run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include <array>
#include <span>

#include "algorithms/schedule/algorithm.hpp"
#include "backend/bootstrap/bootstrap.hpp"
#include "comm/plan/choices.hpp"
#include "comm/plan/request.hpp"
#include "comm/plan/vector_map.hpp"
#include "comm/setup/channel_setup.hpp"
#include "comm/setup/environment.hpp"
#include "comm/setup/placement.hpp"
#include "comm/setup/torus_map.hpp"
#include "threads/executor/executor.hpp"
#include "threads/timeline/trace.hpp"
#include "topo/host_file.hpp"

namespace trefoil {

/// Errors are thrown as Error; when one leaves the ranks out of step the communicator has failed,
/// and every later call throws the first cause at once. Not thread-safe (the C API guards it).
class Communicator {
  public:
    /// Collective. All ranks throw when any rank's settings or machine do not allow it.
    Communicator(Settings settings, std::unique_ptr<Bootstrap> bootstrap);
    ~Communicator();

    Rank rank() const { return bootstrap_->rank(); }
    Rank ranks() const { return bootstrap_->ranks(); }
    const Torus& torus() const { return torus_map_.torus; }
    const TorusMap& torus_map() const { return torus_map_; }
    const std::string& failure() const { return failure_; }
    /// What is in use: "memory", "ofi"; "net", "" where the backend has one provider only.
    const std::string& backend() const { return settings_.backend; }
    const std::string& provider() const { return provider_; }

    /// What this rank holds for its peers so far.
    struct Resources {
        int peers = 0, connections_in = 0, connections_out = 0;
        std::size_t landing_bytes = 0, staging_bytes = 0;
    };
    Resources resources() const;

    /// What calls have put through one port so far, and the NIC it is attached to ("": the
    /// transport's choice).
    struct PortUse {
        std::uint64_t puts = 0, bytes = 0;
        const char* nic = "";
    };
    PortUse port_use(Port port) const;

    /// `text`: "auto", a name, or a name with modifiers: "swing:send", "ring:single-port".
    void set_algorithm(Collective collective, std::string_view text) {
        choices_[static_cast<std::size_t>(collective)] = parse_choice(collective, text, torus());
    }
    /// What a call would use, with the number of pieces where it is pipelined. Throws
    /// Error(unsupported) when what is forced does not suit the call.
    Choice algorithm(const Request& request) const;

    /// Runs one collective. Both vectors may be the same; what the collective does not use may be
    /// null. Requests must be checked (comm/c_api*.cpp).
    void run(const Request& request, const void* send, void* recv);

    /// Collective: every rank returns the root's list, one number per rank.
    std::vector<std::size_t> share_counts(Rank root, std::span<const std::size_t> counts);

  private:
    struct PlanHash {
        std::size_t operator()(const Request& request) const noexcept;
    };
    /// Owns what the key's spans refer to.
    struct Plan {
        std::vector<std::size_t> counts, displacements, send_counts, send_displacements;
        std::vector<std::unique_ptr<Program>> programs;
        std::vector<CallSegment> segments;
        Call call;
        std::string text;
        std::shared_ptr<const UserOperation> user;
    };
    struct ScheduleKey {
        const Algorithm* algorithm = nullptr;
        BuildOptions options;
        bool operator==(const ScheduleKey&) const = default;
    };
    struct ScheduleHash {
        std::size_t operator()(const ScheduleKey& key) const noexcept;
    };

    std::string introduction() const;
    void meet(const std::vector<std::string>& introductions);
    double most_ranks_per_core() const;
    TorusRequest torus_request() const;
    std::string propose_ports();
    void settle_ports(const std::vector<std::string>& proposals);
    NicSharing nic_sharing() const;
    void warn_of_oversubscription() const;
    void begin_trace();
    void note_preparation(const char* call, std::int64_t begin);
    void end_trace() const noexcept;
    void open();
    std::vector<std::string> exchange(const std::string& stage,
                                      const std::function<std::string()>& work);
    void for_all(const std::string& stage, const std::function<void()>& work);
    std::string dead_peers() const;

    const Choice& choice(Collective collective) const {
        return choices_[static_cast<std::size_t>(collective)];
    }
    const Plan& plan(const Request& request);
    const Schedule& connected_schedule(const ScheduleKey& key, bool acknowledged,
                                       const std::string& agreement);
    std::unique_ptr<Plan> make_plan(const Request& request);
    PhaseSync phase_sync(const Algorithm& algorithm) const;
    bool may_run_directly(Collective collective, std::size_t bytes, const Choice& forced) const;
    bool runs_directly(const Request& request, std::size_t bytes);
    void require_rank_order(const Request& request, const Algorithm& chosen) const;
    std::size_t segment_elements(const Request& request, const ScheduleKey& key,
                                 const Schedule& schedule) const;
    struct Cut {
        std::size_t segments = 1, per_segment = 0;
    };
    Cut cut(const Request& request, const ScheduleKey& key, const Schedule& schedule) const;
    SegmentShape shape_of(const Request& request, const ScheduleKey& key,
                          const Schedule& schedule) const;
    std::vector<std::size_t> elements_of(const Request& request, std::size_t number,
                                         std::size_t per_segment) const;
    void lower_segments(Plan& plan, const Request& request, const ScheduleKey& key,
                        const Schedule& schedule, bool acknowledged);
    void run_alone(const Request& request, const void* send, void* recv) const;
    void check_alive() const;
    [[noreturn]] void fail(const Error& error);

    struct PeerProcess {
        std::string host;
        std::string network;  ///< the network namespace: equal names reach each other's loopback
        std::string process_space;
        int pid = 0;
        std::vector<int> cores;         ///< that it may use
        std::vector<Rank> coordinates;  ///< by the caller's configuration
    };

    Settings settings_;
    std::unique_ptr<Bootstrap> bootstrap_;
    std::optional<HostFile> host_file_;
    TorusMap torus_map_;
    std::vector<PeerProcess> processes_;  ///< by rank
    Rank local_ranks_ = 1, local_rank_ = 0;
    bool one_network_ = true;
    PortGroups port_groups_;
    NicChoice nics_;                      ///< by port; empty for one rank
    std::vector<LocalRank> local_ports_;  ///< of the ranks of this host
    Placement placement_;
    std::string provider_;
    Channels channels_;
    std::unique_ptr<PortThreads> port_threads_;
    std::unique_ptr<Trace> trace_;  ///< null: no timeline is kept
    std::unique_ptr<ChannelSetup> channel_setup_;
    std::unique_ptr<Executor> executor_;
    std::array<Choice, collective_count> choices_;  ///< by collective
    /// Whether every rank gets at the memory of all others; nothing: not tried yet.
    std::optional<bool> direct_;
    struct ConnectedSchedule {
        Schedule schedule;
        bool acknowledged = false;  ///< its channels have opposites
    };
    std::unordered_map<ScheduleKey, ConnectedSchedule, ScheduleHash> schedules_;
    std::unordered_map<Request, std::unique_ptr<Plan>, PlanHash> plans_;
    std::size_t puts_of_alltoallv_ = 0;  ///< of the plans of alltoallv among them
    Status failed_ = Status::success;
    std::string failure_;
};

}  // namespace trefoil
