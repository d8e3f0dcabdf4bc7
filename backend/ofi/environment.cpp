// SPDX-License-Identifier: BSD-3-Clause
// Defaults for libfabric's variables, and the sweep of /dev/shm.
#include "backend/ofi/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "backend/system/environment_entry.hpp"
#include "backend/system/shared_files.hpp"
#include "topo/process_state.hpp"

namespace trefoil::ofi {

namespace {

// Takes a decimal number and the character after it (0: none) off the front of `text`.
std::optional<long> take_number(std::string_view& text, char after) {
    long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 0) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (after != 0) {
        if (text.empty() || text.front() != after) {
            return std::nullopt;
        }
        text.remove_prefix(1);
    }
    return value;
}

// The shm provider calls a region "<process>:<user>:<number>", and a mapping for one message that
// with "_<message>" behind. Returns the process if the name is of this kind and of this user.
std::optional<pid_t> owner_of(std::string_view name) {
    const auto process = take_number(name, ':');
    const auto user = process ? take_number(name, ':') : std::nullopt;
    const auto number = user ? take_number(name, 0) : std::nullopt;
    if (!number || static_cast<uid_t>(*user) != getuid() || *process == 0) {
        return std::nullopt;
    }
    if (!name.empty() && name.front() == '_') {
        name.remove_prefix(1);
        if (!take_number(name, 0)) {
            return std::nullopt;
        }
    }
    return name.empty() ? std::optional(static_cast<pid_t>(*process)) : std::nullopt;
}

/// This user's, if `gone` says so of their folder, name and process.
template <typename Gone>
void remove_regions(Gone&& gone) noexcept {
    remove_shared_files([&gone](int folder, const char* name) {
        const auto owner = owner_of(name);
        return owner && gone(folder, name, *owner);
    });
}

std::atomic<int> peers_expected{0};

}  // namespace

RxmSizes rxm_sizes(int peers) {
    RxmSizes sizes{std::max(peers, RxmSizes::fewest_peers), RxmSizes::most_messages};
    while (sizes.entries() > RxmSizes::safe_entries && sizes.messages > RxmSizes::fewest_messages) {
        sizes.messages /= 2;
    }
    return sizes;
}

void expect_peers(Rank peers) noexcept {
    peers_expected.store(peers, std::memory_order_relaxed);
}

void prepare_environment() {
    static std::once_flag once;
    std::call_once(once, [] {
        // An rxm endpoint allocates thousands of buffers for two-sided messages, which puts do not
        // use: 71 MB with the default of 16 KiB, 6 MB with this.
        add_to_environment("FI_OFI_RXM_BUFFER_SIZE", "256");
        const RxmSizes sizes = rxm_sizes(peers_expected.load(std::memory_order_relaxed));
        add_to_environment("FI_UNIVERSE_SIZE", std::to_string(sizes.peers));
        if (sizes.messages < RxmSizes::most_messages) {
            add_to_environment("FI_OFI_RXM_MSG_TX_SIZE", std::to_string(sizes.messages));
            add_to_environment("FI_OFI_RXM_MSG_RX_SIZE", std::to_string(sizes.messages));
        }
        // libfabric's cache keeps registrations open after they were closed: over verbs, puts that
        // came too late still landed in memory that was deregistered. Trefoil has its own.
        add_to_environment("FI_MR_CACHE_MAX_COUNT", "0");
    });
}

// Processes of other containers look dead from here, but what they use is in use. That goes for
// all of these: a number of ours may be another process's there.
void remove_stale_regions() noexcept {
    remove_regions([](int folder, const char* name, pid_t owner) {
        return process_state(owner).ended() && is_unused(folder, name);
    });
}

void remove_regions_of(int process) noexcept {
    if (process_state(process).ended()) {  // its number may have been given again
        remove_regions([process](int folder, const char* name, pid_t owner) {
            return owner == process && is_unused(folder, name);
        });
    }
}

void remove_region_at(std::string_view address) noexcept {
    constexpr std::string_view scheme = "fi_shm://";
    if (!address.starts_with(scheme)) {
        return;
    }
    std::string_view region = address.substr(scheme.size());
    region = region.substr(0, region.find('\0'));
    const auto process = owner_of(region);
    const ProcessState state = process ? process_state(*process) : ProcessState{};
    if (state.ended() || state.stopped()) {
        remove_regions([&](int folder, const char* file, pid_t) {
            const std::string_view name = file;
            return name.starts_with(region) &&
                   (name.size() == region.size() || name[region.size()] == '_') &&
                   (state.stopped() || is_unused(folder, file));
        });
    }
}

}  // namespace trefoil::ofi
