// SPDX-License-Identifier: BSD-3-Clause
// Opens a file and maps address space, and gives both back.
#include "backend/system/room_to_map.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "topo/error.hpp"

namespace trefoil {

void require_room_to_map(std::size_t bytes) {
    const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        throw Error(Status::system_error, std::string("no descriptor for a peer's memory: ") +
                                              std::strerror(errno) +
                                              "; raise the limit of open files (ulimit -n)");
    }
    close(file);
    void* const tried = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (tried == MAP_FAILED) {
        throw Error(Status::out_of_memory, "no address space for " + std::to_string(bytes) +
                                               " bytes of a peer's memory; raise its limit "
                                               "(ulimit -v), or use fewer ranks per host");
    }
    munmap(tried, bytes);
}

}  // namespace trefoil
