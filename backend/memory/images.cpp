// SPDX-License-Identifier: BSD-3-Clause
// Handing out images, and finding those of a peer.
#include "backend/memory/images.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <iterator>

#include "topo/error.hpp"

namespace trefoil::memory {

namespace {

constexpr std::size_t least_region_bytes = std::size_t{1} << 20;
constexpr std::size_t image_page = 4096;  ///< so that no two images share one

void list(ImageTable& table, const Region& region) {
    const std::uint32_t number = table.count.load(std::memory_order_relaxed);
    ImageTable::Entry& entry = table.entries[number];
    entry.home = reinterpret_cast<std::uintptr_t>(region.data());
    entry.bytes = region.bytes();
    region.description().copy(entry.description, sizeof entry.description);
    // Peers hear of an address in it by a message, which comes later still.
    table.count.store(number + 1, std::memory_order_release);
}

}  // namespace

std::shared_ptr<ImagePool> ImagePool::of_this_process() {
    static std::mutex mutex;  // guards the two below
    static auto& present = *new std::weak_ptr<ImagePool>;
    static pid_t maker = 0;
    const std::scoped_lock lock(mutex);
    std::shared_ptr<ImagePool> pool = present.lock();
    if (!pool || maker != getpid()) {  // a child after fork() begins its own
        pool = std::make_shared<ImagePool>();
        present = pool;
        maker = getpid();
    }
    return pool;
}

void ImagePool::add_table(ImageTable& table) {
    const std::scoped_lock lock(mutex_);
    tables_.push_back(&table);
    for (const auto& region : regions_) {
        list(table, *region);
    }
}

void ImagePool::remove_table(ImageTable& table) noexcept {
    const std::scoped_lock lock(mutex_);
    std::erase(tables_, &table);
}

std::byte* ImagePool::take(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    const std::size_t wanted =
        std::max<std::size_t>(1, (bytes + image_page - 1) / image_page) * image_page;
    const auto fits = [&](const auto& slice) {
        return !slice.second.taken && slice.second.bytes >= wanted;
    };
    auto found = std::ranges::find_if(slices_, fits);
    if (found == slices_.end()) {
        add_region(wanted);
        found = std::ranges::find_if(slices_, fits);
    }
    Slice& slice = found->second;
    if (slice.bytes > wanted) {
        slices_.emplace(found->first + wanted, Slice{slice.bytes - wanted, false});
        slice.bytes = wanted;
    }
    slice.taken = true;
    return found->first;
}

void ImagePool::add_region(std::size_t least) {
    if (regions_.size() == ImageTable::most_regions) {
        throw Error(Status::out_of_memory, "backend memory: no room for another image");
    }
    const std::size_t bytes = std::max({least, bytes_, least_region_bytes});
    regions_.push_back(Region::make(Use::payload, bytes));
    bytes_ += bytes;
    for (ImageTable* const table : tables_) {
        list(*table, *regions_.back());
    }
    slices_.emplace(regions_.back()->data(),
                    Slice{bytes, false});  // nobody takes what is not listed
}

void ImagePool::give_back(std::byte* image) noexcept {
    const std::scoped_lock lock(mutex_);
    auto slice = slices_.find(image);
    if (slice == slices_.end()) {
        return;
    }
    slice->second.taken = false;
    const auto join = [this](auto first, auto second) {
        if (!first->second.taken && !second->second.taken &&
            first->first + first->second.bytes == second->first) {
            first->second.bytes += second->second.bytes;
            slices_.erase(second);
        }
    };
    if (const auto next = std::next(slice); next != slices_.end()) {
        join(slice, next);
    }
    if (slice != slices_.begin()) {
        join(std::prev(slice), slice);
    }
}

std::byte* ImageView::find(const ImageTable& table, std::uint64_t address) noexcept {
    const std::uint32_t count = table.count.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < count && i < ImageTable::most_regions; ++i) {
        const ImageTable::Entry& entry = table.entries[i];
        if (address < entry.home || address - entry.home >= entry.bytes) {
            continue;
        }
        std::byte* mapped = mapped_[i].load(std::memory_order_acquire);
        if (mapped == nullptr) {
            const std::scoped_lock lock(mutex_);
            try {
                regions_[i] =
                    Region::open(Use::payload, {entry.description, sizeof entry.description});
            } catch (const std::exception&) {
                return nullptr;  // who asked says whose image could not be mapped
            }
            mapped = regions_[i]->data();
            mapped_[i].store(mapped, std::memory_order_release);
        }
        return mapped + (address - entry.home);
    }
    return nullptr;
}

}  // namespace trefoil::memory
