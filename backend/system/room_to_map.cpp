// SPDX-License-Identifier: BSD-3-Clause
// Opens files, maps address space and starts a thread, and gives all back.
#include "backend/system/room_to_map.hpp"

#include <sys/epoll.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "topo/descriptor.hpp"
#include "topo/error.hpp"
#include "topo/own_thread.hpp"

namespace trefoil {

namespace {

/// Any that needs no file system.
Descriptor open_one() {
    return Descriptor(epoll_create1(EPOLL_CLOEXEC));
}

[[noreturn]] void refuse_files(const std::string& what, int error) {
    throw Error(Status::system_error, what + ": " + std::strerror(error) + hint_for_files(error));
}

}  // namespace

void require_room_for_files_and_a_thread(const std::string& library, int files) {
    std::vector<Descriptor> opened;
    for (int i = 0; i < files; ++i) {
        opened.push_back(open_one());
        if (!opened.back().is_open()) {
            const int error = errno;
            refuse_files(library + " needs " + std::to_string(files) +
                             " descriptors, and this process can have " + std::to_string(i) +
                             " more",
                         error);
        }
    }
    start_thread([] {}).join();
}

void require_room_to_map(std::size_t bytes) {
    if (!open_one().is_open()) {
        refuse_files("no descriptor for a peer's memory", errno);
    }
    void* const tried = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (tried == MAP_FAILED) {
        throw Error(Status::out_of_memory, "no address space for " + std::to_string(bytes) +
                                               " bytes of a peer's memory; raise its limit "
                                               "(ulimit -v), or use fewer ranks per host");
    }
    munmap(tried, bytes);
}

}  // namespace trefoil
