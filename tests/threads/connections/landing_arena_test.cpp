// SPDX-License-Identifier: BSD-3-Clause
// Landing memory in slices: they never overlap, gaps become one again, and chunks are few.
#include "threads/connections/landing_arena.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "threads/connections/mailbox.hpp"
#include "topo/cache_line.hpp"
#include "topo/error.hpp"

namespace trefoil {
namespace {

/// Aligned memory as a port group has it.
class Memory {
  public:
    LandingArena::Allocate allocator() {
        return [this](std::size_t bytes) {
            if (fail) {
                throw Error(Status::out_of_memory, "none left");
            }
            blocks_.push_back(std::make_unique<std::byte[]>(bytes + LandingArena::alignment));
            const auto address = reinterpret_cast<std::uintptr_t>(blocks_.back().get());
            const auto over = address % LandingArena::alignment;
            return LocalMemory{blocks_.back().get() + (LandingArena::alignment - over), bytes,
                               nullptr};
        };
    }
    bool fail = false;

  private:
    std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

TEST(LandingArena, StartsSmallAndGivesAlignedPieces) {
    Memory memory;
    LandingArena arena(memory.allocator());
    EXPECT_EQ(arena.bytes_held(), 0U);
    const ArenaSlice a = arena.take(1), b = arena.take(513);
    EXPECT_EQ(arena.bytes_held(), LandingArena::first_chunk);
    EXPECT_EQ(a.bytes, cache_line);
    EXPECT_EQ(b.bytes, LandingArena::aligned(513));
    EXPECT_EQ(arena.bytes_used(), a.bytes + b.bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data) % LandingArena::alignment, 0U);
    EXPECT_EQ(arena.chunk(b.chunk).data + b.offset, b.data);
}

// From both ends of a chunk, and again where somebody has given it back.
TEST(LandingArena, SaysWhatNobodyHasHad) {
    Memory memory;
    LandingArena arena(memory.allocator());
    const ArenaSlice front = arena.take(4096), end = arena.take(64);
    EXPECT_TRUE(front.untouched);
    EXPECT_TRUE(end.untouched);
    const ArenaSlice next = arena.take(8192);
    EXPECT_TRUE(next.untouched);
    arena.give_back(end);
    EXPECT_FALSE(arena.take(64).untouched);
    arena.give_back(next);
    const ArenaSlice again = arena.take(16384);
    ASSERT_EQ(again.data, next.data);
    EXPECT_FALSE(again.untouched) << "its first half is used";
    EXPECT_TRUE(arena.take(2048).untouched);
    const ArenaSlice rest = arena.take(arena.bytes_held() - arena.bytes_used());
    EXPECT_TRUE(rest.untouched) << "to the slice at the end";
    EXPECT_TRUE(arena.take(2 * LandingArena::first_chunk).untouched) << "another chunk";
}

TEST(LandingArena, MakesOneGapOfNeighbours) {
    Memory memory;
    LandingArena arena(memory.allocator());
    std::vector<ArenaSlice> slices;
    for (std::size_t i = 0; i < LandingArena::first_chunk / 1024; ++i) {
        slices.push_back(arena.take(1024));
    }
    std::shuffle(slices.begin(), slices.end(), std::minstd_rand(1));
    for (const ArenaSlice& slice : slices) {
        arena.give_back(slice);
    }
    EXPECT_EQ(arena.bytes_used(), 0U);
    EXPECT_EQ(arena.take(LandingArena::first_chunk).offset, 0U);
    EXPECT_EQ(arena.chunks(), 1U);
}

TEST(LandingArena, TakesTheSmallestGapThatFits) {
    Memory memory;
    LandingArena arena(memory.allocator());
    const ArenaSlice large = arena.take(8192), wall = arena.take(2048), smaller = arena.take(4096),
                     end = arena.take(2048);
    arena.give_back(large);
    arena.give_back(smaller);
    EXPECT_EQ(arena.take(2048).offset, smaller.offset);
    (void)wall;
    (void)end;
}

// So that they share pages, whatever is taken between them.
TEST(LandingArena, SmallPiecesLieSideBySide) {
    Memory memory;
    LandingArena arena(memory.allocator());
    std::vector<ArenaSlice> small;
    for (int i = 0; i < 8; ++i) {
        small.push_back(arena.take(256));
        (void)arena.take(4096);
    }
    for (std::size_t i = 1; i < small.size(); ++i) {
        EXPECT_EQ(small[i].offset + 256, small[i - 1].offset);
    }
    EXPECT_EQ(small[0].offset + 256, LandingArena::first_chunk);
    arena.give_back(small.back());
    EXPECT_EQ(arena.take(200).offset, small.back().offset);
    EXPECT_EQ(arena.chunks(), 1U);
}

// What peers put into one slice, this processor's writes to the next one must not take back. The
// lines are those of the processor that this was compiled for.
TEST(LandingArena, PiecesShareNoCacheLine) {
#if defined(__aarch64__)
    static_assert(cache_line == 256);  // of A64FX, the longest there is
#endif
    Memory memory;
    LandingArena arena(memory.allocator());
    std::set<std::uintptr_t> lines;
    for (const std::size_t bytes :
         {std::size_t{1}, MailboxLayout::answer_bytes, MailboxLayout::record_bytes,
          std::size_t{300}, MailboxLayout::urgent_bytes, std::size_t{1025}, std::size_t{4000},
          std::size_t{64}}) {
        const ArenaSlice slice = arena.take(bytes);
        const auto first = reinterpret_cast<std::uintptr_t>(slice.data);
        for (auto line = first / cache_line; line <= (first + bytes - 1) / cache_line; ++line) {
            EXPECT_TRUE(lines.insert(line).second) << bytes << " bytes";
        }
    }
}

TEST(LandingArena, HasAChunkOfItsOwnForWhatIsLargerThanAll) {
    Memory memory;
    LandingArena arena(memory.allocator());
    const std::size_t bytes = LandingArena::largest_chunk + 1;
    const ArenaSlice slice = arena.take(bytes);
    EXPECT_EQ(arena.chunk(slice.chunk).bytes,
              LandingArena::largest_chunk + LandingArena::alignment);
    arena.give_back(slice);
    EXPECT_EQ(arena.take(bytes).data, slice.data);
}

TEST(LandingArena, DoesNotChangeWhenThereIsNoMemory) {
    Memory memory;
    LandingArena arena(memory.allocator());
    const ArenaSlice slice = arena.take(1);
    memory.fail = true;
    EXPECT_THROW(arena.take(LandingArena::first_chunk), Error);
    EXPECT_THROW(arena.take(0), Error);
    EXPECT_THROW(arena.take(~std::size_t{0}), Error);
    EXPECT_EQ(arena.bytes_used(), LandingArena::alignment);
    arena.give_back(slice);
    EXPECT_EQ(arena.take(LandingArena::first_chunk).chunk, 0U);
}

TEST(LandingArena, NeverGivesAPlaceTwice) {
    Memory memory;
    LandingArena arena(memory.allocator());
    std::minstd_rand random(7);
    struct Held {
        ArenaSlice slice;
        std::byte mark;
    };
    std::vector<Held> held;
    std::size_t used = 0, most = 0;
    for (int i = 0; i < 20'000; ++i) {
        if (held.empty() || random() % 5 < 3 - (held.size() > 200 ? 2 : 0)) {
            const std::size_t bytes = std::size_t{1} << random() % 14;
            const ArenaSlice slice = arena.take(bytes + random() % bytes);
            const auto mark = static_cast<std::byte>(i);
            std::fill_n(slice.data, slice.bytes, mark);
            held.push_back({slice, mark});
            used += slice.bytes;
        } else {
            std::swap(held[random() % held.size()], held.back());
            const auto [slice, mark] = held.back();
            held.pop_back();
            ASSERT_TRUE(std::all_of(slice.data, slice.data + slice.bytes,
                                    [mark = mark](std::byte b) { return b == mark; }));
            arena.give_back(slice);
            used -= slice.bytes;
        }
        most = std::max(most, used);
        ASSERT_EQ(arena.bytes_used(), used);
    }
    EXPECT_LE(arena.bytes_held(), 4 * most + LandingArena::first_chunk);
    EXPECT_LE(arena.chunks(), 10U);
}

}  // namespace
}  // namespace trefoil
