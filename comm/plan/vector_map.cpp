// SPDX-License-Identifier: BSD-3-Clause
// Slices, offsets and the image.
#include "comm/plan/vector_map.hpp"

#include <algorithm>
#include <utility>

#include "topo/error.hpp"

namespace trefoil {

namespace {

__extension__ using Wide = unsigned __int128;

/// Where slice `index` of `slices` equal ones begins, in elements: a multiple of `unit`, or the
/// end.
std::size_t slice_begin(std::size_t elements, std::size_t index, std::size_t slices,
                        std::size_t unit) {
    const std::size_t units = (elements + unit - 1) / unit;
    return std::min(elements, static_cast<std::size_t>(Wide{units} * index / slices) * unit);
}

std::uint32_t home_of(const SegmentShape& shape, const CollectiveTraits& row, Rank rank,
                      bool input_apart) {
    if (input_apart && row.out.data == Data::own_block) {
        return Location::output;
    }
    if (row.blocks_both_ways()) {
        return shape.in_place ? Location::scratch : Location::input;
    }
    if (row.out.data != Data::own_block && row.out.held_by(rank, shape.root)) {
        return Location::output;
    }
    const bool all_is_read = row.in.data == Data::rank_blocks && row.in.held_by(rank, shape.root);
    return all_is_read && !row.reduces ? Location::input : Location::scratch;
}

}  // namespace

void append_run(const Run& run, std::vector<Run>& runs) {
    if (run.bytes == 0) {
        return;
    }
    if (!runs.empty() && runs.back().at.space == run.at.space &&
        runs.back().at.offset + runs.back().bytes == run.at.offset) {
        runs.back().bytes += run.bytes;
    } else {
        runs.push_back(run);
    }
}

VectorMap::VectorMap(const Schedule& schedule, SegmentShape shape)
    : schedule_(schedule),
      shape_(std::move(shape)),
      row_(traits_of(shape_.collective)),
      input_apart_(schedule.parts.front().input_apart) {
    home_ = home_of(shape_, row_, schedule.rank, input_apart_);
    if (shape_.by_image) {
        find_shown();
        return;
    }
    if (home_ != Location::scratch || (input_apart_ && has_blocks())) {
        return;
    }
    if (!has_blocks()) {
        image_bytes_ = shape_.elements[0] * shape_.element_bytes;
        return;
    }
    for (std::size_t p = 0; p < schedule.parts.size(); ++p) {
        std::vector<std::size_t>& offsets = image_.emplace_back();
        for (Block b = 0; b < blocks_at_home(p); ++b) {
            offsets.push_back(image_bytes_);
            image_bytes_ += is_built_in_output(p, b) ? 0 : block_bytes(p, b);
        }
    }
}

bool VectorMap::is_built_in_output(std::size_t part, Block block) const {
    return home_ == Location::scratch && row_.out.data == Data::own_block &&
           !(row_.reduces && shape_.in_place) && shape_.owners[part][block] == schedule_.rank;
}

void VectorMap::find_shown() {
    const Part& part = schedule_.parts.front();
    for (const Step& step : schedule_.of(part)) {
        for (const Send& send : schedule_.sends_of(step)) {
            shows_ |= send.opens;
        }
        for (const Move& m : schedule_.moves_of(step)) {
            const bool is_own = m.initial || !m.pulls();
            shown_ = row_.reduces && is_own && m.to < part.vector_blocks ? m.to : shown_;
        }
    }
    if (shows_ || shown_ != none) {
        image_bytes_ = shape_.elements[has_blocks() ? schedule_.rank : 0] * shape_.element_bytes;
    }
}

Block VectorMap::blocks_at_home(std::size_t part) const {
    const Block all = schedule_.parts[part].vector_blocks;
    return blocks_both_ways() ? all - row_.received_of(all) : all;
}

VectorMap::Range VectorMap::range(std::size_t part, Block first, Block last) const {
    const auto unit_of = [this](std::size_t bytes) {
        return std::max<std::size_t>(1, bytes / shape_.element_bytes);
    };
    const std::size_t parts = schedule_.parts.size();
    if (has_blocks()) {  // then it is one block
        const std::size_t elements = shape_.elements[shape_.owners[part][first]];
        const std::size_t unit = unit_of(block_unit_bytes);
        return {slice_begin(elements, part, parts, unit),
                slice_begin(elements, part + 1, parts, unit)};
    }
    const std::size_t elements = shape_.elements[0];
    const std::size_t unit = unit_of(part_unit_bytes);
    const std::size_t begin = slice_begin(elements, part, parts, unit);
    const std::size_t share = slice_begin(elements, part + 1, parts, unit) - begin;
    const Block blocks = schedule_.parts[part].vector_blocks;
    return {begin + slice_begin(share, first, blocks, unit_of(block_unit_bytes)),
            begin + slice_begin(share, last, blocks, unit_of(block_unit_bytes))};
}

Location VectorMap::at(std::size_t part, Block block, std::size_t element) const {
    if (is_shown(part, block)) {
        return {Location::scratch, element * shape_.element_bytes};
    }
    if (!has_blocks() || builds_own_block()) {
        return {home_, element * shape_.element_bytes};
    }
    if (is_built_in_output(part, block)) {
        return {Location::output, element * shape_.element_bytes};
    }
    const bool at_home = block < blocks_at_home(part);
    if (at_home && home_ == Location::scratch && !stays(part, block)) {
        return {home_, image_[part][block]};
    }
    const bool in_output = !at_home || home_ == Location::scratch;
    return {in_output ? Location::output : home_,
            shape_.displacements[shape_.owners[part][block]] + element * shape_.element_bytes};
}

bool VectorMap::stays(std::size_t part, Block block) const {
    return blocks_both_ways() && !row_.with_neighbours() &&
           shape_.owners[part][block] == schedule_.rank;
}

void VectorMap::append(std::size_t part, Block first, Block last, std::vector<Run>& runs) const {
    append_at(&VectorMap::at, part, first, last, runs);
}

void VectorMap::append_input(std::size_t part, Block first, Block last,
                             std::vector<Run>& runs) const {
    append_at(&VectorMap::in_input, part, first, last, runs);
}

void VectorMap::append_at(Place place, std::size_t part, Block first, Block last,
                          std::vector<Run>& runs) const {
    const Block step = has_blocks() ? 1 : last - first;
    for (Block b = first; b < last; b += step) {
        const Range elements = range(part, b, b + step);
        append_run({(this->*place)(part, b, elements.from),
                    (elements.to - elements.from) * shape_.element_bytes},
                   runs);
    }
}

Run VectorMap::at_owner(std::size_t part, Extent blocks, bool initial) const {
    const Block end = blocks.first + blocks.count;
    const Range elements = range(part, blocks.first, end);
    Run run{{initial ? Location::input : Location::output, elements.from * shape_.element_bytes},
            (elements.to - elements.from) * shape_.element_bytes};
    if (!has_blocks()) {
        return run;
    }
    const bool is_sent = blocks_both_ways() && end <= blocks_at_home(part);
    if (schedule_.parts.size() > 1 || blocks.count != 1 || (!is_sent && !initial)) {
        throw Error(Status::internal,
                    "blocks that ranks read from each other do not lie where all of them know; "
                    "please report this");
    }
    run.at.space = Location::input;
    if (row_.reduces) {
        run.at.offset += shape_.displacements[shape_.owners[part][blocks.first]];
    }
    return run;
}

std::size_t VectorMap::input_for(Rank peer) const {
    if (row_.in.data != Data::rank_blocks || row_.reduces) {
        return 0;
    }
    if (!image_is_input()) {
        return shape_.displacements[static_cast<std::size_t>(peer)];
    }
    const auto place = std::ranges::find(shape_.owners[0], peer);
    return image_[0][static_cast<std::size_t>(place - shape_.owners[0].begin())];
}

std::size_t VectorMap::block_bytes(std::size_t part, Block block) const {
    const Range elements = range(part, block, block + 1);
    return (elements.to - elements.from) * shape_.element_bytes;
}

bool VectorMap::begins_in_input(std::size_t part, Block block) const {
    if (shape_.by_image || !row_.in.held_by(schedule_.rank, shape_.root) ||
        row_.in_place == InPlace::always || input_apart_) {
        return false;
    }
    if (row_.in.data == Data::vector) {
        return true;
    }
    const bool is_own = row_.in.data == Data::own_block;
    return (home_ == Location::scratch || (is_own && home_ == Location::output)) &&
           block < blocks_at_home(part) && !stays(part, block) &&
           (row_.reduces || !is_built_in_output(part, block)) &&
           (!is_own || shape_.owners[part][block] == schedule_.rank);
}

Location VectorMap::in_input(std::size_t part, Block block, std::size_t element) const {
    const bool is_alone = !has_blocks() || row_.in.data == Data::own_block;
    return {Location::input, (is_alone ? 0 : shape_.displacements[shape_.owners[part][block]]) +
                                 element * shape_.element_bytes};
}

bool VectorMap::is_wanted(std::size_t part, Block block) const {
    if (home_ == Location::output) {
        return !has_blocks();
    }
    return home_ == Location::scratch && row_.out.data == Data::own_block &&
           shape_.owners[part][block] == schedule_.rank;
}

std::vector<Transfer> VectorMap::begin() const {
    if (shape_.by_image) {
        return to_show();
    }
    std::vector<Run> targets, sources;
    for (std::size_t p = 0; p < schedule_.parts.size(); ++p) {
        const Block blocks = schedule_.parts[p].vector_blocks;
        for (Block first = 0, end = 0; first < blocks; first = std::max(end, first + 1)) {
            for (end = first; end < blocks && begins_in_input(p, end);) {
                ++end;
            }
            append(p, first, end, targets);
            append_input(p, first, end, sources);
        }
    }
    std::vector<Transfer> list;
    side_by_side(std::array{targets, sources}, [&](const auto& at, std::size_t bytes) {
        list.push_back({at[0], at[1], bytes});
    });
    return list;
}

/// All that the rank begins with, but for what only it reads.
std::vector<Transfer> VectorMap::to_show() const {
    std::vector<Transfer> list;
    const std::uint32_t source =
        row_.in_place == InPlace::always ? Location::output : Location::input;
    const auto add = [&](std::size_t from, std::size_t to) {
        if (shows_ && from < to) {
            list.push_back({{Location::scratch, from}, {source, from}, to - from});
        }
    };
    const Range own = shown_ == none ? Range{} : range(0, shown_, shown_ + 1);
    add(0, own.from * shape_.element_bytes);
    add(own.to * shape_.element_bytes, image_bytes_);
    return list;
}

std::vector<Transfer> VectorMap::end() const {
    const Rank rank = schedule_.rank;
    std::vector<Transfer> list;
    if (shape_.by_image) {
        if (shown_ != none && row_.out.held_by(rank, shape_.root)) {
            const Range own = range(0, shown_, shown_ + 1);
            const std::size_t from = own.from * shape_.element_bytes;
            list.push_back({{Location::output, from},
                            {Location::scratch, from},
                            own.to * shape_.element_bytes - from});
        }
        return list;
    }
    if (row_.out.data != Data::own_block || builds_own_block()) {
        return list;
    }
    if (home_ == Location::input) {
        add_block(list, Location::output, Location::input, 0, shape_.displacements[rank], rank);
    } else {
        add_own_blocks(list);
    }
    return list;
}

std::vector<Run> VectorMap::averages() const {
    const Rank rank = schedule_.rank;
    if (!shape_.average || !row_.out.held_by(rank, shape_.root)) {
        return {};
    }
    const std::size_t elements =
        shape_.elements[row_.out.data == Data::own_block ? static_cast<std::size_t>(rank) : 0];
    return {{{Location::output, 0}, elements * shape_.element_bytes}};
}

void VectorMap::add_block(std::vector<Transfer>& list, std::uint32_t target, std::uint32_t source,
                          std::size_t target_offset, std::size_t source_offset, Rank owner) const {
    list.push_back({{target, target_offset},
                    {source, source_offset},
                    shape_.elements[owner] * shape_.element_bytes});
}

/// From the image.
void VectorMap::add_own_blocks(std::vector<Transfer>& list) const {
    for (std::size_t p = 0; p < schedule_.parts.size(); ++p) {
        for (Block b = 0; b < blocks_at_home(p); ++b) {
            const std::size_t bytes = block_bytes(p, b);
            if (bytes > 0 && shape_.owners[p][b] == schedule_.rank && !stays(p, b) &&
                !is_built_in_output(p, b)) {
                list.push_back({{Location::output, range(p, b, b + 1).from * shape_.element_bytes},
                                {Location::scratch, image_[p][b]},
                                bytes});
            }
        }
    }
}

}  // namespace trefoil
