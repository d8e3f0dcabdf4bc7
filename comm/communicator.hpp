// SPDX-License-Identifier: BSD-3-Clause
// The communicator: one rank's part in a job. It turns a call into a plan and has it run.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "algorithms/algorithm.hpp"
#include "backend/bootstrap.hpp"
#include "comm/environment.hpp"
#include "comm/placement.hpp"
#include "comm/wiring.hpp"
#include "threads/executor.hpp"

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
    const Torus& torus() const { return *torus_; }
    const std::string& failure() const { return failure_; }
    /// What is in use: "memory", "ofi"; "net", "" where the backend has one provider only.
    const std::string& backend() const { return settings_.backend; }
    const std::string& provider() const { return provider_; }

    void set_algorithm(Collective collective, std::string_view name);
    const Algorithm& algorithm(Collective collective, std::size_t bytes) const;

    void allreduce(const void* send, void* recv, std::size_t count, DataType type, Operation op);
    void barrier();

  private:
    struct PlanKey {
        Collective collective = Collective::allreduce;
        DataType type = DataType::int8;
        Operation op = Operation::sum;
        std::size_t count = 0;
        const Algorithm* forced = nullptr;
        bool operator==(const PlanKey&) const = default;
    };
    struct PlanHash {
        std::size_t operator()(const PlanKey& key) const noexcept;
    };
    struct Plan {
        Program program, last_program;
        Call call;
        std::string text;
    };

    void agree_on_settings();
    void open();
    void for_all(const std::string& stage, const std::function<void()>& work);
    std::string dead_peers() const;

    const Plan& plan(const PlanKey& key);
    const Schedule& connected_schedule(const Algorithm& algorithm, const std::string& agreement);
    std::unique_ptr<Plan> make_plan(const PlanKey& key);
    void lower_segments(Plan& plan, const Algorithm& algorithm, const Schedule& schedule,
                        std::size_t count, std::size_t element_bytes);
    void run(const Plan& plan, const void* send, void* recv);
    void check_alive() const;
    [[noreturn]] void fail(const Error& error);

    struct PeerProcess {
        std::string host;
        std::string network;  ///< the network namespace: equal names reach each other's loopback
        std::string process_space;
        int pid = 0;
    };

    Settings settings_;
    std::unique_ptr<Bootstrap> bootstrap_;
    std::unique_ptr<Torus> torus_;
    std::vector<PeerProcess> processes_;  ///< by rank
    Rank local_ranks_ = 1, local_rank_ = 0;
    bool one_network_ = true;
    Placement placement_;
    std::string provider_;
    Wire wire_;
    std::unique_ptr<Team> team_;
    std::unique_ptr<Wiring> wiring_;
    std::unique_ptr<Executor> executor_;
    const Algorithm* forced_ = nullptr;  ///< allreduce; null: auto
    std::unordered_map<const Algorithm*, Schedule> schedules_;
    std::unordered_map<PlanKey, std::unique_ptr<Plan>, PlanHash> plans_;
    Status failed_ = Status::success;
    std::string failure_;
};

}  // namespace trefoil
