// SPDX-License-Identifier: BSD-3-Clause
// The communicator: one rank's part in a job. It turns a call into a plan and has it run.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/communicator/buffers_in_flight.hpp"
#include "comm/communicator/circuit_stages.hpp"
#include "comm/communicator/lane.hpp"
#include "comm/communicator/learner.hpp"
#include "comm/communicator/pending_call.hpp"
#include "comm/communicator/world.hpp"
#include "comm/derived/geometry.hpp"
#include "comm/derived/identity.hpp"
#include "comm/plan/chooser.hpp"
#include "comm/plan/plan_cache.hpp"
#include "comm/plan/request.hpp"
#include "comm/setup/configuration.hpp"
#include "comm/setup/environment.hpp"
#include "comm/status/registry.hpp"
#include "threads/executor/executor.hpp"
#include "topo/error.hpp"

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
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    // New communicators of ranks of this one; they share its World. Collective over the new
    // members, split() and sub() over all. Calls in flight go on. Throw Error(mismatch) when ranks
    // make different ones, Error(timeout) when one does not come, and what geometry_of() throws;
    // then this one can go on. Algorithms that were set here are set there, too, but for schedules
    // of the user's.
    std::unique_ptr<Communicator> dup();
    /// Of the ranks with this rank's colour, by key and then by rank; null for a negative colour.
    std::unique_ptr<Communicator> split(std::int32_t colour, std::int32_t key);
    /// Of the ranks that differ from this one in no dimension but those with a flag.
    std::unique_ptr<Communicator> sub(const std::vector<bool>& keep);
    /// Of these ranks of this one, in this order. Of several such calls at a time `tag` tells which
    /// is which.
    std::unique_ptr<Communicator> create_group(const std::vector<Rank>& members, std::int32_t tag);
    /// Of the ranks that are left, in their order, also of one that has failed. Collective over
    /// these. Throws what World::find_survivors() throws, and may then be called again.
    std::unique_ptr<Communicator> shrink();

    Rank rank() const { return rank_; }
    Rank ranks() const { return static_cast<Rank>(geometry_.first_rank.size()); }
    const Torus& torus() const { return geometry_.map.torus; }
    const TorusMap& torus_map() const { return geometry_.map; }
    /// Why it has failed; a success without a text if it has not. From any thread.
    Error failure() const;
    /// Ends it on all ranks, with that text: "rank 3 aborted: text". Calls in flight end with
    /// Error(aborted), and so do all later ones. One that has failed stays as it is. Returns when
    /// this rank's calls have ended and the peers were told, or when whoever works for the calls
    /// has been held up for a second. From any thread but one that works for calls.
    void abort(std::string_view text);
    /// What all ranks go by, complete.
    const Settings& settings() const { return world_->settings(); }
    /// Which entry of a tuning file is for it.
    TuningKey tuning_key() const { return trefoil::tuning_key(settings(), torus()); }
    const Chooser& chooser() const { return *chooser_; }
    /// By single copy; there may be more communicators than guards for it.
    PeerAccess peer_access() const { return read_place_ ? world_->peer_access() : PeerAccess{}; }
    /// What is in use: "memory", "ofi"; "net", "" where the backend has one provider only.
    const std::string& backend() const { return settings().backend; }
    const std::string& provider() const { return world_->provider(); }

    /// What this rank holds for its peers so far.
    struct Resources {
        int peers = 0, connections_in = 0, connections_out = 0;
        std::size_t landing_bytes = 0, staging_bytes = 0, plan_bytes = 0;
        std::size_t received_bytes = 0, copied_bytes = 0;  ///< by calls so far
    };
    Resources resources() const;
    /// What it is doing. While the engine is held.
    CommunicatorReport report() const;
    /// The same in words, whoever is inside. Any thread but one that works for the calls; takes a
    /// second where that one is held up.
    std::string status_text() const;

    /// What calls have put through one port of the own torus so far, and the NIC it is attached to
    /// ("": the transport's choice).
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
    /// Who joins ports anew for schedules whose steps name circuits; null: nobody. The function is
    /// called on every rank, by the thread that calls. Throws Error(busy) while calls are in
    /// flight.
    void set_rewire(Rewire rewire);
    /// What a call would use, with the number of pieces where it is pipelined. Throws
    /// Error(unsupported) when what is forced does not suit the call.
    Choice algorithm(const Request& request) const {
        return chooser_->choose(request, peer_access());
    }

    /// Runs one collective. Both vectors may be the same; what the collective does not use may be
    /// null. Requests must be checked (comm/api/c_*.cpp).
    void run(const Request& request, const void* send, void* recv) {
        run(request, send, recv, nullptr);
    }
    /// The plan of a request, kept by who makes that request again and again; for no other. As long
    /// as the version is the same the call is its plan, but where calls are compared
    /// (TREFOIL_CHECK) or learn.
    struct FoundPlan {
        const Plan* plan = nullptr;
        std::uint64_t version = 0;
    };
    void run(const Request& request, const void* send, void* recv, FoundPlan* found);

    // The same in pieces. A call stays where it is from start() until this communicator ends.
    /// Settles all that does not depend on the vectors' contents; the call is started with these.
    /// `persistent`: it will be started again and again, and keeps its buffers until
    /// PendingCall::persistent ends.
    void prepare(PendingCall& call, const Request& request, const void* send, void* recv,
                 bool persistent);
    /// Throws Error(invalid_argument), and nothing has begun, where its buffers overlap those of a
    /// call that is pending, unless both only read. Whoever ends it lowers PendingCall::holds.
    void start(PendingCall& call);
    bool is_over(const PendingCall& call) const noexcept {
        return call.complete || lane_of(*call.plan).executor().is_over(call.running);
    }
    /// Works for the calls in flight for a moment. Any thread.
    void progress();
    /// Waits until it is over; throws why it has failed. Any thread.
    void wait(PendingCall& call);
    /// Returns when over(), which may look at several calls. Any thread.
    template <typename Over>
    void wait_until(Over&& over) {
        if (Lane* const lane = lanes_.any()) {
            lane->executor().wait_until(over);
        }
    }
    std::uint64_t calls_in_flight() const noexcept {
        std::uint64_t calls = 0;
        lanes_.for_each([&](Lane& lane) { calls += lane.executor().calls_in_flight(); });
        return calls;
    }
    /// Shared by those that come from the same first communicator. Any thread.
    UserMemory& user_memory() const { return world_->user_memory(); }
    /// Those that share it are driven together.
    const Engine* engine() const { return &world_->engine(); }

    /// Collective: every rank returns the root's list, one number per rank.
    std::vector<std::size_t> share_counts(Rank root, std::span<const std::size_t> counts);

  private:
    /// What a rank tells the others about a communicator to be made.
    struct Word {
        std::string text;
        std::uint64_t read_places = 0;  ///< that it offers, see ReadPlaces
    };
    Communicator(const Communicator& parent, Geometry geometry, const Identity& identity,
                 std::optional<int> read_place);
    std::vector<Word> agree(std::uint64_t tag, const std::vector<Rank>& first_ranks,
                            const std::string& what, const Word& mine);
    std::vector<Word> agree_with_all(const std::string& what, const Word& mine);
    std::unique_ptr<Communicator> made(Geometry geometry, const Identity& identity,
                                       std::optional<int> read_place);

    void settle_terms();
    ExecutorOptions executor_options(bool small);
    Lane& make_lane(bool small);
    bool all_map_their_peers() const;
    /// Bytes of a whole vector; alike on all ranks.
    std::size_t most_in_small_lane() const;
    Lane& lane(bool small) {
        Lane* const made = lanes_.find(small);
        return made != nullptr ? *made : make_lane(small);
    }
    /// There is one: the plan was made in it.
    Lane& lane_of(const Plan& plan) const { return *lanes_.find(plan.small); }
    std::unique_ptr<Plan> plan_in_a_lane(const Request& request, const Choice& choice);
    bool may_land_directly(const PendingCall& call, const Request& request) const;
    void check(const Request& request);
    void run_unchecked(const Request& request, const void* send, void* recv,
                       FoundPlan* found = nullptr);
    void run_plan(const Plan& plan, const void* send, void* recv);
    // measured_links.cpp
    std::vector<std::uint64_t> time_links();
    void measure_links();
    // Of calls that learn (learning.cpp).
    void run_in_trial(Trial& trial, const Request& request, const void* send, void* recv);
    void keep_fastest(Trial& trial);
    void write_what_was_learned() const noexcept;
    bool names_circuits(const Request& request) const {
        return CircuitStages::names_circuits(chooser_->forced(request).algorithm);
    }
    [[noreturn]] void refuse_circuits(const Request& request, const char* why) const;
    void require_circuits_possible(const Request& request) const;
    void change_circuits(const std::vector<JoinedPorts>& circuits);
    void run_in_pieces(const Request& request, const void* send, void* recv);
    void run_pieces(const Request& request, const Choice& choice, void* vector);
    /// Another: a plan that was found may be gone, or be no longer the right one.
    std::uint64_t plan_version() const { return plans_.version() + chooser_->version(); }
    /// Null: none, or no longer.
    const Plan* plan_that_stands(const FoundPlan* found) const {
        return found != nullptr && found->version == plan_version() ? found->plan : nullptr;
    }
    const Plan& plan_of(const Request& request, const void* send, void* recv);
    const Plan& make_plan(const Request& request);
    void check_alive() const;
    void note_abort(const Cause& cause);
    bool has_failed_lane() const;
    void require_no_failure();
    void end_for_the_dead(const std::vector<Rank>& absent);
    [[noreturn]] void fail(const Error& error);

    // Each of these needs only those above it.
    std::shared_ptr<World> world_;
    Geometry geometry_;
    Rank rank_ = 0;
    std::optional<ReadPlaces::Offer> offer_;  ///< while shrink() has not succeeded
    std::optional<int> read_place_;           ///< none: its ranks do not read each other's vectors
    Identity identity_;
    std::optional<Chooser> chooser_;
    std::optional<Learner> learner_;  ///< TREFOIL_LEARN, but not of communicators from others
    ChannelSettings channel_settings_;
    std::shared_ptr<CallNumbers> numbers_ = std::make_shared<CallNumbers>();
    std::shared_ptr<PeerReports> reports_ = std::make_shared<PeerReports>();
    std::mutex lanes_mutex_;            ///< held while a lane is made; guards what follows
    std::optional<Cause> abort_cause_;  ///< this rank has aborted: lanes that come later hear it
    Lanes lanes_;
    Rewire rewire_;
    CircuitStages circuit_stages_;
    PlanCache plans_;
    BuffersInFlight buffers_in_flight_;
    UsedBytes blocking_;  ///< of a blocking call, for the comparison
    std::atomic<Status> failed_{Status::success};
    std::mutex failing_mutex_;          ///< one thread finds out why
    mutable std::mutex failure_mutex_;  ///< guards what follows, for which any thread may ask
    Error failure_{Status::success, ""};
    /// A communicator that is being made from this one.
    struct Making {
        std::string what;
        std::chrono::steady_clock::time_point since;
        bool by_some = false;  ///< of its ranks
    };
    std::map<std::uint64_t, Making> makings_;  ///< by tag: threads may make several at a time
    std::optional<CommunicatorRegistry::Entry> registered_;
};

}  // namespace trefoil
