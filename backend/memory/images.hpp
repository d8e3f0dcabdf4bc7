// SPDX-License-Identifier: BSD-3-Clause
// Images: shared memory that peers read where it lies, mapped when they first do.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/memory/memory_region.hpp"

namespace trefoil::memory {

/// What peers see of the images of a group's process: the regions that hold them. All zeros is
/// none. Entries are added and never changed, so a peer that finds an address in one may map it at
/// any time.
struct ImageTable {
    static constexpr std::size_t most_regions = 32;  ///< each at least as large as all before it
    struct Entry {
        std::uint64_t home;  ///< where the owner has the bytes
        std::uint64_t bytes;
        char description[Region::description_bytes];
    };
    std::atomic<std::uint32_t> count;
    Entry entries[most_regions];
};

/// The owner's side: hands out slices of the regions. They are kept until the last group of the
/// process ends, and what is given back is handed out again. Thread-safe.
class ImagePool {
  public:
    /// That of this process, which all its groups share: a peer may come through any of them.
    static std::shared_ptr<ImagePool> of_this_process();

    /// From now on, and until it is removed, the table lists all regions.
    void add_table(ImageTable& table);
    void remove_table(ImageTable& table) noexcept;
    /// Throws what Region::make() throws.
    std::byte* take(std::size_t bytes);
    void give_back(std::byte* image) noexcept;

  private:
    struct Slice {
        std::size_t bytes = 0;
        bool taken = false;
    };
    void add_region(std::size_t least);

    std::mutex mutex_;
    std::vector<ImageTable*> tables_;
    std::vector<std::shared_ptr<Region>> regions_;
    std::map<std::byte*, Slice> slices_;  ///< all of all regions
    std::size_t bytes_ = 0;
};

/// A peer's side. Thread-safe.
class ImageView {
  public:
    /// Where the owner's `address` is mapped here; null: it lies in no image, or that cannot be
    /// mapped. Maps a region when it is first asked for.
    std::byte* find(const ImageTable& table, std::uint64_t address) noexcept;

  private:
    std::mutex mutex_;
    std::array<std::shared_ptr<Region>, ImageTable::most_regions> regions_;  ///< by entry
    std::array<std::atomic<std::byte*>, ImageTable::most_regions> mapped_{};
};

}  // namespace trefoil::memory
