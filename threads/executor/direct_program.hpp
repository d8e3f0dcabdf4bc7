// SPDX-License-Identifier: BSD-3-Clause
// Direct landing: which messages of a program may land in the vector itself, and when.
//
// A message that its receiver only copies from its landing slot into the vector is a *candidate*:
// its sender may put it there at once, by a put for each run that the receiver would copy. Three
// things make that safe:
//
//  - The sender knows where: the receiver has offered its registered memory (DirectCall).
//  - The sender knows when. The receiver puts a permission for each channel and segment as soon
//    as it has started the segment and nothing that it does before the candidates' steps touches
//    their places any more; the put waits for it. One permission serves all candidates of a
//    channel.
//  - The receiver knows which way a message went: its notifications say so. Those of its runs are
//    alike; the message has arrived with the last of them, and one more is an error.
//
// The wait cannot deadlock. A message of step s of a part is received in step s of the same part,
// and a permission follows steps that are earlier than those of all candidates of its channel. So,
// by induction over segments and steps: if all ranks complete all steps before s, all permissions
// that puts of step s wait for are sent, and all ranks complete step s. Messages that would break
// this order are no candidates. The runs of a message wait for the same permission and belong to
// one step, so nothing of this depends on how many there are.
//
// Use counts and landing slots are as without it (channel_uses.hpp): a message that does not use
// its place in the slot leaves it empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/ports/port_group.hpp"
#include "threads/executor/channels.hpp"
#include "threads/executor/program.hpp"

namespace trefoil {

/// Bytes of a message that lie together in the vector.
struct DirectRun {
    std::uint64_t target = 0;  ///< from where the segment begins
    std::uint64_t bytes = 0;
};

/// Where messages land in the vector: their runs, in the order of their bytes. A message without
/// runs lands in its slot.
class DirectRuns {
  public:
    /// More runs, or shorter ones on average, cost more puts than their copies cost time.
    static constexpr std::size_t most = 64;
    static constexpr std::uint64_t shortest_mean = 1024;
    static bool are_worthwhile(std::size_t runs, std::uint64_t bytes) {
        return runs == 1 || (runs <= most && bytes >= runs * shortest_mean);
    }

    void resize(std::size_t messages) { ranges_.resize(messages); }
    void set(std::size_t message, std::span<const DirectRun> runs) {
        ranges_[message] = {static_cast<std::uint32_t>(runs_.size()),
                            static_cast<std::uint32_t>(runs.size())};
        runs_.insert(runs_.end(), runs.begin(), runs.end());
    }
    std::span<const DirectRun> of(std::size_t message) const {
        if (message >= ranges_.size()) {
            return {};
        }
        return std::span(runs_).subspan(ranges_[message].first, ranges_[message].count);
    }

  private:
    std::vector<ProgramRange> ranges_;
    std::vector<DirectRun> runs_;
};

/// What a peer has told of the vector into which this rank may put.
struct DirectOutgoing {
    RemoteMemory memory;
    std::uint64_t base = 0;        ///< of the vector, in `memory`
    int group = 0;                 ///< own one, which has imported it
    bool withdrawn = false;        ///< guarded by DirectCalls
    std::vector<DirectRuns> runs;  ///< by program; its messages are those of the channel
};

/// One program of a persistent call. All but `outgoing` stands once it is made; that changes only
/// while the call is not in flight.
struct DirectProgram {
    /// A step of this rank that must be complete.
    struct Passed {
        std::uint32_t part = 0, step = 0;
    };
    /// A channel with candidates.
    struct Incoming {
        std::uint32_t in = 0;
        int group = 0;
        std::vector<Passed> after;  ///< what comes before its permission
    };

    std::vector<Incoming> incoming;
    DirectRuns runs;                              ///< by arrival: of candidates
    std::vector<const DirectOutgoing*> outgoing;  ///< by channel; null: puts go to landing slots

    /// Where the put may go in the peer's vector; nothing: to its landing slot.
    std::span<const DirectRun> there(std::uint32_t program, const ProgramPut& put) const {
        const DirectOutgoing* const out =
            put.channel < outgoing.size() ? outgoing[put.channel] : nullptr;
        return out == nullptr ? std::span<const DirectRun>() : out->runs[program].of(put.index);
    }
};

/// Finds the candidates. `input` and `output` are the call's vectors, which may be one;
/// `element_bytes` of its reductions. Nothing where the program reads peers' vectors.
DirectProgram find_candidates(const Program& program, const Channels& channels,
                              const std::byte* input, const std::byte* output,
                              std::size_t element_bytes);

}  // namespace trefoil
