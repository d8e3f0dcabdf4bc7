// SPDX-License-Identifier: BSD-3-Clause
// The communicator: one rank's part in a job. It turns a call into a plan and has it run.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/bootstrap/bootstrap.hpp"
#include "comm/communicator/pending_call.hpp"
#include "comm/communicator/planner.hpp"
#include "comm/communicator/schedules.hpp"
#include "comm/plan/chooser.hpp"
#include "comm/plan/plan_cache.hpp"
#include "comm/plan/request.hpp"
#include "comm/setup/agreement.hpp"
#include "comm/setup/environment.hpp"
#include "comm/setup/job.hpp"
#include "comm/setup/local_ports.hpp"
#include "comm/setup/session.hpp"
#include "comm/setup/torus_map.hpp"
#include "threads/executor/executor.hpp"
#include "threads/timeline/trace.hpp"
#include "topo/error.hpp"
#include "topo/host_file.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

/// Errors are thrown as Error; when one leaves the ranks out of step the communicator has failed,
/// and every later call throws the first cause at once. One thread at a time issues calls and asks
/// (the C API guards it); any thread may test and wait for calls meanwhile.
class Communicator {
  public:
    /// Collective. All ranks throw when any rank's settings or machine do not allow it. `refusal`:
    /// why this rank cannot take part, which the others are to hear.
    Communicator(Settings settings, std::unique_ptr<Bootstrap> bootstrap,
                 const std::optional<Error>& refusal = {});
    ~Communicator();

    Rank rank() const { return bootstrap_->rank(); }
    Rank ranks() const { return bootstrap_->ranks(); }
    const Torus& torus() const { return torus_map_.torus; }
    const TorusMap& torus_map() const { return torus_map_; }
    /// Why it has failed; "" if it has not. From any thread.
    std::string failure() const;
    /// It has failed while its ranks connected for a call, and all of them know: nothing has moved.
    bool nothing_moved() const { return false; }
    /// What is in use: "memory", "ofi"; "net", "" where the backend has one provider only.
    const std::string& backend() const { return settings_.backend; }
    const std::string& provider() const { return provider_; }

    /// What this rank holds for its peers so far.
    struct Resources {
        int peers = 0, connections_in = 0, connections_out = 0;
        std::size_t landing_bytes = 0, staging_bytes = 0, plan_bytes = 0;
    };
    Resources resources() const;

    /// What calls have put through one port so far, and the NIC it is attached to ("": the
    /// transport's choice).
    struct PortUse {
        std::uint64_t puts = 0, bytes = 0;
        const char* nic = "";
    };
    PortUse port_use(Port port) const;

    /// As Chooser::force().
    void set_algorithm(Collective collective, std::string_view text) {
        chooser_->force(collective, text);
    }
    /// As Chooser::force_schedule().
    void set_schedule(Collective collective, std::string_view json) {
        chooser_->force_schedule(collective, json);
    }
    /// What a call would use, with the number of pieces where it is pipelined. Throws
    /// Error(unsupported) when what is forced does not suit the call.
    Choice algorithm(const Request& request) const {
        return chooser_->choose(request, single_copy_);
    }

    /// Runs one collective. Both vectors may be the same; what the collective does not use may be
    /// null. Requests must be checked (comm/api/c_*.cpp).
    void run(const Request& request, const void* send, void* recv);

    // The same in pieces. A call stays where it is from start() until is_over().
    /// Settles all that does not depend on the vectors' contents; the call is started with these.
    void prepare(PendingCall& call, const Request& request, const void* send, void* recv);
    void start(PendingCall& call);
    bool is_over(const PendingCall& call) const noexcept {
        return call.complete || executor_->is_over(call.running);
    }
    /// Works for the calls in flight for a moment. Any thread.
    void progress();
    /// Waits until it is over; throws why it has failed. Any thread.
    void wait(PendingCall& call);
    /// Returns when over(), which may look at several calls. Any thread.
    template <typename Over>
    void wait_until(Over&& over) {
        executor_->wait_until(over);
    }
    std::uint64_t calls_in_flight() const noexcept { return executor_->calls_in_flight(); }
    /// Those that share it are driven together.
    const Engine* engine() const { return engine_.get(); }

    /// Collective: every rank returns the root's list, one number per rank.
    std::vector<std::size_t> share_counts(Rank root, std::span<const std::size_t> counts);

  private:
    /// What the ranks have told of themselves.
    struct Introductions {
        std::optional<HostFile> host_file;
        std::vector<std::string> processes;  ///< encoded, by rank
        std::string contributions;           ///< to the session, of all ranks
    };

    void set_up(const std::optional<Error>& refusal);
    Introductions meet(const std::optional<Error>& refusal);
    void take_place(const Introductions& introductions);
    std::string choose_ports();
    void open_ports();
    std::string own_card() const;
    void shake_hands(std::vector<std::string> cards);
    void start_engine();
    void start_executor();
    void prepare_calls();
    void log_set_up() const;
    void check(const Request& request);
    void run_unchecked(const Request& request, const void* send, void* recv);
    const Plan& plan_of(const Request& request, const void* send, void* recv);
    const Plan& make_plan(const Request& request);
    void check_alive() const;
    void clean_up_after_the_dead() const noexcept;
    [[noreturn]] void fail(const Error& error, const std::string& found_here = {});

    // Each of these needs only those above it.
    Settings settings_;  ///< complete after meet(): what was left open is decided
    std::unique_ptr<Bootstrap> bootstrap_;
    std::shared_ptr<const Log> log_;
    Agreement agreement_;
    std::optional<Job> job_;
    Session session_;
    TorusMap torus_map_;
    std::optional<Chooser> chooser_;
    bool single_copy_ = false;  ///< ranks get at each other's memory; alike on all of them
    std::optional<LocalPorts> ports_;
    std::unique_ptr<Trace> timeline_;  ///< null: none is kept
    Channels channels_;
    std::string provider_;
    std::unique_ptr<PortThreads> port_threads_;
    std::unique_ptr<Engine> engine_;
    std::optional<Executor> executor_;
    std::optional<Schedules> schedules_;
    std::optional<Planner> planner_;
    PlanCache plans_;
    std::atomic<Status> failed_{Status::success};
    std::mutex failing_mutex_;          ///< one thread finds out why
    mutable std::mutex failure_mutex_;  ///< guards failure_, which any thread may ask for
    std::string failure_;

    /// Goes first: a port group that closes still sends, and may read what the executor holds.
    struct GroupsEnd {
        Communicator& of;
        ~GroupsEnd() {
            if (of.engine_) {
                of.engine_->end();
            }
            of.channels_.groups.clear();
        }
    } groups_end_{*this};
};

}  // namespace trefoil
