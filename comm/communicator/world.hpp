// SPDX-License-Identifier: BSD-3-Clause
// What the first communicator of a job shares with all that are made from it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/bootstrap/bootstrap.hpp"
#include "comm/communicator/read_places.hpp"
#include "comm/communicator/user_memory.hpp"
#include "comm/derived/geometry.hpp"
#include "comm/plan/program_pool.hpp"
#include "comm/plan/single_copy.hpp"
#include "comm/setup/agreement.hpp"
#include "comm/setup/environment.hpp"
#include "comm/setup/job.hpp"
#include "comm/setup/local_ports.hpp"
#include "comm/setup/session.hpp"
#include "comm/status/registry.hpp"
#include "comm/status/teller.hpp"
#include "threads/connections/gathering.hpp"
#include "threads/connections/survivors.hpp"
#include "threads/executor/engine.hpp"
#include "threads/timeline/trace.hpp"
#include "topo/error.hpp"
#include "topo/host_file.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

/// Each port of the first torus that a communicator's rank uses, with the neighbour that it leads
/// to, in the communicator's ranks.
std::vector<std::pair<Rank, Port>> neighbours_of(const Geometry& geometry, Rank rank);

/// The ranks have met, their ports are open, and every cable has been tried. Ranks are those of the
/// first communicator. It lives as long as any communicator. What is not said to be for any thread
/// stands from construction on.
class World {
  public:
    /// Collective. All ranks throw when any rank's settings or machine do not allow it. `refusal`:
    /// why this rank cannot take part, which the others are to hear.
    World(Settings settings, std::unique_ptr<Bootstrap> bootstrap,
          const std::optional<Error>& refusal);
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    Rank rank() const { return bootstrap_->rank(); }
    Rank ranks() const { return bootstrap_->ranks(); }
    /// Complete: what was left open is decided.
    const Settings& settings() const { return settings_; }
    const std::shared_ptr<const Log>& log() const { return log_; }
    const Job& job() const { return *job_; }
    const Session& session() const { return session_; }
    const Geometry& geometry() const { return geometry_; }
    /// What is unlike a torus of what is known of the network. Throws Error(unsupported) for nodes
    /// of several ranks.
    Fabric fabric() const;
    /// The network is found to be so `by` something, in words, alike on all ranks. Before the first
    /// call. Throws Error(unsupported) where it does not join all ranks.
    void describe(Fabric fabric, std::string_view by);
    const LocalPorts& ports() const { return *ports_; }
    const std::string& provider() const { return provider_; }
    Engine& engine() const { return *engine_; }
    PortThreads& port_threads() const { return *port_threads_; }
    /// Any thread.
    UserMemory& user_memory() const { return *user_memory_; }
    /// Of all communicators. Any thread.
    ProgramPool& programs() { return programs_; }
    Trace* timeline() const { return timeline_.get(); }
    const PeerAccess& peer_access() const { return peer_access_; }
    /// Reading each other's vectors is fast on this machine.
    bool single_copy_gains() const { return single_copy_gains_; }
    /// All ranks are threads of one process.
    bool is_one_process() const {
        return std::ranges::all_of(in_this_process_, [](bool is_here) { return is_here; });
    }
    ReadPlaces& read_places() { return read_places_; }
    /// Any thread.
    CommunicatorRegistry& registry() { return registry_; }
    /// By rank: it lives in this process.
    const std::vector<bool>& in_this_process() const { return in_this_process_; }

    /// While the first communicator is made, by one thread.
    Agreement& agreement() { return agreement_; }
    /// All ranks go through a stage where they met, outside of the network: returns on all when
    /// `work` is done on all, or throws on all (Agreement). One communicator at a time.
    void together(const std::string& stage, const std::function<void()>& work);
    /// A communicator has failed: those who wait for this rank where the ranks met hear it. Any
    /// thread.
    void abandon(const Error& error) noexcept;

    /// Takes what memory channels from the neighbours need, and keeps it for them: a rank that
    /// lacks it says so before there is a call. While the first communicator is made. Throws what
    /// the port groups throw.
    void reserve_landing(std::size_t bytes_each,
                         const std::vector<std::pair<Rank, Port>>& neighbours);

    /// Ranks that tell each other something; `members` in the same order on all of them, with this
    /// rank at `place`.
    struct Meeting {
        std::uint64_t tag = 0;
        const std::vector<Rank>& members;
        std::size_t place = 0;
        std::string_view what = {};  ///< they do, for messages: "trefoil_comm_dup"
    };
    /// What the members say of themselves, in their order. In-band: nobody but the members takes
    /// part, and calls go on. Threads may do so for different tags. Throws Error(timeout), which
    /// names who did not come. Empty when waiting is `in_vain()`, which is asked again and again.
    std::vector<std::string> gather(const Meeting& meeting, std::string mine,
                                    std::chrono::milliseconds timeout,
                                    const std::function<bool()>& in_vain);
    /// Of whom the gathering with this tag waits for a word; empty: for nobody, or there is none.
    std::vector<Rank> missing_in(std::uint64_t tag);
    /// A thread of this rank's is in a call.
    bool has_somebody_inside() const;

    /// Who of the members is left, and what they say of themselves: alike on all that are left. A
    /// rank is not left whose process has ended, or that says nothing in time: within `longest`,
    /// or a short time if it is `suspected`. In-band, as gather(). On any error it can be tried
    /// again, with the same arguments: Error(timeout) where no agreement was found in a multiple of
    /// that time, Error(peer_lost) where the others have gone on without this rank, or its ports
    /// have ended.
    struct Left {
        std::vector<Rank> ranks;
        std::vector<std::string> words;
    };
    Left find_survivors(const Meeting& meeting, std::string mine, std::chrono::milliseconds longest,
                        std::optional<Rank> suspected);

  private:
    /// What letters that are no communicator's are about: their first byte.
    enum class Topic : char { gathering = 'G', survivors = 'S' };
    static std::string as_letter(Topic topic, std::string_view text) {
        return std::string(1, static_cast<char>(topic)) + std::string(text);
    }
    /// What came of something that may fail: bytes, or the text of an error.
    struct Outcome {
        Status status = Status::success;
        std::string text{};

        bool good() const { return status == Status::success; }
    };
    /// What the ranks have told of themselves.
    struct Introductions {
        std::optional<HostFile> host_file;
        std::vector<std::string> processes;  ///< encoded, by rank
        Sample own_sample;                   ///< held until others have tried it
        std::vector<Outcome> samples;        ///< by rank: descriptions
        std::string why_no_memory;           ///< as found by trying
        std::string contributions;           ///< to the session, of all ranks
    };

    void set_up(const std::optional<Error>& refusal);
    Introductions meet(const std::optional<Error>& refusal);
    void take_place(const Introductions& introductions);
    std::string choose_ports();
    static Outcome take_sample(Sample& own);
    Outcome try_next_sample(const std::vector<Outcome>& samples) const;
    std::vector<std::string> propose_ports(Introductions& introductions);
    void open_ports();
    std::string own_card() const;
    void shake_hands(std::vector<std::string> cards);
    void begin_to_tell();
    void publish_address();
    void end_telling() noexcept;
    RankReport report();
    void log_set_up() const;
    void clean_up_after_the_dead() const noexcept;
    void hear(Rank from, std::uint64_t tag, std::string_view text);
    Survivors& survivors_of(std::uint64_t tag);
    void lose_the_dead(std::uint64_t tag);
    Port port_towards(Rank rank) const;

    // Each of these needs only those above it.
    Settings settings_;
    std::unique_ptr<Bootstrap> bootstrap_;
    std::mutex bootstrap_mutex_;  ///< several communicators may fail
    std::shared_ptr<const Log> log_;
    Agreement agreement_;
    std::optional<Job> job_;
    Session session_;
    Geometry geometry_;
    std::optional<LocalPorts> ports_;
    std::unique_ptr<Trace> timeline_;  ///< null: none is kept
    std::string provider_;
    std::unique_ptr<PortThreads> port_threads_;
    std::vector<bool> in_this_process_;
    PeerAccess peer_access_;
    bool single_copy_gains_ = false;
    ReadPlaces read_places_;
    std::atomic<bool> in_disorder_{false};
    std::mutex gathering_mutex_;  ///< guards the gatherings, and the survivors
    Gatherings gatherings_;
    std::atomic<int> inside_gatherings_{0};  ///< threads; orders nothing
    /// By tag. They stay, as ranks that come late are to hear what was decided.
    std::map<std::uint64_t, Survivors> survivors_;
    std::unique_ptr<Engine> engine_;
    std::unique_ptr<UserMemory> user_memory_;
    CommunicatorRegistry registry_;
    ProgramPool programs_;
    std::mutex addresses_mutex_;  ///< guards the addresses
    std::vector<std::string> addresses_;
    bool wrote_address_ = false;      ///< to a file
    std::unique_ptr<Teller> teller_;  ///< null: nobody may ask
};

}  // namespace trefoil
