// SPDX-License-Identifier: BSD-3-Clause
// Shared memory regions in an anonymous memory file (memfd) that peers open through /proc.
#include "backend/memory/memory_region.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include "backend/memory/host_identity.hpp"
#include "backend/system/secrets.hpp"
#include "topo/descriptor.hpp"
#include "topo/error.hpp"
#include "topo/numa_memory.hpp"
#include "topo/process_space.hpp"
#include "topo/process_state.hpp"

namespace trefoil::memory {

namespace {

constexpr std::uint64_t description_mark = 0x31796d656d465254;  // "TRFmemy1"
const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

/// The header's page and the pages of `bytes`.
std::size_t size_of_region(std::size_t bytes) {
    return page + (bytes + page - 1) / page * page;
}

/// The first page: proof that it is the region that was described, although process and descriptor
/// numbers may be used anew. All zeros once the region was given back.
struct Header {
    std::uint64_t token;
    std::uint64_t bytes;
    std::atomic<std::uint32_t> holders;  ///< processes; the last one gives the memory back
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// The opaque bytes that travel.
struct Description {
    std::uint64_t mark;
    std::uint64_t process;  ///< process_number() of the maker
    std::uint64_t token;    ///< random, one per region
    std::uint64_t bytes;
    MakersSpace space;
    std::int32_t maker;
    std::int32_t file;
    Use use;
    std::uint32_t unused;
    std::uint64_t home;    ///< where the maker has mapped it
    std::uint64_t offset;  ///< in the maker's file
};
static_assert(sizeof(Description) == Region::description_bytes);

Header& header_of(std::byte* mapping) {
    return *reinterpret_cast<Header*>(mapping);
}

/// False: the last holder has let go of it. Acquire: what the maker wrote into the header is seen;
/// pairs with the release in make().
bool join_holders(Header& header) {
    std::uint32_t holders = header.holders.load(std::memory_order_acquire);
    while (holders != 0) {
        if (header.holders.compare_exchange_weak(holders, holders + 1, std::memory_order_acq_rel)) {
            return true;
        }
    }
    return false;
}

/// The regions that this process has made or opened, so that its threads share the object itself: a
/// region then lives as long as its last user, and no pointer ever travels in a description.
class Registry {
  public:
    void add(std::uint64_t token, const std::shared_ptr<Region>& region) {
        const std::scoped_lock lock(mutex_);
        regions_[token] = region;
    }
    void remove(std::uint64_t token) {
        const std::scoped_lock lock(mutex_);
        regions_.erase(token);
    }
    std::shared_ptr<Region> find(std::uint64_t token) {
        const std::scoped_lock lock(mutex_);
        const auto found = regions_.find(token);
        return found == regions_.end() ? nullptr : found->second.lock();
    }

  private:
    std::mutex mutex_;
    std::map<std::uint64_t, std::weak_ptr<Region>> regions_;
};

Registry& registry() {
    static auto* const instance = new Registry;  // outlives every static object that holds a region
    return *instance;
}

std::byte* map(int file, std::uint64_t offset, std::size_t bytes) {
    void* address =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
    if (address == MAP_FAILED) {
        fail_by_system(("cannot map " + std::to_string(bytes) + " bytes of shared memory").c_str(),
                       errno);
    }
    return static_cast<std::byte*>(address);
}

Description read_description(Use use, std::string_view text) {
    Description description{};
    if (text.size() == sizeof description) {
        std::memcpy(&description, text.data(), sizeof description);
    }
    if (description.mark != description_mark) {
        throw Error(Status::invalid_argument,
                    "backend memory: " + std::to_string(text.size()) +
                        " bytes that describe no shared memory; all ranks must use the same "
                        "backend and the same version");
    }
    if (description.use != use) {
        throw Error(Status::invalid_argument,
                    "backend memory: a port's address and the description of memory were mixed up");
    }
    return description;
}

[[noreturn]] void fail_as_freed(pid_t maker) {
    throw Error(Status::peer_lost, "backend memory: process " + std::to_string(maker) +
                                       " has freed its memory, or is not the one that described "
                                       "it");
}

/// Opens the maker's file; what cannot be an anonymous memory file of Trefoil is not even opened.
Descriptor open_file(const Description& description) {
    const std::string process = std::to_string(description.maker);
    const std::string path = "/proc/" + process + "/task/" +
                             std::to_string(living_thread(description.maker)) + "/fd/" +
                             std::to_string(description.file);
    char target[64] = {};
    const bool readable = readlink(path.c_str(), target, sizeof target - 1) > 0;
    const int error = errno;
    if (readable && std::strncmp(target, "/memfd:trefoil", 14) == 0) {
        Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
        if (file.is_open()) {
            return file;
        }
        if (errno == EMFILE || errno == ENFILE) {
            fail_by_system(("cannot open " + path).c_str(), errno);
        }
    } else {
        const ProcessState state = process_state(description.maker);
        if (state.ended() || (state.known() && (readable || error == ENOENT))) {
            throw Error(Status::peer_lost,
                        "backend memory: process " + process +
                            (state.ended() ? " has ended" : " has freed its memory"));
        }
        errno = error;
    }
    throw Error(Status::unsupported,
                "backend memory: may not open " + path + ": " + std::strerror(errno) +
                    "; all ranks must run as the same user and in one container, or use the ofi "
                    "backend");
}

/// Whether the header is that of the region that was described. Asked before it is written to, too:
/// the place may be another program's by now.
bool is_described(const Header& header, const Description& description) {
    return header.token == description.token && header.bytes == description.bytes;
}

}  // namespace

Region::Region(Use use, std::uint64_t token, std::size_t bytes, pid_t maker)
    : use_(use), maker_(maker), holder_(getpid()), token_(token), bytes_(bytes) {}

std::shared_ptr<Region> Region::make(Use use, std::size_t bytes) {
    if (bytes > SIZE_MAX / 4) {
        fail_by_system(("no room for " + std::to_string(bytes) + " bytes").c_str(), ENOMEM);
    }
    std::shared_ptr<Region> region(
        new Region(use, random_number() & ~std::uint64_t{1}, bytes, getpid()));
    const std::size_t all = size_of_region(bytes);
    region->place_ = Arena::take(all);
    region->mapping_ = map(region->place_.arena->file(), region->place_.offset, all);
    region->home_ = reinterpret_cast<std::uintptr_t>(region->mapping_);
    // Peers write most of it first, but this rank reads it all.
    prefer_numa_node(region->mapping_, all, own_numa_node());
    Header& header = header_of(region->mapping_);
    header.token = region->token_;
    header.bytes = bytes;
    header.holders.store(1, std::memory_order_release);
    registry().add(region->token_, region);
    return region;
}

std::shared_ptr<Region> Region::open(Use use, std::string_view text) {
    Description description = read_description(use, text);
    if (auto known = registry().find(description.token)) {
        return known;
    }
    require_same_space(description.space, description.maker);
    if (description.process == process_number() && description.maker == getpid()) {
        throw Error(Status::peer_lost,
                    "backend memory: a rank of this process has already freed this memory");
    }
    const Descriptor file = open_file(description);
    struct stat status {};
    if (fstat(file.number(), &status) != 0) {
        fail_by_system("cannot inspect shared memory", errno);
    }
    // Beyond the end of the file, looking at the header would end this process.
    const auto end = static_cast<std::uint64_t>(status.st_size);
    if (description.offset % page != 0 || description.bytes > end || description.offset > end ||
        size_of_region(description.bytes) > end - description.offset) {
        fail_as_freed(description.maker);
    }
    std::shared_ptr<Region> region(
        new Region(use, description.token, description.bytes, description.maker));
    std::byte* const mapping =
        map(file.number(), description.offset, size_of_region(description.bytes));
    Header& header = header_of(mapping);
    if (!is_described(header, description) || !join_holders(header)) {
        munmap(mapping, size_of_region(description.bytes));
        fail_as_freed(description.maker);
    }
    region->mapping_ = mapping;  // from here on the destructor lets go of it
    if (!is_described(header, description)) {
        fail_as_freed(description.maker);
    }
    region->home_ = description.home;
    registry().add(region->token_, region);
    return region;
}

Region::~Region() {
    if (mapping_ == nullptr) {
        return;
    }
    registry().remove(token_);
    const std::size_t all = size_of_region(bytes_);
    // Not in a child after fork(), which has never been counted.
    if (holder_ == getpid() &&
        header_of(mapping_).holders.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        // The pages go back, and the place is never used again. What mlockall() has locked stays.
        munlock(mapping_, all);
        madvise(mapping_, all, MADV_REMOVE);
    }
    munmap(mapping_, all);
}

std::byte* Region::data() const {
    return mapping_ + page;
}

std::uint64_t Region::first_word() const {
    return token_;  // Header begins with it
}

std::string Region::description() const {
    Description description{};
    description.mark = description_mark;
    description.process = process_number();
    description.token = token_;
    description.bytes = bytes_;
    description.home = home_;
    description.space.fill();
    description.maker = maker_;
    description.file = place_.arena ? place_.arena->file() : -1;
    description.offset = place_.offset;
    description.use = use_;
    return {reinterpret_cast<const char*>(&description), sizeof description};
}

}  // namespace trefoil::memory
