// SPDX-License-Identifier: BSD-3-Clause
// The schedule: everything that an algorithm decides for one rank, as data. It is executed by the
// runtime, proved by the verifier, priced by the cost model and printed by `trefoil plan`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// Index of a block in a part's buffer. Blocks [0, vector_blocks) cut the part's share of the
/// user's vector; block vector_blocks + i is scratch block i, as large as vector block
/// Part::scratch_like. Message and move partners always pair blocks of equal size: vector blocks of
/// the same index, or scratch of that size.
using Block = std::uint32_t;

/// A run of consecutive blocks.
struct Extent {
    Block first = 0;
    Block count = 0;
    friend bool operator==(const Extent&, const Extent&) = default;
};

/// What happens to the target of a receive or a move.
enum class Action : std::uint8_t {
    replace,
    reduce,  ///< target = target op source
    prepend  ///< target = source op target; of receives only
};

/// A slice of one of the schedule's arrays. Arrays are flat so that a schedule of thousands of
/// steps is a handful of allocations.
struct Slice {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

/// One message to `peer` through `port`. No extents: a signal without data (barrier).
struct Send {
    Rank peer = 0;
    Port port;
    Slice extents;  ///< in the sender's buffer, concatenated in this order
    /// A signal from which on the peer may pull from this rank: where the vectors lie travels with
    /// it.
    bool opens = false;
};

/// The bytes of a message, in the sender's order, applied to one place of the receiver's buffer.
struct Application {
    Action action = Action::replace;
    Slice extents;
};

/// One message from `peer`, arriving through `port` (the opposite of the sender's port).
/// A message may be applied to several places (Trivance's partial sums need two); a signal to none.
struct Receive {
    Rank peer = 0;
    Port port;
    Slice applications;
    bool opens = false;  ///< as its send
};

/// An operation that writes blocks of the own buffer. Its source lies there, too, or, of a *pull*,
/// in the vector blocks of a peer's: ranks read each other's memory, and never write into it. The
/// peer opens its vector by a signal before, and does not touch what is pulled until a message
/// tells it that the pull is over.
struct Move {
    static constexpr Rank self = -1;
    Action action = Action::replace;
    /// The source is what its rank began with (Part::input_apart), not what its block holds now.
    bool initial = false;
    Rank peer = self;  ///< in whose buffer the source lies
    Extent from;
    Block to = 0;  ///< first target block; from.count blocks, no overlap with an own `from`

    bool pulls() const { return peer != self; }
};

/// Order within a step: moves, in order; then all sends read the buffer; then, when all receives
/// have arrived (they are JOINT), their applications in the order of the receives. Messages of step
/// s are sent only after step s-1 of the same part is complete on this rank. A send of step s of a
/// part is matched by a receive in step s of the same part at the peer; messages of one step
/// between the same two ranks through the same port match in order.
struct Step {
    Slice moves;
    Slice sends;
    Slice receives;
};

/// A slice of the vector with a collective of its own; all parts run concurrently and are
/// independent of one another. The parts of a schedule are equal slices of the vector, in order,
/// and the vector blocks of a part equal slices of the part, as nearly as the runtime's units
/// allow. Where each rank has a block (algorithms/schedule/collective.hpp) a part is an equal slice
/// of every rank's block, and vector block b is that slice of the block of rank
/// Algorithm::owners[b]. In alltoall on p ranks a part is an equal slice of every block, and has 2p
/// vector blocks: block t < p is what this rank sends to rank t, and is only read; block p + s is
/// what it receives from rank s; what a rank sends to itself is a move in the part's first step. In
/// exchanges with neighbours the blocks to send come first, too, and then one from each neighbour,
/// in the order of port_of_slot().
/// Scratch blocks hold what is under way; ranks may have different numbers of them.
struct Part {
    Block vector_blocks = 1;
    Block scratch_blocks = 0;
    Slice steps;
    Block scratch_like = 0;  ///< the vector block whose size the scratch blocks have
    /// The vector blocks begin undefined, and moves read what each rank began with where they say
    /// so (Move::initial). So nothing need be copied from a call's input to its output. The two may
    /// be the same memory: what a rank began with is gone where it writes the block.
    bool input_apart = false;
};

struct Schedule {
    Rank rank = 0;
    std::vector<Part> parts;
    std::vector<Step> steps;
    std::vector<Move> moves;
    std::vector<Send> sends;
    std::vector<Receive> receives;
    std::vector<Application> applications;
    std::vector<Extent> extents;

    std::span<const Step> of(const Part& p) const { return slice(steps, p.steps); }
    std::span<const Move> moves_of(const Step& s) const { return slice(moves, s.moves); }
    std::span<const Send> sends_of(const Step& s) const { return slice(sends, s.sends); }
    std::span<const Receive> receives_of(const Step& s) const {
        return slice(receives, s.receives);
    }
    std::span<const Application> applications_of(const Receive& r) const {
        return slice(applications, r.applications);
    }
    std::span<const Extent> extents_of(const Send& s) const { return slice(extents, s.extents); }
    std::span<const Extent> extents_of(const Application& a) const {
        return slice(extents, a.extents);
    }

  private:
    template <typename T>
    static std::span<const T> slice(const std::vector<T>& v, Slice s) {
        return std::span<const T>(v).subspan(s.first, s.count);
    }
};

/// Number of blocks that extents cover.
std::uint64_t block_count(std::span<const Extent> extents);

/// Writes a schedule front to back; the one way to make one. Adjacent extents are merged.
/// All parts of one algorithm have the same number of steps on all ranks: call step() for a step in
/// which this rank does nothing, too.
class ScheduleWriter {
  public:
    explicit ScheduleWriter(Rank rank) { schedule_.rank = rank; }

    /// Makes room for long schedules: this many steps with one send and one receive each, of one
    /// extent. A hint; nothing depends on it.
    void reserve(std::size_t steps);
    void part(Block vector_blocks, Block scratch_blocks = 0, Block scratch_like = 0);
    /// The part that was begun last has Part::input_apart.
    void keep_input_apart() { schedule_.parts.back().input_apart = true; }
    void step();
    void move(Action action, Extent from, Block to);
    /// A move from blocks of `peer`, which may be this rank.
    void pull(Action action, Rank peer, Extent from, Block to) {
        add_move(action, false, peer, from, to);
    }
    /// The same from what `peer` began with.
    void pull_initial(Action action, Rank peer, Extent from, Block to) {
        add_move(action, true, peer, from, to);
    }
    void send(Rank peer, Port port, std::span<const Extent> extents);
    /// A signal from which on the peer may pull; receive_opening() is its other end.
    void open(Rank peer, Port port);
    void receive_opening(Rank peer, Port port);
    /// Opens a receive; apply() adds the places to which it goes.
    void receive(Rank peer, Port port);
    void apply(Action action, std::span<const Extent> extents);
    /// receive() + one apply().
    void receive(Rank peer, Port port, Action action, std::span<const Extent> extents) {
        receive(peer, port);
        apply(action, extents);
    }

    Schedule take() { return std::move(schedule_); }

  private:
    Slice add(std::span<const Extent> extents);
    void add_move(Action action, bool initial, Rank peer, Extent from, Block to);
    Schedule schedule_;
};

}  // namespace trefoil
