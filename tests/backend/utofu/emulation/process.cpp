// SPDX-License-Identifier: BSD-3-Clause
// The process and its engine: descriptors leave in the order of their queue, late.
#include "tests/backend/utofu/emulation/process.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace emulated_tofu {

namespace {

constexpr std::size_t most_on_the_way = 64 << 20;
constexpr std::uint64_t dead_interval = 20'000'000;
constexpr std::uint32_t busy_nap = 40;       // microseconds, while something is delayed
constexpr std::uint32_t idle_nap = 200'000;  // while nothing is

std::atomic<Process*> this_process{nullptr};
std::atomic<int> its_pid{0};
std::mutex making;

int this_thread_id() {
    return static_cast<int>(syscall(SYS_gettid));
}

}  // namespace

void tell_leaks_at_exit() {
    Process* const process = this_process.load();
    if (process != nullptr && its_pid.load() == getpid()) {
        process->tell_leaks();
    }
}

std::uint64_t make_vcq_id(const Inbox& inbox, unsigned interface, unsigned component) {
    return std::uint64_t{inbox.generation()} << 48 | std::uint64_t{inbox.place()} << 32 |
           std::uint64_t{interface} << 24 | std::uint64_t{3} << 16 | std::uint64_t{component} << 8;
}

Process& Process::current() {
    if (its_pid.load(std::memory_order_acquire) == getpid()) {
        return *this_process.load(std::memory_order_acquire);
    }
    const std::scoped_lock lock(making);
    if (its_pid.load() != getpid()) {
        if (Process* const parent = this_process.load()) {
            parent->inbox->forget_lock();
        } else {
            std::atexit(tell_leaks_at_exit);
        }
        this_process.store(new Process(read_options()));  // the engine uses it to the very end
        its_pid.store(getpid(), std::memory_order_release);
    }
    return *this_process.load();
}

Process::Process(Options read)
    : options(std::move(read)),
      inbox(Inbox::create(options.directory)),
      queues(options.interfaces) {
    random.seed(options.seed * 7919 + inbox->place());
    unsigned node = options.node >= 0 ? static_cast<unsigned>(options.node) : inbox->place();
    for (std::size_t i = 6; i-- > 0;) {
        const unsigned size = std::max(options.shape[i], 1U);
        inbox->coordinates()[i] = static_cast<std::uint8_t>(node % size);
        node /= size;
    }
    if (options.hostile > 0) {
        std::fprintf(stderr, "emulated uTofu: process %d, place %u: EMULATED_TOFU_SEED=%llu\n",
                     static_cast<int>(getpid()), inbox->place(),
                     static_cast<unsigned long long>(options.seed));
    }
}

void Process::tell_leaks() {
    const std::scoped_lock lock(mutex);
    inbox->remove_file();
    if (options.leaks && (!vcqs.empty() || !registrations.empty())) {
        std::fprintf(stderr,
                     "emulated uTofu: process %d: LEAK: %zu virtual control queues and %zu "
                     "registrations were never given back\n",
                     static_cast<int>(getpid()), vcqs.size(), registrations.size());
    }
}

unsigned Process::draw_delay() {
    if (options.hostile == 0 || (options.hostile == 1 && !chance(10))) {
        return 0;
    }
    return static_cast<unsigned>(chance(5) ? random() % 60 : random() % 6);
}

Vcq* Process::vcq_of(std::uint64_t handle) {
    const auto found = vcqs.find(handle);
    return found == vcqs.end() ? nullptr : &found->second;
}

Vcq* Process::vcq_with_id(std::uint64_t id) {
    for (auto& [handle, vcq] : vcqs) {
        if (vcq.id == (id & ~path_bit)) {
            return &vcq;
        }
    }
    return nullptr;
}

const Registration* Process::find(std::uint64_t stadd, std::uint64_t bytes) const {
    const auto found = registrations.find(stadd >> 40);
    if (found == registrations.end()) {
        return nullptr;
    }
    const Registration& r = found->second;
    const bool inside = stadd >= r.stadd && bytes <= r.bytes && stadd - r.stadd <= r.bytes - bytes;
    return inside ? &r : nullptr;
}

void Process::start_engine() {
    if (!engine_runs_) {
        engine_runs_ = true;
        std::thread([this] { run_engine(); }).detach();
    }
}

void Process::run_engine() {
    for (;;) {
        const std::uint32_t seen = inbox->bell();
        bool moved = false, waiting = false;
        {
            const std::scoped_lock lock(mutex);
            moved = step();
            waiting =
                !unordered_.empty() || !unordered_notices_.empty() || !answers_.empty() ||
                !flows_.empty() ||
                std::any_of(peers_.begin(), peers_.end(),
                            [](const auto& each) { return !each.second.on_the_way.empty(); }) ||
                std::any_of(queues.begin(), queues.end(), [](const HardwareQueue& queue) {
                    return std::any_of(queue.puts.begin(), queue.puts.end(),
                                       [](const Descriptor& put) { return !put.read; });
                });
        }
        if (!moved) {
            inbox->sleep(seen, waiting ? busy_nap : idle_nap);
        }
    }
}

bool Process::step() {
    bool moved = send_all();
    moved |= receive_all();
    moved |= apply_some();
    moved |= look_for_the_dead();
    return moved;
}

Inbox* Process::peer(std::uint64_t id) {
    if (place_of(id) == inbox->place() && generation_of(id) == inbox->generation()) {
        return inbox.get();
    }
    auto& known = peers_[{place_of(id), generation_of(id)}].inbox;
    if (known == nullptr) {
        known = Inbox::open(options.directory, place_of(id), generation_of(id));
    }
    return known != nullptr && known->alive() ? known.get() : nullptr;
}

/// `lost`: the peer is no more, and all that it ever sent has landed.
bool Process::push(const Packet& packet, const std::byte* data, bool& lost) {
    Inbox* const to = peer(packet.to);
    lost = to == nullptr && is_over(packet.to);
    if (to == nullptr) {
        return false;
    }
    Peer& known = peers_[{place_of(packet.to), generation_of(packet.to)}];
    if (!known.on_the_way.empty() || !to->push(packet, data)) {
        if (known.bytes > most_on_the_way) {
            return false;
        }
        known.on_the_way.push_back({packet, {data, data + packet.bytes}});
        known.bytes += packet.bytes;
    }
    if (to != inbox.get() && packet.kind != Packet::Kind::answer && !packet.wants_answer) {
        const auto type =
            packet.kind == Packet::Kind::word ? UTOFU_MRQ_TYPE_LCL_ARMW : UTOFU_MRQ_TYPE_LCL_PUT;
        known.last = {packet.from, packet.to, packet.edata, static_cast<std::uint8_t>(type)};
    }
    return true;
}

/// What a full inbox has held up; true: something moved.
bool Process::push_on(Peer& to) {
    bool moved = false;
    while (!to.on_the_way.empty()) {
        const Delivery& next = to.on_the_way.front();
        Inbox* const target = peer(next.packet.to);
        if (target != nullptr && !target->push(next.packet, next.data.data())) {
            break;
        }
        to.bytes -= next.packet.bytes;
        to.on_the_way.pop_front();
        moved = true;
    }
    return moved;
}

bool Process::send_all() {
    bool moved = false;
    for (auto& [place, known] : peers_) {
        moved |= push_on(known);
    }
    while (!answers_.empty()) {
        bool lost = false;
        if (!push(answers_.front(), nullptr, lost) && !lost) {
            break;
        }
        answers_.pop_front();
        moved = true;
    }
    for (HardwareQueue& queue : queues) {
        for (Descriptor& put : queue.puts) {
            if (put.read) {
                continue;
            }
            if (put.delay > 0) {
                --put.delay;
                break;
            }
            const std::uint64_t before = put.sent;
            const bool done = send(put);
            moved |= done || put.sent != before;
            if (!done) {
                break;
            }
        }
    }
    return moved;
}

void Process::fail_put(const Descriptor& put, int code) {
    MrqEntry entry;
    entry.code = code;
    entry.notice.notice_type =
        put.packet.kind == Packet::Kind::word ? UTOFU_MRQ_TYPE_LCL_ARMW : UTOFU_MRQ_TYPE_LCL_PUT;
    entry.notice.vcq_id = put.packet.to & ~path_bit;
    entry.notice.edata = put.packet.edata;
    entry.notice.rmt_stadd = put.packet.target;
    asked_.erase(put.packet.put);
    deliver(put.packet.from, entry);
}

/// True: the source was read to the end, or never will be.
bool Process::send(Descriptor& put) {
    Packet packet = put.packet;
    const std::byte* data = put.inlined.data();
    if (put.source != 0) {
        const Registration* const own = find(put.source, packet.put_bytes);
        if (own == nullptr) {
            misuse("a put's source was deregistered before it was read");
        }
        data = own->data + (put.source - own->stadd);
    }
    do {
        packet.offset = put.sent;
        packet.bytes = static_cast<std::uint32_t>(
            packet.kind == Packet::Kind::word
                ? 0
                : std::min<std::uint64_t>(packet.put_bytes - put.sent, Inbox::most_bytes));
        bool lost = false;
        if (!push(packet, data + put.sent, lost)) {
            if (!lost) {
                return false;
            }
            fail_put(put, UTOFU_ERR_MRQ_PEER);
            put.sent = packet.put_bytes;
            break;
        }
        put.sent += packet.bytes;
    } while (put.sent < packet.put_bytes && packet.kind == Packet::Kind::piece);
    if (packet.wants_answer && asked_.count(packet.put) == 0 && peer(packet.to) != nullptr) {
        const auto type = static_cast<std::uint8_t>(
            packet.kind == Packet::Kind::word ? UTOFU_MRQ_TYPE_LCL_ARMW : UTOFU_MRQ_TYPE_LCL_PUT);
        asked_[packet.put] = {packet.from, packet.to, packet.edata, type};
    }
    put.read = true;
    return true;
}

bool Process::look_for_the_dead() {
    const std::uint64_t now = now_nanoseconds();
    if (now - looked_for_dead_ < dead_interval) {
        return false;
    }
    looked_for_dead_ = now;
    bool moved = take_in_last_packets();
    for (auto each = asked_.begin(); each != asked_.end();) {
        if (peer(each->second.to) != nullptr || !is_over(each->second.to)) {
            ++each;
            continue;
        }
        const Asked put = each->second;
        each = asked_.erase(each);
        peers_[{place_of(put.to), generation_of(put.to)}].told = true;
        tell_death(put);
        moved = true;
    }
    // What lies in the inbox of a dead process has not reached it, either.
    for (auto& [place, known] : peers_) {
        if (known.inbox != nullptr && !known.told && is_over(known.last.to)) {
            known.told = true;
            if (known.last.from != 0 && (known.inbox->has_unread() || !known.on_the_way.empty())) {
                tell_death(known.last);
                moved = true;
            }
        }
    }
    return moved;
}

/// A process that leaves may have sent answers and farewells just before: this one, which may have
/// got no processor since, takes them in before anybody hears of a death. True: there were some.
bool Process::take_in_last_packets() {
    bool any = false;
    for (auto& [place, known] : peers_) {
        if (!known.ended && (known.inbox == nullptr || !known.inbox->alive())) {
            known.ended = any = true;
        }
    }
    if (!any) {
        return false;
    }
    std::vector<Delivery> all = inbox->take();
    for (Delivery& each : all) {
        receive(std::move(each));
    }
    return true;
}

/// The process with this queue has ended, and nothing of it is on the way any more.
bool Process::is_over(std::uint64_t id) const {
    const auto of_it = [id](std::uint64_t from) { return id >> 32 == from >> 32; };
    const auto known = peers_.find({place_of(id), generation_of(id)});
    return known != peers_.end() && known->second.ended &&
           std::none_of(unordered_.begin(), unordered_.end(),
                        [&](const auto& each) { return of_it(each.second.packet.from); }) &&
           std::none_of(flows_.begin(), flows_.end(), [&](const auto& each) {
               return of_it(each.first.first) && !each.second.packets.empty();
           });
}

void Process::tell_death(const Asked& put) {
    MrqEntry entry;
    entry.code = UTOFU_ERR_MRQ_PEER;
    entry.notice.notice_type = put.type;
    entry.notice.vcq_id = put.to & ~path_bit;
    entry.notice.edata = put.edata;
    deliver(put.from, entry);
}

std::uint64_t Process::due_time(unsigned interface, std::uint64_t to, std::uint64_t bytes) {
    if (options.latency <= 0) {
        return 0;
    }
    unsigned hops = 0;
    if (Inbox* const target = peer(to)) {
        for (std::size_t i = 0; i < 6; ++i) {
            const unsigned size = std::max(options.shape[i], 1U);
            const unsigned there = target->coordinates()[i], here = inbox->coordinates()[i];
            const unsigned ahead = (there + size - here) % size;
            hops += std::min(ahead, size - ahead);
        }
    }
    HardwareQueue& queue = queues[interface];
    const auto scaled = [&](double nanoseconds) {
        return static_cast<std::uint64_t>(nanoseconds * options.latency);
    };
    queue.free_at =
        std::max(queue.free_at, now_nanoseconds()) + scaled(static_cast<double>(bytes) / 6.3);
    return queue.free_at + scaled(1000 + 80.0 * hops);
}

Inside::Inside(Process& process, unsigned interface, bool thread_safe)
    : queue_(process.queues[interface]) {
    if (thread_safe && queue_.unsafe.load() == 0) {
        return;
    }
    const int me = this_thread_id();
    int expected = 0;
    if (!queue_.inside.compare_exchange_strong(expected, me)) {
        misuse("threads %d and %d use network interface %u at the same time, without THREAD_SAFE",
               expected, me, interface);
    }
    entered_ = true;
    if (process.options.strict_threads) {
        if (queue_.owner != 0 && queue_.owner != me) {
            misuse("network interface %u changes from thread %d to %d, without THREAD_SAFE",
                   interface, queue_.owner, me);
        }
        queue_.owner = me;
    }
    if (process.options.hostile > 0 && now_nanoseconds() % 61 == 0) {
        sched_yield();  // others shall have a chance to come
    }
}

Inside::~Inside() {
    if (entered_) {
        queue_.inside.store(0);
    }
}

}  // namespace emulated_tofu
