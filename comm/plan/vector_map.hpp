// SPDX-License-Identifier: BSD-3-Clause
// Where the blocks of a schedule lie: from (part, block) to bytes of the user's vectors, for one
// segment of a call.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "algorithms/schedule/algorithm.hpp"
#include "threads/executor/program.hpp"

namespace trefoil {

/// What a segment covers. Of a vector that is cut at will `elements` has one entry. Where each rank
/// has a block: one entry per rank, the elements of its block that belong to the segment; and where
/// each rank's block begins in the vector of all blocks (the input of reduce_scatter and scatter,
/// the output of allgather and gather). A rank's own block alone begins at 0 of the other vector.
/// Alltoall on p ranks: 2p entries, what goes to each rank and then what comes from each; the first
/// displacements are in the input, the others in the output. Exchanges with neighbours: the same by
/// slot, with one entry for what goes to all of them in an allgather.
struct SegmentShape {
    Collective collective = Collective::allreduce;
    Rank root = 0;
    std::size_t element_bytes = 1;
    std::vector<std::size_t> elements;
    std::vector<std::size_t> displacements;  ///< bytes
    /// Where ranks have blocks: by part and position, whose block it is. Alltoall: which entry of
    /// `elements` the vector block is.
    std::vector<std::vector<Rank>> owners;
    bool average = false;  ///< what comes out is to be divided by the number of ranks
    /// Of alltoall, allreduce, reduce and reduce_scatter: input and output are one memory.
    bool in_place = false;
    /// What peers read is an image in the scratch (Traits::by_image).
    bool by_image = false;
    /// The input keeps what a segment reads of it until that is complete, but where the result is
    /// built in its place.
    bool input_stays = false;
};

/// A run of bytes.
struct Run {
    Location at;
    std::size_t bytes = 0;
};

/// Adds a run behind the others, to the last one if it goes on there. No bytes: nothing changes.
void append_run(const Run& run, std::vector<Run>& runs);

/// The same bytes, cut differently in each list: `on(places, bytes)` for each stretch that is in
/// one run of each.
template <std::size_t lists, typename On>
void side_by_side(std::array<std::vector<Run>, lists> runs, const On& on) {
    for (std::array<std::size_t, lists> next{};;) {
        std::array<Location, lists> at;
        std::size_t bytes = SIZE_MAX;
        for (std::size_t i = 0; i < lists; ++i) {
            if (next[i] == runs[i].size()) {
                return;
            }
            at[i] = runs[i][next[i]].at;
            bytes = std::min(bytes, runs[i][next[i]].bytes);
        }
        for (std::size_t i = 0; i < lists; ++i) {
            Run& run = runs[i][next[i]];
            run.at.offset += bytes;
            run.bytes -= bytes;
            next[i] += run.bytes == 0 ? 1 : 0;
        }
        on(at, bytes);
    }
}

/// A copy between the user's vectors and where the result is built.
struct Transfer {
    Location target, source;
    std::size_t bytes = 0;
};

/// The result is built in the user's output where the collective has all of the vector there, at
/// the root of a scatter read from the input, and otherwise in an image in the scratch, in which
/// every part has its blocks in the order of their positions, so that messages are few runs. What a
/// rank gets for itself in a scatter goes to the output at once. An alltoall reads from the input
/// and builds in the output; in place, the image saves the input, but for the rank's own block.
/// Where the input is read where it lies (Part::input_apart) there is no image of blocks, and a
/// rank's own block is built where it is wanted.
///
/// By image, peers read the rank's vector, or its own block, in the scratch: what it begins with is
/// copied there first, a sum of its own is built there, and copied to the output in the end.
class VectorMap {
  public:
    VectorMap(const Schedule& schedule, SegmentShape shape);

    /// Appends the runs of vector blocks [first, last) of a part, where the result is built; empty
    /// ones left out, neighbours merged.
    void append(std::size_t part, Block first, Block last, std::vector<Run>& runs) const;
    /// The block is not there from the beginning: what the rank begins with is its input.
    bool begins_in_input(std::size_t part, Block block) const;
    /// The same runs as append() of such blocks, in the input.
    void append_input(std::size_t part, Block first, Block last, std::vector<Run>& runs) const;
    /// Somebody reads it where it is built after the last step.
    bool is_wanted(std::size_t part, Block block) const;
    std::size_t block_bytes(std::size_t part, Block block) const;
    std::size_t image_bytes() const { return image_bytes_; }
    std::size_t element_bytes() const { return shape_.element_bytes; }
    /// Input and output may be the same memory.
    bool may_be_in_place() const { return shape_.in_place; }
    /// Where blocks of a part lie in the vectors of a rank that has them: from where that rank says
    /// that its input or its output begins. `initial`: what it began with. Throws Error(internal)
    /// where that depends on what it alone knows.
    Run at_owner(std::size_t part, Extent blocks, bool initial) const;
    /// Where the input begins for that peer, in bytes from its beginning: where ranks have blocks
    /// for others, the peer is told of its own.
    std::size_t input_for(Rank peer) const;
    /// What peers may read as this rank's input or output is the image.
    bool image_is_input() const {
        return shape_.by_image || (blocks_both_ways() && home_ == Location::scratch);
    }
    bool image_is_output() const {
        return shape_.by_image || (!blocks_both_ways() && home_ == Location::scratch);
    }
    bool shows_image() const { return shape_.by_image; }

    /// What is copied before the first step, and after the last.
    std::vector<Transfer> begin() const;
    std::vector<Transfer> end() const;
    /// The input keeps what a step may read of it.
    bool input_stays() const {
        return shape_.input_stays && !input_apart_ && !shape_.by_image &&
               (row_.reduces || home_ == Location::scratch);
    }
    /// What is to be divided in the output after that, where the call is an average.
    std::vector<Run> averages() const;

  private:
    struct Range {
        std::size_t from = 0, to = 0;  ///< elements, within the vector or the owner's block
    };
    bool has_blocks() const { return !shape_.owners.empty(); }
    bool blocks_both_ways() const { return row_.blocks_both_ways(); }
    /// Nothing is built but the own block.
    bool builds_own_block() const { return input_apart_ && row_.out.data == Data::own_block; }
    /// The rank's own block, where it gets nothing else and the output is not the input.
    bool is_built_in_output(std::size_t part, Block block) const;
    /// Of how many blocks home_ is the home: alltoall's received ones are at home in the output.
    Block blocks_at_home(std::size_t part) const;
    /// What a rank sends to itself in an alltoall is read where it lies, in place too.
    bool stays(std::size_t part, Block block) const;
    Range range(std::size_t part, Block first, Block last) const;
    Location at(std::size_t part, Block block, std::size_t element) const;
    Location in_input(std::size_t part, Block block, std::size_t element) const;
    using Place = Location (VectorMap::*)(std::size_t part, Block block, std::size_t element) const;
    void append_at(Place place, std::size_t part, Block first, Block last,
                   std::vector<Run>& runs) const;
    void add_block(std::vector<Transfer>& list, std::uint32_t target, std::uint32_t source,
                   std::size_t target_offset, std::size_t source_offset, Rank owner) const;
    void add_own_blocks(std::vector<Transfer>& list) const;
    bool is_shown(std::size_t part, Block block) const {
        return shape_.by_image && part == 0 && block == shown_;
    }
    void find_shown();
    std::vector<Transfer> to_show() const;

    const Schedule& schedule_;
    SegmentShape shape_;
    const CollectiveTraits& row_;
    const bool input_apart_;
    std::uint32_t home_ = Location::output;
    std::size_t image_bytes_ = 0;
    std::vector<std::vector<std::size_t>> image_;  ///< of blocks: offset by part and position
    // By image.
    static constexpr Block none = ~Block{0};
    Block shown_ = none;  ///< the block that this rank builds for its peers
    bool shows_ = false;  ///< what it begins with
};

/// Parts begin at multiples of part_unit_bytes and blocks, within their part, at multiples of
/// block_unit_bytes. A message costs its sender and its receiver more than these bytes do, so tiny
/// vectors are better left in few pieces; and no two blocks share a cache line of the part.
inline constexpr std::size_t part_unit_bytes = 512;
inline constexpr std::size_t block_unit_bytes = 64;

}  // namespace trefoil
