// SPDX-License-Identifier: BSD-3-Clause
// A schedule lowered to bytes for one vector length: what the executor runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trefoil {

/// A place in one of the buffers of a running segment. Spaces: the user's output and input at the
/// segment's offset, the plan's scratch, what this rank tells its peers, then the landing slot of
/// each incoming channel, by its index, and the vectors of peers (Program::peers).
struct Location {
    static constexpr std::uint32_t output = 0;
    static constexpr std::uint32_t scratch = 1;
    static constexpr std::uint32_t input = 2;
    static constexpr std::uint32_t addresses = 3;  ///< VectorAddresses of this rank: Program::told
    static constexpr std::uint32_t first_landing = 4;
    std::uint32_t space = output;
    std::size_t offset = 0;  ///< bytes
    friend bool operator==(const Location&, const Location&) = default;
};

struct ProgramOp {
    enum class Kind : std::uint8_t {
        copy,    ///< target = source; `elements` counts bytes
        reduce,  ///< target = source op second; the target may be either of them
        joint,   ///< target = (source op second) op third, in one pass; the same
        divide,  ///< target = target / ranks: the last of an average
        open,    ///< the VectorAddresses at source are those of the peer whose space target is
        pull     ///< a copy from a peer's vector by the transport, where it is not mapped here
    };
    static constexpr std::uint32_t none = ~0U;

    Kind kind = Kind::copy;
    /// It and its neighbours that name the same arrival are all that is done with that, in the
    /// order of its bytes: nothing, if it has landed at their targets.
    std::uint32_t arrival = none;
    Location target{}, source{}, second{}, third{};
    std::size_t elements = 0;

    static ProgramOp copy(Location target, Location source, std::size_t bytes) {
        return {.target = target, .source = source, .elements = bytes};
    }
    static ProgramOp reduce(Location target, Location source, Location second,
                            std::size_t elements) {
        return {.kind = Kind::reduce,
                .target = target,
                .source = source,
                .second = second,
                .elements = elements};
    }
    friend bool operator==(const ProgramOp&, const ProgramOp&) = default;
};

/// What a rank tells its peers, so that they get at its vectors: where the segment begins in its
/// process.
struct VectorAddresses {
    std::uint64_t input = 0, output = 0;
};

struct ProgramRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    friend bool operator==(const ProgramRange&, const ProgramRange&) = default;
};

struct ProgramPut {
    std::uint32_t channel = 0;  ///< index into Channels::out
    int group = 0;
    Location source;  ///< when `packs` is empty
    ProgramRange
        packs;  ///< copies into the group's pack buffer; target.offset counts from its start
    std::size_t pack_offset = 0;
    std::size_t bytes = 0;
    std::size_t landing_offset = 0;  ///< in the channel's slot
    std::uint32_t index = 0;         ///< of the message on its channel
    friend bool operator==(const ProgramPut&, const ProgramPut&) = default;
};

/// One step of one part in which this rank does something. The step is complete when its events
/// have happened: each arrival, each put (its source may be reused), and the end of the step
/// before.
struct ProgramStep {
    ProgramRange before;  ///< ops before the puts
    ProgramRange reads;   ///< of Program::reads: the peers whose vectors `before` reads
    ProgramRange puts;
    ProgramRange after;  ///< ops when everything has arrived and all puts have left
    std::uint32_t events = 1;
    std::uint32_t part = 0;                              ///< index into Program::parts
    bool last = false;                                   ///< of its part
    std::uint32_t schedule_step = 0, schedule_part = 0;  ///< for messages
    friend bool operator==(const ProgramStep&, const ProgramStep&) = default;
};

/// A message that a step waits for, where messages are stores: all that is known of it, in one
/// place.
struct ProgramArrival {
    std::uint32_t channel = 0, arrival = 0;
    std::uint32_t bytes = 0, copied = 0;  ///< as in arrival_bytes and arrival_copies
    std::uint32_t landing_offset = 0;     ///< in the channel's slot
    friend bool operator==(const ProgramArrival&, const ProgramArrival&) = default;
};

struct Program {
    static constexpr std::uint32_t none = ~0U;

    std::uint32_t number = 0;         ///< in its plan
    std::vector<ProgramRange> parts;  ///< steps of each part that has any
    bool acknowledged = false;        ///< its receivers tell senders that they have started it
    /// By part, for a pipeline that returns everything (an allreduce): the step with which its last
    /// piece has begun; empty: the program is none. The next such segment starts then. If it
    /// started earlier, both would share each link and end together, and links would idle
    /// meanwhile.
    std::vector<std::uint32_t> drains_at;
    bool shares_vectors = false;  ///< ranks read this rank's vectors, or it reads theirs
    bool image_is_input = false, image_is_output = false;  ///< peers read the scratch as that
    /// The scratch is an image that the group shows (Images::take_image), and so is what peers
    /// tell.
    bool shows_image = false;
    std::vector<std::uint32_t> used_in, used_out;  ///< channels that carry messages
    std::vector<std::size_t> in_bytes, out_bytes;  ///< of each of these: what its slot takes
    ProgramRange begin;  ///< ops before the first step: from the input to where the result is built
    ProgramRange end;    ///< ops after the last step: to the output
    std::vector<ProgramStep> steps;
    std::vector<ProgramPut> puts;
    std::vector<ProgramOp> ops;
    /// Per incoming channel: its arrivals in order, as a range of arrival_steps (the step of each),
    /// of arrival_bytes (its length), of arrival_offsets and of arrival_copies.
    std::vector<ProgramRange> arrivals;
    std::vector<std::uint32_t> arrival_steps;
    std::vector<std::size_t> arrival_bytes;
    std::vector<std::size_t> arrival_offsets;  ///< its place in the landing slot
    std::vector<std::size_t> arrival_copies;   ///< bytes that are copied from its landing slot
    /// The peers whose vectors this rank reads: the outgoing channel to each. The spaces of peer i
    /// are first_peer + 2i (its input) and the next (its output); op `open` places them.
    std::vector<std::uint32_t> peers;
    std::vector<std::uint32_t> reads;  ///< such channels, those of each step together
    std::uint32_t first_peer = Location::first_landing;
    std::uint32_t peer_of(std::uint32_t space) const { return peers[(space - first_peer) / 2]; }
    std::uint32_t spaces() const {
        return first_peer + 2 * static_cast<std::uint32_t>(peers.size());
    }
    /// For each VectorAddresses that peers are told: where in the input it begins. Location's
    /// `addresses` has them side by side.
    std::vector<std::size_t> told;
    std::size_t scratch_bytes = 0;
    std::vector<std::size_t> pack_bytes;  ///< per group
    // Of a lane whose messages are stores (stored_calls.hpp): the steps in the order of the
    // schedule's, those of all parts side by side, and by step what it waits for, in `awaited`.
    std::vector<std::uint32_t> order;
    std::vector<ProgramArrival> awaited;
    std::vector<ProgramRange> awaited_by_step;
    friend bool operator==(const Program&, const Program&) = default;
};

/// Fills `order`, `awaited` and `awaited_by_step` of a program that is complete but for them.
/// Throws bad_alloc.
void order_steps(Program& program);

}  // namespace trefoil
