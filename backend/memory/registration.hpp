// SPDX-License-Identifier: BSD-3-Clause
// Memory of the user's that peers may put into, described and found again.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace trefoil::memory {

/// Who writes there:
///
///  - threads of this process write themselves, by write();
///  - processes only offer their bytes: the owner fetches them by the kernel's copying call
///    (pull_offers.hpp). So nobody but the owner's process ever writes there, and a peer that was
///    stopped halfway does no harm later.
class Registration {
  public:
    /// Makes it known in this process. `data` stays the user's.
    static std::shared_ptr<Registration> make(void* data, std::size_t bytes);
    ~Registration();
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

    std::byte* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }
    /// Random, one per registration, odd (those of regions are even).
    std::uint64_t token() const { return token_; }
    bool contains(std::uint64_t offset, std::size_t bytes) const {
        return bytes <= bytes_ && offset <= bytes_ - bytes;
    }
    std::string description() const;

    /// By any thread of this process, inside the memory: copies `bytes` there. False: closed, and
    /// nothing was written.
    bool write(std::uint64_t offset, const void* source, std::size_t bytes);
    /// No write() begins any more. Returns when those that had begun are over: each is a copy of a
    /// running thread.
    void close();

  private:
    Registration(void* data, std::size_t bytes);

    std::byte* data_;
    std::size_t bytes_;
    std::uint64_t token_;
    // Sequentially consistent, all four accesses in write() and close(): either the writer sees
    // that it is closed, or close() sees the writer.
    std::atomic<bool> open_{true};
    std::atomic<std::uint32_t> writers_{0};
};

/// A peer's registration as its description tells.
struct PeerRegistration {
    std::uint64_t token = 0;
    std::uint64_t bytes = 0;
    std::shared_ptr<Registration> here;  ///< null: of another process, which fetches
};

/// Whether these bytes may be a description of a registration rather than of a region.
bool describes_registration(std::string_view description);

/// Throws Error(invalid_argument) for bytes that are no description, Error(peer_lost) where the
/// memory is no longer registered, Error(unsupported) where the kernel does not let processes copy
/// each other's memory or the peer is on another host.
PeerRegistration open_registration(std::string_view description);

}  // namespace trefoil::memory
