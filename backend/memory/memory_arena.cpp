// SPDX-License-Identifier: BSD-3-Clause
// Places in one memory file.
#include "backend/memory/memory_arena.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>

#include "topo/error.hpp"
#include "topo/log/log.hpp"

namespace trefoil::memory {

namespace {

/// Far below what a file may have, far above what a job needs before its places are all given back.
constexpr std::uint64_t most_of_one_file = std::uint64_t{1} << 44;

/// Growing a file beyond the limit, which the program may change, would end the process by a
/// signal.
std::uint64_t limit_of_files() {
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return most_of_one_file;
    }
    return std::min<std::uint64_t>(most_of_one_file, limit.rlim_cur);
}

}  // namespace

void fail_by_system(const char* what, int error) {
    const std::string hint =
        error == EMFILE   ? "; raise the limit of open files (ulimit -n)"
        : error == EFBIG  ? "; raise the limit of file sizes (ulimit -f)"
        : error == ENOMEM ? "; free memory, or use fewer ranks, port threads or smaller slots"
                          : "";
    throw Error(error == ENOMEM ? Status::out_of_memory : Status::system_error,
                std::string("backend memory: ") + what + ": " + std::strerror(error) + hint);
}

Arena::Arena() : file_(Descriptor(memfd_create("trefoil", MFD_CLOEXEC))), maker_(getpid()) {
    if (!file_.is_open()) {
        fail_by_system("cannot create shared memory", errno);
    }
    log_debug(LogTopic::memory, [] { return std::string("begins a file of shared memory"); });
}

bool Arena::has_room(std::size_t bytes) const {
    const std::uint64_t room = limit_of_files();
    return bytes <= room && end_ <= room - bytes;
}

Arena::Place Arena::take(std::size_t bytes) {
    static std::mutex mutex;  // guards the two below, and the ends of all arenas
    static auto& present = *new std::weak_ptr<Arena>;
    const std::scoped_lock lock(mutex);
    std::shared_ptr<Arena> arena = present.lock();
    if (!arena || arena->maker_ != getpid() || !arena->file_.is_intact() ||
        !arena->has_room(bytes)) {
        arena.reset(new Arena);
        present = arena;
    }
    if (!arena->has_room(bytes)) {
        fail_by_system("cannot size shared memory", EFBIG);
    }
    if (ftruncate(arena->file(), static_cast<off_t>(arena->end_ + bytes)) != 0) {
        fail_by_system("cannot size shared memory", errno);
    }
    const std::uint64_t offset = arena->end_;
    arena->end_ += bytes;
    return {std::move(arena), offset};
}

}  // namespace trefoil::memory
