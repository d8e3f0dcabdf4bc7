// SPDX-License-Identifier: BSD-3-Clause
// How channels come to be while calls run: the receiver says where messages land, and the sender's
// first put waits for that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "threads/connections/channel_key.hpp"
#include "threads/connections/post_office.hpp"

namespace trefoil {

/// The channels of one port group. Both ends of a channel know from the schedule that they need it;
/// nobody asks anybody.
///
///  - The receiver takes landing memory and says *hello*: number of the channel, place of the
///    slots, their size, a proof. Ahead of the first hello that needs it goes the description of
///    the memory. The sender has a Wire from then on. A hello may come before the sender has that
///    communicator; it is kept until then.
///  - When the sender's communicator ends, it says *farewell* for each of its wires, with the
///    number of puts that it has made. The receiver gives the landing memory and the channel's
///    number back when its own communicator has ended, too, and as many notifications have come:
///    puts may overtake the farewell.
///  - When the receiver's communicator ends first, it says *gone*. A sender that has no such
///    communicator, never had one or has ended it before the hello came, drops the hello and says
///    farewell. Hence nobody need remember communicators that have ended.
///
/// A number that no communicator has may serve for channels of all of them, as for reports.
///
/// Landing memory of a peer that died without a farewell is not used again: its last puts may still
/// land. Not thread-safe: by the group's owner. Nothing here waits.
class Wiring {
  public:
    /// By whom channels are used. They may call the wiring, but for begin() and end().
    struct Listeners {
        /// A channel of a communicator that exists here can be put through. The wire stays where it
        /// is until the communicator ends.
        std::function<void(Wire&)> wired;
        /// The peer's communicator has ended: it puts nothing through the channel any more, and
        /// takes nothing.
        std::function<void(const ChannelKey&)> left;
        /// Somebody's letter().
        std::function<void(Rank from, Port own, std::uint64_t tag, std::string_view text)> letter;
    };

    /// `channel_limit`: how many channels notifications can name. Keeps references; the post office
    /// speaks to this from now on.
    Wiring(PostOffice& post, LandingArena& arena, std::uint32_t channel_limit, Listeners listeners);
    Wiring(const Wiring&) = delete;
    Wiring& operator=(const Wiring&) = delete;

    /// The communicator exists from now on. Those of its wires that are here already are told.
    void begin(std::uint64_t communicator);
    /// It ends: its wires are no more, nothing is put through them any more, and its landing memory
    /// is given back as soon as may be.
    void end(std::uint64_t communicator);

    /// The receiving end of a channel; makes it at the first time. Stays where it is until the
    /// communicator ends. Throws Error when the peer cannot be connected, memory is lacking or the
    /// group has no number left; then nothing has changed.
    Landing& want(const ChannelKey& key, std::size_t slot_bytes, std::uint32_t slots);
    /// The sending end, once the peer has said hello; else null.
    Wire* wire_of(const ChannelKey& key);

    /// A notification that names channel `id` has come: counts it. Null: of a communicator that has
    /// ended, or nobody's.
    Landing* arrived(std::uint32_t id) noexcept {
        Landing* const landing = id < landings_.size() ? landings_[id].get() : nullptr;
        if (landing == nullptr) {
            return nullptr;
        }
        ++landing->arrivals;
        look_again_ |= may_be_given_back(*landing);
        return landing->ended ? nullptr : landing;
    }

    /// A word without a meaning: what it shows is that the connection works.
    void greet(Rank to, Port own);
    /// A text for the peer, which hears those of one connection in order.
    /// Urgent ones go ahead, where that can be.
    void letter(Rank to, Port own, std::uint64_t tag, std::string_view text, bool urgent = false);
    /// The peer's process is gone: nothing is said to it any more, and it will say nothing.
    void lose(Rank peer);
    /// This rank leaves: no peer will say anything to it any more.
    void leave();

    /// Moves what can be moved. True: something has. Costs next to nothing where nothing is new.
    bool progress() {
        const bool moved = post_.progress();
        return look_again_ ? (give_back(), true) : moved;
    }
    /// Whether progress() has something to try.
    bool has_work() const { return look_again_ || post_.has_to_put(); }

    struct Numbers {
        std::size_t landings = 0;          ///< of communicators that exist
        std::size_t waiting = 0;           ///< of ended ones: their memory is in use still
        std::size_t wires = 0, early = 0;  ///< early: of communicators that do not exist yet
    };
    Numbers numbers() const;

  private:
    enum class Kind : std::uint8_t { memory = 1, hello, farewell, gone, letter, leaving, greeting };
    /// What both ends of a connection know of the landing memory of the other one.
    struct Memories {
        std::vector<bool> described;                  ///< own chunks
        std::map<std::uint32_t, RemoteMemory> known;  ///< the peer's
    };

    /// Nobody puts into it any more.
    static bool may_be_given_back(const Landing& landing) noexcept {
        return landing.ended && landing.puts && landing.arrivals >= *landing.puts;
    }
    void hear(Connection& from, const StreamEntry& entry);
    void hear_hello(Connection& from, std::string_view body);
    void hear_farewell(Connection& from, std::string_view body);
    void hear_gone(Connection& from, std::string_view body);
    void tell_left(const ChannelKey& key) {
        if (listeners_.left && communicators_.contains(key.communicator)) {
            listeners_.left(key);
        }
    }
    std::vector<std::unique_ptr<Wire>>::iterator place_of_wire(const ChannelKey& key);
    std::vector<std::uint32_t>::iterator place_of_id(const ChannelKey& key);
    void say_hello(Connection& to, const Landing& landing);
    void say_farewell(const Wire& wire);
    std::uint32_t next_id();
    void give_back();

    PostOffice& post_;
    LandingArena& arena_;
    std::uint32_t channel_limit_;
    Listeners listeners_;
    std::set<std::uint64_t> communicators_;
    // By key; there may be very many.
    std::vector<std::unique_ptr<Wire>> wires_;
    std::vector<std::uint32_t> ids_;                  ///< of landings of those that exist
    std::vector<std::unique_ptr<Landing>> landings_;  ///< by id
    std::deque<std::uint32_t> free_ids_;              ///< the longest unused first
    std::set<std::uint32_t> waiting_;                 ///< ids of landings that have ended
    bool look_again_ = false;                         ///< at those
    std::map<std::uint32_t, Memories> memories_;      ///< by connection
};

}  // namespace trefoil
