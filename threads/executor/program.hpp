// SPDX-License-Identifier: BSD-3-Clause
// A schedule lowered to bytes for one vector length: what the executor runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trefoil {

/// A place in one of the buffers of a running segment. Spaces: the user's output and input at the
/// segment's offset, the plan's scratch, then the landing slot of each incoming channel, by its
/// index.
struct Location {
    static constexpr std::uint32_t output = 0;
    static constexpr std::uint32_t scratch = 1;
    static constexpr std::uint32_t input = 2;
    static constexpr std::uint32_t first_landing = 3;
    std::uint32_t space = output;
    std::size_t offset = 0;  ///< bytes
};

struct ProgramOp {
    enum class Kind : std::uint8_t {
        copy,     ///< target = source; `elements` counts bytes
        reduce,   ///< target = target op source
        joint,    ///< target = (target op source) op second, in one pass
        publish,  ///< target = VectorAddresses of this rank
        fold      ///< Program::direct
    };
    Kind kind = Kind::copy;
    Location target, source, second;
    std::size_t elements = 0;
};

/// What a rank tells its peers, so that they get at its vectors: addresses in its process.
struct VectorAddresses {
    std::uint64_t input = 0, output = 0;
};

/// A share of a vector that one rank reduces straight from all ranks' inputs, in the order of the
/// ranks, and writes into all ranks' outputs. Nobody else touches that share of any output, so
/// inputs and outputs may be the same.
struct DirectShare {
    struct Contributor {
        static constexpr std::uint32_t self = ~0U;
        std::uint32_t channel = self;  ///< index into Channels::out, to whom it is
        Location addresses;            ///< where its VectorAddresses have landed
    };
    std::vector<Contributor> contributors;  ///< by rank
    std::size_t offset = 0;                 ///< bytes, in every input and output
    std::size_t elements = 0, element_bytes = 1;
    std::size_t chunk_elements = 0;  ///< what is folded at a time: stays in the cache
    Location sum, fetched;           ///< room for a chunk each
};

struct ProgramRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

/// Also the acknowledgement of an incoming channel's use, which is a put without bytes.
struct ProgramPut {
    static constexpr std::uint32_t nothing = ~0U;
    std::uint32_t channel = 0;                ///< index into Channels::out
    std::uint32_t acknowledged_in = nothing;  ///< index into Channels::in, if it is one
    int group = 0;
    Location source;  ///< when `packs` is empty
    ProgramRange
        packs;  ///< copies into the group's pack buffer; target.offset counts from its start
    std::size_t pack_offset = 0;
    std::size_t bytes = 0;
    std::size_t landing_offset = 0;  ///< in the channel's slot
    std::uint32_t index = 0;         ///< of the message on its channel
};

/// One step of one part in which this rank does something. The step is complete when its tokens are
/// used up: one per arrival, one per put (its source may be reused), and one from the step before.
struct ProgramStep {
    ProgramRange before;  ///< ops before the puts
    ProgramRange puts;
    ProgramRange after;  ///< ops when everything has arrived and all puts have left
    std::uint32_t tokens = 1;
    std::uint32_t part = 0;                              ///< index into Program::parts
    bool last = false;                                   ///< of its part
    std::uint32_t schedule_step = 0, schedule_part = 0;  ///< for messages
};

struct Program {
    static constexpr std::uint32_t none = ~0U;

    std::vector<ProgramRange> parts;  ///< steps of each part that has any
    /// The last of `parts`, if the program is acknowledged: one step whose puts tell the senders
    /// that what they sent has been taken in. It opens when all other parts are complete.
    std::uint32_t closing_part = none;
    bool acknowledged = false;  ///< its receivers acknowledge what they have taken in
    std::vector<std::uint32_t> used_in, used_out;  ///< channels that carry messages
    ProgramRange begin;  ///< ops before the first step: from the input to where the result is built
    ProgramRange end;    ///< ops after the last step: to the output
    std::vector<ProgramStep> steps;
    std::vector<ProgramPut> puts;
    std::vector<ProgramOp> ops;
    /// Per incoming channel: its arrivals in order, as a range of arrival_steps (the step of each)
    /// and of arrival_bytes (its length).
    std::vector<ProgramRange> arrivals;
    std::vector<std::uint32_t> arrival_steps;
    std::vector<std::size_t> arrival_bytes;
    DirectShare direct;  ///< of the op `fold`, if there is one
    std::size_t scratch_bytes = 0;
    std::vector<std::size_t> pack_bytes;  ///< per group
};

}  // namespace trefoil
