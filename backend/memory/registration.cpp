// SPDX-License-Identifier: BSD-3-Clause
// The registrations of this process, by token, and their descriptions.
#include "backend/memory/registration.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "backend/memory/host_identity.hpp"
#include "backend/memory/process_memory.hpp"
#include "backend/system/secrets.hpp"
#include "topo/error.hpp"
#include "topo/process_space.hpp"

namespace trefoil::memory {

namespace {

constexpr std::uint64_t registration_mark = 0x31676572'6d465254;  // "TRFmreg1"

/// The opaque bytes that travel.
struct Travelling {
    std::uint64_t mark;
    std::uint64_t process;  ///< process_number() of the owner
    std::uint64_t token;
    std::uint64_t bytes;
    MakersSpace space;
    std::uint64_t home;  ///< where the owner's process has the token: proof that it can be read
    std::int32_t owner;
    std::uint32_t check;  ///< 0
};

/// Looked up by description only; no pointer ever travels that is followed.
class Known {
  public:
    void add(std::uint64_t token, const std::shared_ptr<Registration>& registration) {
        const std::scoped_lock lock(mutex_);
        all_[token] = registration;
    }
    void remove(std::uint64_t token) {
        const std::scoped_lock lock(mutex_);
        all_.erase(token);
    }
    std::shared_ptr<Registration> find(std::uint64_t token) {
        const std::scoped_lock lock(mutex_);
        const auto found = all_.find(token);
        return found == all_.end() ? nullptr : found->second.lock();
    }

  private:
    std::mutex mutex_;
    std::unordered_map<std::uint64_t, std::weak_ptr<Registration>> all_;
};

Known& known() {
    static auto* const instance = new Known;  // outlives every static object that holds one
    return *instance;
}

/// The owner will read our memory, not we its; but the kernel judges both by the same rule.
void require_copies(const Travelling& description) {
    std::uint64_t word = 0;
    const bool copied = copy_from_process(description.owner, &word, description.home, sizeof word);
    const std::string owner = "process " + std::to_string(description.owner);
    if (!copied && errno != ESRCH && errno != EFAULT) {
        throw Error(Status::unsupported,
                    "backend memory: the kernel does not let this process and " + owner +
                        " copy each other's memory (" + std::strerror(errno) +
                        "; kernel.yama.ptrace_scope, or the rules of a container), so nothing "
                        "can be put into memory that it has registered");
    }
    if (!copied || word != description.token) {
        throw Error(Status::peer_lost,
                    "backend memory: " + owner + " has ended, or has deregistered this memory");
    }
}

}  // namespace

Registration::Registration(void* data, std::size_t bytes)
    : data_(static_cast<std::byte*>(data)), bytes_(bytes), token_(random_number() | 1) {}

std::shared_ptr<Registration> Registration::make(void* data, std::size_t bytes) {
    std::shared_ptr<Registration> registration(new Registration(data, bytes));
    known().add(registration->token_, registration);
    return registration;
}

Registration::~Registration() {
    known().remove(token_);
}

bool Registration::write(std::uint64_t offset, const void* source, std::size_t bytes) {
    writers_.fetch_add(1, std::memory_order_seq_cst);
    const bool open = open_.load(std::memory_order_seq_cst);
    if (open) {
        std::memcpy(data_ + offset, source, bytes);
    }
    // Release: whoever sees no writer sees what was written.
    writers_.fetch_sub(1, std::memory_order_release);
    return open;
}

void Registration::close() {
    open_.store(false, std::memory_order_seq_cst);
    while (writers_.load(std::memory_order_seq_cst) != 0) {
        std::this_thread::yield();  // ended by the writer, at the end of its copy
    }
}

std::string Registration::description() const {
    Travelling description{};
    description.mark = registration_mark;
    description.process = process_number();
    description.token = token_;
    description.bytes = bytes_;
    description.space.fill();
    description.home = reinterpret_cast<std::uintptr_t>(&token_);
    description.owner = getpid();
    return {reinterpret_cast<const char*>(&description), sizeof description};
}

bool describes_registration(std::string_view description) {
    std::uint64_t mark = 0;
    if (description.size() >= sizeof mark) {
        std::memcpy(&mark, description.data(), sizeof mark);
    }
    return mark == registration_mark;
}

PeerRegistration open_registration(std::string_view text) {
    Travelling description{};
    if (text.size() == sizeof description) {
        std::memcpy(&description, text.data(), sizeof description);
    }
    if (description.mark != registration_mark || description.check != 0 ||
        description.token % 2 == 0) {
        throw Error(Status::invalid_argument,
                    "backend memory: " + std::to_string(text.size()) +
                        " bytes that describe no registered memory; all ranks must use the same "
                        "version");
    }
    PeerRegistration peer{description.token, description.bytes, nullptr};
    if (description.process == process_number() && description.owner == getpid()) {
        peer.here = known().find(description.token);
        if (!peer.here) {
            throw Error(Status::peer_lost,
                        "backend memory: a rank of this process has deregistered this memory");
        }
        return peer;
    }
    require_same_space(description.space, description.owner);
    require_copies(description);
    return peer;
}

}  // namespace trefoil::memory
