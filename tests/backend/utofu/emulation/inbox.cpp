// SPDX-License-Identifier: BSD-3-Clause
// The ring is behind a lock that survives the death of who holds it.
#include "tests/backend/utofu/emulation/inbox.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <new>
#include <random>

#include "tests/backend/utofu/emulation/options.hpp"

namespace emulated_tofu {

namespace {

constexpr std::uint64_t alive_interval = 5'000'000;

std::string path_of(const std::string& directory, unsigned place) {
    return directory + "/process." + std::to_string(place);
}

struct flock whole_file(int type) {
    struct flock lock {};
    lock.l_type = static_cast<short>(type);
    lock.l_whence = SEEK_SET;
    return lock;
}

bool try_lock(int file) {
    struct flock lock = whole_file(F_WRLCK);
    return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

bool is_still_at(int file, const std::string& path) {
    struct stat mine {
    }, named{};
    return fstat(file, &mine) == 0 && stat(path.c_str(), &named) == 0 &&
           mine.st_ino == named.st_ino;
}

}  // namespace

std::uint64_t now_nanoseconds() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(time.tv_nsec);
}

struct Inbox::Shared {
    std::atomic<std::uint32_t> ready;
    std::uint16_t generation;
    std::array<std::uint8_t, 6> coordinates;
    pthread_mutex_t mutex;
    std::uint64_t head, tail;  // bytes that were ever taken and pushed
    std::atomic<std::uint32_t> bell, sleeping;
    std::byte ring[ring_bytes];
};

std::unique_ptr<Inbox> Inbox::create(const std::string& directory) {
    mkdir(directory.c_str(), 0700);
    for (unsigned place = 0; place < most_processes; ++place) {
        const std::string path = path_of(directory, place);
        // What an ended process has left is replaced, not used again: peers may have it mapped.
        const int old = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
        if (old >= 0) {
            const bool abandoned = try_lock(old) && is_still_at(old, path);
            if (abandoned) {
                unlink(path.c_str());
            }
            close(old);
            if (!abandoned) {
                continue;
            }
        }
        const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file < 0 && errno != EEXIST) {
            misuse("cannot create %s: %s", path.c_str(), std::strerror(errno));
        }
        if (file < 0 || !try_lock(file) || !is_still_at(file, path)) {
            if (file >= 0) {
                close(file);
            }
            continue;
        }
        if (ftruncate(file, sizeof(Shared)) != 0) {
            misuse("cannot make room in %s: %s", path.c_str(), std::strerror(errno));
        }
        std::unique_ptr<Inbox> inbox(new Inbox);
        void* const mapped =
            mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (mapped == MAP_FAILED) {
            misuse("cannot map %s: %s", path.c_str(), std::strerror(errno));
        }
        inbox->shared_ = new (mapped) Shared;
        inbox->file_ = file;
        inbox->path_ = path;
        inbox->place_ = place;
        inbox->shared_->generation = static_cast<std::uint16_t>(std::random_device{}());
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        pthread_mutex_init(&inbox->shared_->mutex, &attributes);
        pthread_mutexattr_destroy(&attributes);
        inbox->shared_->ready.store(1, std::memory_order_release);
        return inbox;
    }
    misuse("more than %u processes in %s", most_processes, directory.c_str());
}

std::unique_ptr<Inbox> Inbox::open(const std::string& directory, unsigned place,
                                   std::uint16_t generation) {
    const int file = ::open(path_of(directory, place).c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) {
        return nullptr;
    }
    struct stat status {};
    void* mapped = MAP_FAILED;
    if (fstat(file, &status) == 0 && status.st_size == sizeof(Shared)) {
        mapped = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    if (mapped == MAP_FAILED) {
        close(file);
        return nullptr;
    }
    std::unique_ptr<Inbox> inbox(new Inbox);
    inbox->shared_ = static_cast<Shared*>(mapped);
    inbox->file_ = file;
    inbox->place_ = place;
    const bool ready = inbox->shared_->ready.load(std::memory_order_acquire) == 1;
    return ready && inbox->generation() == generation ? std::move(inbox) : nullptr;
}

Inbox::~Inbox() {
    if (shared_ != nullptr) {
        munmap(shared_, sizeof(Shared));
    }
    if (file_ >= 0) {
        close(file_);
    }
}

void Inbox::forget_lock() {
    close(file_);
    file_ = -1;
}

void Inbox::remove_file() {
    unlink(path_.c_str());
}

std::uint16_t Inbox::generation() const {
    return shared_->generation;
}

std::array<std::uint8_t, 6>& Inbox::coordinates() {
    return shared_->coordinates;
}

void Inbox::lock() {
    if (pthread_mutex_lock(&shared_->mutex) == EOWNERDEAD) {  // head and tail are written last
        pthread_mutex_consistent(&shared_->mutex);
    }
}

std::byte* Inbox::bytes_at(std::uint64_t position) const {
    return shared_->ring + position % ring_bytes;
}

bool Inbox::push(const Packet& packet, const std::byte* data) {
    const std::uint64_t bytes = sizeof packet + packet.bytes;
    lock();
    const bool fits = shared_->tail - shared_->head + bytes <= ring_bytes;
    if (fits) {
        std::uint64_t at = shared_->tail;
        const auto append = [&](const std::byte* from, std::size_t count) {
            const std::size_t first = std::min<std::size_t>(count, ring_bytes - at % ring_bytes);
            std::memcpy(bytes_at(at), from, first);
            std::memcpy(bytes_at(at + first), from + first, count - first);
            at += count;
        };
        append(reinterpret_cast<const std::byte*>(&packet), sizeof packet);
        if (packet.bytes > 0) {
            append(data, packet.bytes);
        }
        shared_->tail = at;
    }
    pthread_mutex_unlock(&shared_->mutex);
    if (fits) {
        ring();
    }
    return fits;
}

std::vector<Delivery> Inbox::take() {
    std::vector<Delivery> all;
    lock();
    while (shared_->head != shared_->tail) {
        std::uint64_t at = shared_->head;
        const auto extract = [&](std::byte* to, std::size_t count) {
            const std::size_t first = std::min<std::size_t>(count, ring_bytes - at % ring_bytes);
            std::memcpy(to, bytes_at(at), first);
            std::memcpy(to + first, bytes_at(at + first), count - first);
            at += count;
        };
        Delivery next;
        extract(reinterpret_cast<std::byte*>(&next.packet), sizeof next.packet);
        next.data.resize(next.packet.bytes);
        if (!next.data.empty()) {
            extract(next.data.data(), next.data.size());
        }
        all.push_back(std::move(next));
        shared_->head = at;
    }
    pthread_mutex_unlock(&shared_->mutex);
    return all;
}

std::uint32_t Inbox::bell() const {
    return shared_->bell.load();
}

void Inbox::sleep(std::uint32_t seen, std::uint32_t microseconds) {
    shared_->sleeping.store(1);
    const timespec limit{microseconds / 1000000, static_cast<long>(microseconds % 1000000) * 1000};
    syscall(SYS_futex, &shared_->bell, FUTEX_WAIT, seen, &limit, nullptr, 0);
    shared_->sleeping.store(0);
}

void Inbox::ring() {
    shared_->bell.fetch_add(1);
    if (shared_->sleeping.load() != 0) {
        syscall(SYS_futex, &shared_->bell, FUTEX_WAKE, 1, nullptr, nullptr, 0);
    }
}

bool Inbox::has_unread() {
    lock();
    const bool unread = shared_->head != shared_->tail;
    pthread_mutex_unlock(&shared_->mutex);
    return unread;
}

bool Inbox::alive() {
    const std::uint64_t now = now_nanoseconds();
    if (alive_ && now - looked_ > alive_interval) {
        looked_ = now;
        struct flock lock = whole_file(F_WRLCK);
        alive_ = fcntl(file_, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
    }
    return alive_;
}

}  // namespace emulated_tofu
