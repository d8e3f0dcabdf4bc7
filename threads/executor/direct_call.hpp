// SPDX-License-Identifier: BSD-3-Clause
// A persistent call whose messages may land in its vector, and how its ranks come to agree on it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "backend/ports/powers.hpp"
#include "threads/connections/letter_box.hpp"
#include "threads/executor/channels.hpp"
#include "threads/executor/direct_program.hpp"
#include "threads/executor/engine.hpp"
#include "threads/executor/running_call.hpp"

namespace trefoil {

/// By letters, while calls go on; nobody waits:
///
///  - The receiver, when it first starts the call, *offers* its memory to the senders of each
///    channel with candidates.
///  - A sender that has heard it by the time it starts the call again *accepts*, from that call on:
///    its puts go into the vector from then on, and wait for permissions. Permissions are sent for
///    accepted channels only, so that each is waited for.
///  - Who frees the call *withdraws* its offers.
///
/// The number of the first call by which it was started names it: calls are numbered alike on all
/// ranks. Where ranks do not mean the same, nobody finds an offer, and messages go to landing slots
/// as ever.
class DirectCall {
  public:
    /// A registration of one of the vectors at a port group.
    struct Registered {
        int group = 0;
        LocalMemory memory;
        std::uint64_t offset = 0;  ///< of the vector in it
        std::uint64_t use = 0;
        std::string description{};  ///< empty: only puts read it
    };

    /// Both lists by program; the plan and `running` outlive this.
    DirectCall(std::vector<const Program*> lowered, std::vector<DirectProgram> programs,
               std::vector<Registered> registered, const RunningCall& running);

    const DirectProgram& program(std::uint32_t number) const { return programs_[number]; }
    /// The number of its first call; 0: it was not started.
    std::uint64_t name() const { return name_; }
    /// What a permission says of it: so much fits.
    std::uint32_t sign() const { return static_cast<std::uint32_t>(name_) & 0x3f; }
    const std::vector<Registered>& registered() const { return registered_; }
    /// Puts of the group may read these bytes where they are, with this descriptor. False: they lie
    /// in no registration.
    bool may_be_read(int group, const std::byte* data, std::size_t bytes,
                     void*& descriptor) const noexcept;
    /// Peers may put into the vector now. While no worker works.
    bool is_open() const;

    /// The sender waits for permissions in this call. By the owner of the channel's group.
    bool is_accepted(std::uint32_t in, std::uint64_t call) const {
        const auto found = accepted_.find(in);
        return found != accepted_.end() && found->second != 0 && call >= found->second;
    }

  private:
    friend class DirectCalls;
    /// Null: it is not registered there.
    const Registered* registered_at(int group) const;

    std::vector<const Program*> lowered_;
    std::vector<DirectProgram> programs_;
    std::vector<Registered> registered_;
    const RunningCall& running_;
    std::uint64_t name_ = 0;
    std::uint64_t offers_seen_ = 0;
    /// From which call on, by incoming channel with candidates; 0: not. The entries stay, each is
    /// of the owner of its channel's group.
    std::map<std::uint32_t, std::uint64_t> accepted_;
    std::vector<std::shared_ptr<DirectOutgoing>> outgoing_;  ///< that its programs use
};

/// Those of one executor.
class DirectCalls {
  public:
    DirectCalls(Channels& channels, Engine& engine) : channels_(channels), engine_(engine) {}

    // By the thread that issues.
    /// The call is about to be issued as call `number`, and is not in flight. Costs one look in the
    /// steady state. Throws bad_alloc; then nothing has changed.
    void start(DirectCall& call, std::uint64_t number);
    /// It ends; it is not in flight. While the engine is held.
    void end(DirectCall& call) noexcept;
    /// All calls have ended, and so does the executor. While the engine is held.
    void end_all() noexcept;

    // By the owner of a group: letters of a peer through an own port.
    /// What has been accepted, if that is what it says.
    struct Accepted {
        DirectCall* call = nullptr;
        std::uint32_t in = 0;
        std::uint64_t from = 0;
    };
    /// Throws what the group throws, and Error for what cannot be read.
    Accepted take_letter(Rank peer, Port own, int group, std::string_view letter);

    /// After a failure: peers put nothing more into vectors of calls in flight. `close` ends a
    /// registration whoever uses it. True: what has begun to land may go on. While the engine is
    /// held.
    template <typename Close>
    bool close_open_calls(Close&& close) {
        bool may_go_on = false;
        const std::lock_guard lock(mutex_);  // another thread may be about to issue one
        for (const auto& [name, call] : calls_) {
            if (call->is_open()) {
                for (const DirectCall::Registered& registered : call->registered_) {
                    close(registered.group, registered.use);
                    may_go_on |= !channels_.groups[static_cast<std::size_t>(registered.group)]
                                      ->registering()
                                      ->deregister_stops_landing();
                }
            }
        }
        return may_go_on;
    }

  private:
    /// A call at a channel: peer, own port and ring.
    using Name = std::tuple<std::uint64_t, Rank, int, Ring>;

    void offer(const DirectCall& call);
    void accept(DirectCall& call, std::uint64_t number);
    template <typename Channel>
    void say(const Channel& channel, std::string letter);
    void let_go_of(DirectOutgoing& outgoing) noexcept;

    Channels& channels_;
    Engine& engine_;
    std::atomic<std::uint64_t> offers_taken_{0};  ///< its release pairs with start()
    std::mutex mutex_;                            ///< guards what follows
    std::map<std::uint64_t, DirectCall*> calls_;  ///< by name
    std::map<Name, std::shared_ptr<DirectOutgoing>> offers_;
};

}  // namespace trefoil
