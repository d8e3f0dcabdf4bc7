// SPDX-License-Identifier: BSD-3-Clause
// Puts from one virtual control queue of this process to another one, and looks at what comes.
#include "backend/utofu/probe.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "backend/utofu/library.hpp"
#include "backend/utofu/pages.hpp"
#include "topo/error.hpp"
#include "topo/patience.hpp"

namespace trefoil::utofu {

namespace {

using ProbeClock = std::chrono::steady_clock;
using Tell = std::function<void(std::string_view, const std::string&)>;

constexpr std::size_t probe_bytes = 64 << 10;
constexpr int probe_rounds = 500;
constexpr std::size_t most_queues = 64;
constexpr std::uint64_t most_puts = 100'000;
constexpr unsigned long probe_order = UTOFU_ONESIDED_FLAG_STRONG_ORDER;
constexpr unsigned long probe_remote = probe_order | UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE;
constexpr unsigned long probe_local = probe_order | UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE;

std::string hexadecimal(std::uint64_t value) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    do {
        text.insert(text.begin(), digits[value & 15U]);
        value >>= 4;
    } while (value != 0);
    return "0x" + text;
}

/// A virtual control queue with memory that is registered with it.
struct ProbeEnd {
    explicit ProbeEnd(utofu_tni_id_t interface) : memory(2 * probe_bytes) {
        check(library().create_vcq(interface, 0, &queue), "create a virtual control queue");
        check(library().query_vcq_id(queue, &id), "ask for its address");
        check(library().reg_mem(queue, memory.data(), memory.bytes(), 0, &stadd),
              "register memory");
    }
    ~ProbeEnd() {
        library().dereg_mem(queue, stadd, 0);
        library().free_vcq(queue);
    }
    ProbeEnd(const ProbeEnd&) = delete;
    ProbeEnd& operator=(const ProbeEnd&) = delete;

    Pages memory;
    utofu_vcq_hdl_t queue = 0;
    utofu_vcq_id_t id = 0;
    utofu_stadd_t stadd = 0;
};

struct ProbeNotice {
    int code = 0;
    utofu_mrq_notice notice{};
};

class Prober {
  public:
    Prober(utofu_tni_id_t first, utofu_tni_id_t second) : from_(first), to_(second), peer_(to_.id) {
        library().set_vcq_id_path(&peer_, nullptr);
    }

    std::string unasked_notices() {
        int notices = 0;
        for (int i = 0; i < 100; ++i) {
            if (small_put(5, probe_order) != UTOFU_SUCCESS) {
                return "the puts were refused";
            }
            while (next(to_, std::chrono::milliseconds(1))) {
                ++notices;
            }
        }
        notices += settle();
        return std::to_string(notices) + " of 100 puts";
    }

    void remote_notice(const Tell& tell) {
        constexpr std::size_t bytes = 100;
        settle();
        const int code = again([&] {
            return library().put(from_.queue, peer_, from_.stadd, to_.stadd, bytes, 7, probe_remote,
                                 nullptr);
        });
        const auto came = next(to_, patience().utofu_probe);
        if (code != UTOFU_SUCCESS || !came || came->code != UTOFU_SUCCESS) {
            tell("remote notice", "none came; the put gave " + text_of(code));
            return;
        }
        const std::uint64_t at = came->notice.rmt_stadd;
        tell("address in a remote notice", at == to_.stadd + bytes ? "after the last byte"
                                           : at == to_.stadd       ? "of the first byte"
                                                                   : "neither first nor end");
        tell("address of the sender in it",
             came->notice.vcq_id == from_.id ? "as queried, without path" : "differs");
        tell("edata in it, of 7", std::to_string(came->notice.edata));
    }

    std::string large_edata() {
        settle();
        const int code = small_put(0x1ff, probe_remote);
        const auto came = next(to_, patience().utofu_probe);
        return came ? "arrives as " + hexadecimal(came->notice.edata) : "refused: " + text_of(code);
    }

    std::string local_notice() {
        settle();
        const int code = small_put(77, probe_local);
        const auto came = next(from_, patience().utofu_probe);
        return came ? text_of(came->code) + ", edata " + std::to_string(came->notice.edata)
                    : "none came; the put gave " + text_of(code);
    }

    std::string old_word() {
        settle();
        const std::uint64_t before = 41;
        std::memcpy(to_.memory.data(), &before, sizeof before);
        const int code = again([&] {
            return library().armw8(from_.queue, peer_, UTOFU_ARMW_OP_ADD, 1, to_.stadd, 1,
                                   probe_local, nullptr);
        });
        const auto came = next(from_, patience().utofu_probe);
        std::uint64_t after = 0;
        std::memcpy(&after, to_.memory.data(), sizeof after);
        return came ? "the notice has " + std::to_string(came->notice.rmt_value) +
                          " of 41; memory has " + std::to_string(after)
                    : "none came; the call gave " + text_of(code);
    }

    /// Puts that the queue takes while nobody looks for completions.
    std::string places_of_puts() {
        settle();
        std::uint64_t taken = 0;
        while (taken < most_puts &&
               library().put_piggyback8(from_.queue, peer_, taken, to_.stadd, 8, 3, probe_order,
                                        nullptr) == UTOFU_SUCCESS) {
            ++taken;
            while (next(to_, std::chrono::milliseconds(0))) {
            }
        }
        settle();
        return taken < most_puts ? std::to_string(taken) + ", then BUSY"
                                 : "more than " + std::to_string(most_puts);
    }

    /// In how many rounds a notice came before the data of the put before it.
    std::string early_notices(unsigned long flags) {
        settle();
        int early = 0;
        for (int round = 1; round <= probe_rounds; ++round) {
            std::memset(from_.memory.data(), round, probe_bytes);
            const int data = again([&] {
                return library().put(from_.queue, peer_, from_.stadd, to_.stadd, probe_bytes, 2,
                                     flags | UTOFU_ONESIDED_FLAG_TCQ_NOTICE, nullptr);
            });
            const int record = again([&] {
                return library().put_piggyback8(from_.queue, peer_, 1, to_.stadd + probe_bytes, 8,
                                                1, flags | UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE,
                                                nullptr);
            });
            std::optional<ProbeNotice> came = next(to_, patience().utofu_probe);
            while (came && came->notice.edata != 1) {
                came = next(to_, patience().utofu_probe);
            }
            if (data != UTOFU_SUCCESS || record != UTOFU_SUCCESS || !came) {
                return "no notice in round " + std::to_string(round);
            }
            std::atomic_thread_fence(std::memory_order_acquire);
            const std::byte* const there = to_.memory.data();
            const auto mine = static_cast<std::byte>(round);
            early += std::all_of(there, there + probe_bytes,
                                 [mine](std::byte each) { return each == mine; })
                         ? 0
                         : 1;
            await_completion();
        }
        return std::to_string(early) + " of " + std::to_string(probe_rounds);
    }

    /// What a put tells that comes to memory which is no longer registered.
    std::string late_put() {
        settle();
        utofu_stadd_t gone = 0;
        Pages memory(4096);
        check(library().reg_mem(to_.queue, memory.data(), memory.bytes(), 0, &gone),
              "register memory");
        library().dereg_mem(to_.queue, gone, 0);
        const int code = again([&] {
            return library().put_piggyback8(from_.queue, peer_, 1, gone, 8, 9, probe_order,
                                            nullptr);
        });
        const auto here = next(from_, patience().utofu_probe);
        if (here) {
            return "the sender's notices: " + text_of(here->code) + ", edata " +
                   std::to_string(here->notice.edata) + ", peer " +
                   (here->notice.vcq_id == to_.id ? "named" : "not named");
        }
        return "no notice; the put gave " + text_of(code);
    }

    std::string empty_put() {
        settle();
        const int code =
            library().put(from_.queue, peer_, from_.stadd, to_.stadd, 0, 4, probe_remote, nullptr);
        const auto came = next(to_, patience().utofu_probe);
        return text_of(code) + (came ? ", with a notice" : ", without a notice");
    }

  private:
    static std::string text_of(int code) {
        return code == UTOFU_SUCCESS ? "success" : code_text(code);
    }

    /// Tries until the queue of puts has room.
    template <typename Call>
    int again(const Call& call) {
        const auto end = ProbeClock::now() + patience().utofu_probe;
        int code = call();
        while (code == UTOFU_ERR_BUSY && ProbeClock::now() < end) {
            look_for_completion();
            code = call();
        }
        return code;
    }
    int small_put(std::uint64_t edata, unsigned long flags) {
        return again([&] {
            return library().put_piggyback8(from_.queue, peer_, 1, to_.stadd, 8, edata, flags,
                                            nullptr);
        });
    }
    bool look_for_completion() {
        void* data = nullptr;
        return library().poll_tcq(from_.queue, 0, &data) != UTOFU_ERR_NOT_FOUND;
    }
    void await_completion() {
        const auto end = ProbeClock::now() + patience().utofu_probe;
        while (!look_for_completion() && ProbeClock::now() < end) {
        }
    }
    static std::optional<ProbeNotice> next(const ProbeEnd& at, std::chrono::milliseconds longest) {
        const auto end = ProbeClock::now() + longest;
        ProbeNotice came;
        do {
            came.code = library().poll_mrq(at.queue, 0, &came.notice);
        } while (came.code == UTOFU_ERR_NOT_FOUND && ProbeClock::now() < end);
        return came.code == UTOFU_ERR_NOT_FOUND ? std::nullopt : std::optional(came);
    }
    /// Until nothing comes any more; how many notices came at the target.
    int settle() {
        int notices = 0;
        while (next(to_, std::chrono::milliseconds(20))) {
            ++notices;
        }
        while (next(from_, std::chrono::milliseconds(1)) || look_for_completion()) {
        }
        return notices;
    }

    ProbeEnd from_, to_;
    utofu_vcq_id_t peer_;
};

std::string queues_until_full(utofu_tni_id_t interface) {
    std::vector<utofu_vcq_hdl_t> made;
    int code = UTOFU_SUCCESS;
    while (code == UTOFU_SUCCESS && made.size() < most_queues) {
        utofu_vcq_hdl_t queue = 0;
        code = library().create_vcq(interface, 0, &queue);
        if (code == UTOFU_SUCCESS) {
            made.push_back(queue);
        }
    }
    for (const utofu_vcq_hdl_t queue : made) {
        library().free_vcq(queue);
    }
    return std::to_string(made.size()) +
           (code == UTOFU_SUCCESS ? " and more" : ", then " + code_text(code));
}

}  // namespace

void probe(const Tell& tell) {
    const std::vector<Interface> all = interfaces();
    const utofu_onesided_caps& caps = all.front().caps;
    tell("network interfaces", std::to_string(all.size()));
    tell("place of this node (x.y.z.a.b.c)", coordinates_text());
    tell("longest put, in a descriptor, edata", std::to_string(caps.max_putget_size) + ", " +
                                                    std::to_string(caps.max_piggyback_size) + ", " +
                                                    std::to_string(caps.max_edata_size) + " bytes");
    tell("components, reserved stags, line, packet",
         std::to_string(caps.num_cmp_ids) + ", " + std::to_string(caps.num_reserved_stags) + ", " +
             std::to_string(caps.cache_line_size) + ", " + std::to_string(caps.max_mtu));
    tell("virtual control queues of an interface", queues_until_full(all.back().number));
    Prober prober(all.front().number, all.back().number);
    tell("puts with a notice that nobody asked for", prober.unasked_notices());
    prober.remote_notice(tell);
    tell("local notice of a put", prober.local_notice());
    tell("old value of a word that was added to", prober.old_word());
    tell("puts before the queue of puts is full", prober.places_of_puts());
    tell("notices before their data, in strong order", prober.early_notices(probe_order));
    tell("notices before their data, in no order", prober.early_notices(0));
    tell("edata of 0x1ff", prober.large_edata());
    tell("put to memory that was deregistered", prober.late_put());
    tell("put of 0 bytes", prober.empty_put());
}

}  // namespace trefoil::utofu
