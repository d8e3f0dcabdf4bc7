// SPDX-License-Identifier: BSD-3-Clause
// Shared memory regions over anonymous memory files (memfd) that peers open through /proc.
#include "backend/memory/memory_region.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>

#include "topo/error.hpp"

namespace trefoil::memory {

namespace {

constexpr std::uint64_t description_mark = 0x31796d656d465254;  // "TRFmemy1"
const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

/// The header's page and the pages of `bytes`.
std::size_t file_size(std::size_t bytes) {
    return page + (bytes + page - 1) / page * page;
}

/// The first page of the file: proof that it is the region that was described, although process
/// and descriptor numbers may be used anew.
struct Header {
    std::uint64_t token;
    std::uint64_t bytes;
};

/// The opaque bytes that travel.
struct Description {
    std::uint64_t mark;
    std::uint64_t process;  ///< random, one per process: tells equal numbers of namespaces apart
    std::uint64_t token;    ///< random, one per region
    std::uint64_t bytes;
    char boot[40];  ///< of the running kernel, as text: the same on one host only
    std::int32_t maker;
    std::int32_t file;
    Use use;
    std::uint32_t unused;
    std::uint64_t home;  ///< where the maker has mapped it
};

std::uint64_t random_number() {
    std::uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number) {
        throw Error(Status::system_error, "backend memory: the kernel gives no random numbers");
    }
    return number;
}

std::uint64_t this_process() {
    static const std::uint64_t number = random_number();
    return number;
}

const std::string& boot_text() {
    static const std::string text = [] {
        std::ifstream file("/proc/sys/kernel/random/boot_id");
        std::string line;
        std::getline(file, line);
        return line;
    }();
    return text;
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

[[noreturn]] void fail(const std::string& what, int error) {
    const std::string hint =
        error == EMFILE   ? "; raise the limit of open files (ulimit -n)"
        : error == ENOMEM ? "; free memory, or use fewer ranks, port threads or smaller slots"
                          : "";
    throw Error(error == ENOMEM ? Status::out_of_memory : Status::system_error,
                "backend memory: " + what + ": " + std::strerror(error) + hint);
}

std::byte* map(int file, std::size_t bytes) {
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (address == MAP_FAILED) {
        fail("cannot map " + std::to_string(bytes) + " bytes of shared memory", errno);
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
    description.boot[sizeof description.boot - 1] = '\0';
    return description;
}

void check_host(const Description& description) {
    if (boot_text() != description.boot) {
        throw Error(Status::unsupported,
                    "backend memory: the memory of process " + std::to_string(description.maker) +
                        " lives on another host; use the ofi backend between hosts");
    }
}

/// Opens the maker's file; what cannot be an anonymous memory file of Trefoil is not even opened.
int open_file(const Description& description) {
    const std::string process = std::to_string(description.maker);
    const std::string path = "/proc/" + process + "/fd/" + std::to_string(description.file);
    char target[64] = {};
    const bool readable = readlink(path.c_str(), target, sizeof target - 1) > 0;
    const int error = errno;
    if (readable && std::strncmp(target, "/memfd:trefoil", 14) == 0) {
        const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
        if (file >= 0) {
            return file;
        }
        if (errno == EMFILE || errno == ENFILE) {
            fail("cannot open " + path, errno);
        }
    } else if (readable || error == ENOENT) {
        throw Error(Status::peer_lost, "backend memory: process " + process +
                                           " has ended or freed its memory, or runs in another "
                                           "container; containers need the ofi backend");
    }
    throw Error(Status::unsupported,
                "backend memory: may not open " + path + ": " + std::strerror(errno) +
                    "; all ranks must run as the same user and in one container, or use the ofi "
                    "backend");
}

}  // namespace

std::shared_ptr<Region> Region::make(Use use, std::size_t bytes) {
    if (bytes > SIZE_MAX / 4) {
        fail("no room for " + std::to_string(bytes) + " bytes", ENOMEM);
    }
    std::shared_ptr<Region> region(new Region);
    region->use_ = use;
    region->maker_ = getpid();
    region->token_ = random_number();
    region->bytes_ = bytes;
    region->file_ = memfd_create("trefoil", MFD_CLOEXEC);
    if (region->file_ < 0) {
        fail("cannot create shared memory", errno);
    }
    const std::size_t all = file_size(bytes);
    if (ftruncate(region->file_, static_cast<off_t>(all)) != 0) {
        fail("cannot size shared memory to " + std::to_string(all) + " bytes", errno);
    }
    region->mapping_ = map(region->file_, all);
    region->data_ = region->mapping_ + page;
    region->home_ = reinterpret_cast<std::uintptr_t>(region->mapping_);
    const Header header{region->token_, region->bytes_};
    std::memcpy(region->mapping_, &header, sizeof header);
    registry().add(region->token_, region);
    return region;
}

std::shared_ptr<Region> Region::open(Use use, std::string_view text) {
    const Description description = read_description(use, text);
    check_host(description);
    if (auto known = registry().find(description.token)) {
        return known;
    }
    if (description.process == this_process() && description.maker == getpid()) {
        throw Error(Status::peer_lost,
                    "backend memory: a rank of this process has already freed this memory");
    }
    std::shared_ptr<Region> region(new Region);
    region->use_ = use;
    region->maker_ = description.maker;
    region->file_ = open_file(description);
    struct stat status {};
    if (fstat(region->file_, &status) != 0) {
        fail("cannot inspect shared memory", errno);
    }
    const auto all = static_cast<std::size_t>(status.st_size);
    if (description.bytes > all || all != file_size(description.bytes)) {
        throw Error(Status::peer_lost, "backend memory: the memory of process " +
                                           std::to_string(description.maker) +
                                           " has been replaced by other memory");
    }
    region->bytes_ = description.bytes;
    region->mapping_ = map(region->file_, all);
    region->data_ = region->mapping_ + page;
    close(region->file_);  // the mapping stays
    region->file_ = -1;
    Header header{};
    std::memcpy(&header, region->mapping_, sizeof header);
    if (header.token != description.token) {
        throw Error(Status::peer_lost, "backend memory: process " +
                                           std::to_string(description.maker) +
                                           " is not the one that described this memory");
    }
    region->token_ = description.token;
    region->home_ = description.home;
    registry().add(region->token_, region);
    return region;
}

Region::~Region() {
    if (token_ != 0) {
        registry().remove(token_);
    }
    if (mapping_ != nullptr) {
        munmap(mapping_, file_size(bytes_));
    }
    if (file_ >= 0) {
        close(file_);
    }
}

std::uint64_t Region::first_word() const {
    return token_;  // Header begins with it
}

std::string Region::description() const {
    Description description{};
    description.mark = description_mark;
    description.process = this_process();
    description.token = token_;
    description.bytes = bytes_;
    description.home = home_;
    boot_text().copy(description.boot, sizeof description.boot - 1);
    description.maker = maker_;
    description.file = file_;
    description.use = use_;
    return {reinterpret_cast<const char*>(&description), sizeof description};
}

}  // namespace trefoil::memory
