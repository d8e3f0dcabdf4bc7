// SPDX-License-Identifier: BSD-3-Clause
// Where packets for a process wait: a ring in a file that all processes of the host may map. A
// process that has ended is known by the lock that it held on its file.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace emulated_tofu {

/// What crosses the network: a piece of a put, an operation on a word, or an answer.
struct Packet {
    enum class Kind : std::uint8_t { piece, word, answer };
    Kind kind = Kind::piece;
    std::uint8_t operation = 0;  ///< on the word; of an answer: the notice's type
    bool strong = false;         ///< keeps its order
    bool wants_notice = false;   ///< at the target
    bool wants_answer = false;
    std::int32_t code = 0;  ///< of an answer
    std::uint64_t from = 0, to = 0;
    std::uint64_t put = 0;  ///< number, the sender's
    std::uint64_t edata = 0;
    std::uint64_t target = 0;     ///< stadd of the put, not of the piece
    std::uint64_t source = 0;     ///< stadd
    std::uint64_t put_bytes = 0;  ///< all pieces together
    std::uint64_t offset = 0;     ///< of the piece in the put
    std::uint64_t value = 0;      ///< operand; of an answer: what the word held
    std::uint64_t due = 0;        ///< nanoseconds of the host's clock; not before
    std::uint32_t bytes = 0;      ///< that follow
    std::uint32_t reserved = 0;
};

struct Delivery {
    Packet packet;
    std::vector<std::byte> data;
};

class Inbox {
  public:
    static constexpr std::size_t ring_bytes = 256 << 10;
    static constexpr std::size_t most_bytes = 16 << 10;  ///< of one packet
    static constexpr unsigned most_processes = 1024;

    /// This process's own, at a free place of the directory.
    static std::unique_ptr<Inbox> create(const std::string& directory);
    /// A peer's; null: there is none, or it is another process's by now.
    static std::unique_ptr<Inbox> open(const std::string& directory, unsigned place,
                                       std::uint16_t generation);
    ~Inbox();
    Inbox(const Inbox&) = delete;
    Inbox& operator=(const Inbox&) = delete;
    /// In a child after fork(): lets go of the parent's lock, and of nothing else.
    void forget_lock();
    /// Nobody finds it any more; those who have it keep it.
    void remove_file();

    unsigned place() const { return place_; }
    std::uint16_t generation() const;
    std::array<std::uint8_t, 6>& coordinates();

    /// False: there is no room. Wakes the owner.
    bool push(const Packet& packet, const std::byte* data);
    /// All that is there; for the owner.
    std::vector<Delivery> take();
    /// For the owner: until something is pushed or rung since bell() was `seen`.
    std::uint32_t bell() const;
    void sleep(std::uint32_t seen, std::uint32_t microseconds);
    void ring();
    /// Whether the owner's process runs; a look every few milliseconds.
    bool alive();
    /// Whether packets lie there.
    bool has_unread();

  private:
    struct Shared;
    Inbox() = default;
    void lock();
    std::byte* bytes_at(std::uint64_t position) const;

    Shared* shared_ = nullptr;
    int file_ = -1;
    std::string path_;
    unsigned place_ = 0;
    std::uint64_t looked_ = 0;
    bool alive_ = true;
};

std::uint64_t now_nanoseconds();

}  // namespace emulated_tofu
