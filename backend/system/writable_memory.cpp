// SPDX-License-Identifier: BSD-3-Clause
// Reads /proc/self/maps: transports take any address, and find out only when bytes arrive.
#include "backend/system/writable_memory.hpp"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "topo/error.hpp"

namespace trefoil {

namespace {

std::string text_of(std::uintptr_t address) {
    char text[2 + 2 * sizeof address + 1];
    std::snprintf(text, sizeof text, "0x%" PRIxPTR, address);
    return text;
}

[[noreturn]] void refuse(std::uintptr_t begin, std::size_t bytes, const std::string& why) {
    throw Error(Status::invalid_argument, "cannot register " + std::to_string(bytes) +
                                              " bytes at " + text_of(begin) + ": " + why);
}

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

void require_writable_memory(const void* data, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    if (data == nullptr || bytes == 0) {
        refuse(begin, bytes, "a registration needs an address and at least one byte");
    }
    if (bytes > UINTPTR_MAX - begin) {
        refuse(begin, bytes, "they reach beyond the end of the address space");
    }
    const std::unique_ptr<std::FILE, CloseFile> maps(std::fopen("/proc/self/maps", "re"));
    if (!maps) {
        return;  // without /proc nobody can tell
    }
    // Mappings are listed in the order of addresses; `next` is the first byte not yet seen.
    std::uintptr_t next = begin;
    char line[512];
    bool whole = true;  // this is the beginning of a line: names may be longer than `line`
    bool any = false;   // none is listed where the main thread has ended: then nobody can tell, too
    while (next < begin + bytes && std::fgets(line, sizeof line, maps.get()) != nullptr) {
        any = true;
        const bool first = whole;
        whole = std::string_view(line).ends_with('\n');
        std::uintptr_t low = 0;
        std::uintptr_t high = 0;
        char access[5] = {};
        if (!first ||
            std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &low, &high, access) != 3 ||
            high <= next) {
            continue;
        }
        if (low > next) {
            break;
        }
        if (access[1] != 'w') {
            refuse(begin, bytes,
                   "those from " + text_of(next) + " on cannot be written (read-only)");
        }
        next = high;
    }
    if (any && next < begin + bytes) {
        refuse(begin, bytes, "nothing is mapped at " + text_of(next));
    }
}

}  // namespace trefoil
