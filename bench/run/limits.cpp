// SPDX-License-Identifier: BSD-3-Clause
// Limits on processes and descriptors, read from the system.
#include "bench/run/limits.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

/// A pipe for each of a rank's two outputs, and its connection to the store.
constexpr std::size_t descriptors_per_rank = 3;
/// What the process has besides, and a rank that is being started.
constexpr std::size_t other_descriptors = 32;

std::optional<std::size_t> number_in(const std::filesystem::path& file) {
    std::size_t number = 0;
    return std::ifstream(file) >> number ? std::optional(number) : std::nullopt;
}

/// The less of both.
void lower(std::optional<std::size_t>& room, std::optional<std::size_t> other) {
    if (other) {
        room = room ? std::min(room, other) : other;
    }
}

[[noreturn]] void refuse(Rank ranks, const std::string& limit) {
    throw Error(Status::unsupported,
                fmt::format("{} ranks cannot be started here: {}; start fewer, or raise the limit",
                            ranks, limit));
}

void require(Rank ranks, const std::optional<std::size_t>& room, const std::string& limit) {
    if (room && static_cast<std::size_t>(ranks) > *room) {
        refuse(ranks, limit);
    }
}

}  // namespace

std::optional<std::size_t> room_in_control_groups(const std::filesystem::path& groups,
                                                  const std::filesystem::path& mount) {
    std::optional<std::size_t> room;
    std::ifstream lines(groups);
    // "0::/user.slice" of version 2, "7:pids:/user.slice" of version 1.
    for (std::string line; std::getline(lines, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == line.npos || second == line.npos) {
            continue;
        }
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (!controllers.empty() && controllers != "pids") {
            continue;
        }
        const std::filesystem::path root = controllers.empty() ? mount : mount / controllers;
        std::filesystem::path group =
            std::filesystem::path(line.substr(second + 1)).relative_path();
        // Each group above it has a limit of its own. None has a number in the place of "max".
        for (bool more = true; more; group = group.parent_path()) {
            more = !group.empty();
            const auto most = number_in(root / group / "pids.max");
            const auto now = number_in(root / group / "pids.current");
            if (most && now) {
                lower(room, *most - std::min(*most, *now));
            }
        }
    }
    return room;
}

void require_room_for(Rank ranks) {
    rlimit limit{};
    // Root may have any number. How many this user has already is not looked for.
    if (geteuid() != 0 && getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        require(ranks, limit.rlim_cur,
                fmt::format("a user may have {} processes (ulimit -u)", limit.rlim_cur));
    }
    const auto in_groups = room_in_control_groups();
    require(ranks, in_groups,
            fmt::format("the control group has room for {} more processes (pids.max)",
                        in_groups.value_or(0)));
    const auto numbers = number_in("/proc/sys/kernel/pid_max");
    require(ranks, numbers,
            fmt::format("the system has {} process numbers (kernel.pid_max)", numbers.value_or(0)));
}

RoomForDescriptors::RoomForDescriptors(Rank ranks) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlim_t needed = descriptors_per_rank * static_cast<rlim_t>(ranks) + other_descriptors;
    if (before_.rlim_cur >= needed) {
        return;
    }
    rlimit raised = before_;
    raised.rlim_cur = needed;
    if (needed > before_.rlim_max || setrlimit(RLIMIT_NOFILE, &raised) != 0) {
        refuse(ranks, fmt::format("this process needs {} descriptors for them, and may have {} "
                                  "(ulimit -Hn)",
                                  needed, before_.rlim_max));
    }
}

}  // namespace trefoil::tool
