// SPDX-License-Identifier: BSD-3-Clause
// Vector clocks, and who has read what since it was written.
#include "algorithms/analysis/access_order.hpp"

#include <algorithm>
#include <string>

namespace trefoil {

namespace {
std::string name(const char* what, std::size_t number) {
    return std::string(what) + " " + std::to_string(number);
}
std::string block_of(Block block, Rank owner) {
    return name("block", block) + " of " + name("rank", static_cast<std::size_t>(owner));
}
}  // namespace

AccessOrder::AccessOrder(Rank ranks, std::size_t blocks, std::size_t part, Findings& findings)
    : ranks_(static_cast<std::size_t>(ranks)),
      blocks_(blocks),
      part_(part),
      findings_(findings),
      known_(ranks_ * ranks_),
      opened_(ranks_ * ranks_),
      last_reads_(ranks_ * ranks_),
      written_(ranks_ * blocks_),
      lost_(ranks_ * blocks_),
      readers_(ranks_ * blocks_) {}

void AccessOrder::begin_step(std::size_t step) {
    step_ = step;
    moved_ = static_cast<Time>(2 * step + 1);
    received_ = moved_ + 1;
    for (std::size_t r = 0; r < ranks_; ++r) {
        known_[r * ranks_ + r] = moved_;
    }
    told_ = known_;
}

void AccessOrder::read(Rank reader, Rank owner, Block block, bool initial) {
    const Time written = written_[place(owner, block)];
    const Time lost = lost_[place(owner, block)];
    if (initial && lost > 0) {
        findings_.add(part_, step_, reader,
                      "reads what " + name("rank", static_cast<std::size_t>(owner)) +
                          " began with in " + name("block", block) +
                          ", which that rank writes in " + name("step", step_of(lost)));
    }
    if (reader == owner) {
        return;
    }
    if (opened_[pair(reader, owner)] == 0) {
        findings_.add(
            part_, step_, reader,
            "pulls " + block_of(block, owner) + ", which has not opened its vector to it");
    }
    if (!initial && written > known_[pair(reader, owner)]) {
        findings_.add(part_, step_, reader,
                      "pulls " + block_of(block, owner) + ", which that rank writes in " +
                          name("step", step_of(written)) + ", with no message in between");
    }
    readers_[place(owner, block)].push_back({reader, moved_, initial});
    last_reads_[pair(owner, reader)] = {block, moved_};
}

/// Who reads what the rank began with gets the same from a block that keeps it.
void AccessOrder::write(Rank owner, Block block, Time at, bool keeps) {
    std::vector<Read>& readers = readers_[place(owner, block)];
    for (const Read& read : readers) {
        if (keeps && read.initial) {
            continue;
        }
        if (known_[pair(owner, read.reader)] < read.at) {
            findings_.add(part_, step_, owner,
                          "overwrites " + name("block", block) + ", which " +
                              name("rank", static_cast<std::size_t>(read.reader)) + " pulls in " +
                              name("step", step_of(read.at)) + " and has not released");
        }
    }
    std::erase_if(readers, [keeps](const Read& read) { return !(keeps && read.initial); });
    written_[place(owner, block)] = at;
    if (!keeps) {
        lost_[place(owner, block)] = at;
    }
}

void AccessOrder::hear(Rank at, Rank from, bool opens) {
    for (std::size_t r = 0; r < ranks_; ++r) {
        Time& known = known_[pair(at, static_cast<Rank>(r))];
        known = std::max(known, told_[pair(from, static_cast<Rank>(r))]);
    }
    opened_[pair(at, from)] |= opens ? 1 : 0;
}

void AccessOrder::finish() {
    for (std::size_t owner = 0; owner < ranks_; ++owner) {
        for (std::size_t reader = 0; reader < ranks_; ++reader) {
            const LastRead& last = last_reads_[owner * ranks_ + reader];
            if (known_[owner * ranks_ + reader] < last.at) {
                findings_.add(part_, step_, static_cast<Rank>(owner),
                              "completes while " + name("rank", reader) + " may still pull " +
                                  name("block", last.block) + " in " +
                                  name("step", step_of(last.at)) +
                                  ", and no message says that this is over");
            }
        }
    }
}

}  // namespace trefoil
