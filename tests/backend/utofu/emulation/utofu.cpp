// SPDX-License-Identifier: BSD-3-Clause
// uTofu's functions over the emulated process: arguments are checked here, as strictly as known.
// Those that Trefoil does not use are left out: gets, reserved stags, constructed addresses.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tests/backend/utofu/emulation/process.hpp"

namespace {

using emulated_tofu::Descriptor;
using emulated_tofu::HardwareQueue;
using emulated_tofu::Inside;
using emulated_tofu::misuse;
using emulated_tofu::MrqEntry;
using emulated_tofu::Packet;
using emulated_tofu::path_bit;
using emulated_tofu::Process;
using emulated_tofu::Registration;
using emulated_tofu::Vcq;

unsigned long known_flags() {
    constexpr unsigned long cache_injection = 1UL << 5, padding = 1UL << 3, delay = 1UL << 8;
    constexpr unsigned long response = 1UL << 1;
    return UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE |
           UTOFU_ONESIDED_FLAG_TCQ_NOTICE | UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE | cache_injection |
           padding | delay | response | 0xffUL << 28 | 0xfUL << 24;
}

/// The interface of a handle, with the lock; aborts on a handle that was never given out.
Vcq& must_find(Process& process, utofu_vcq_hdl_t handle) {
    Vcq* const vcq = process.vcq_of(handle);
    if (vcq == nullptr) {
        misuse("a call with handle %llu, which is no virtual control queue, or was freed",
               static_cast<unsigned long long>(handle));
    }
    return *vcq;
}

struct Place {
    unsigned interface;
    bool thread_safe;
};
Place place(Process& process, utofu_vcq_hdl_t handle) {
    const std::scoped_lock lock(process.mutex);
    const Vcq& vcq = must_find(process, handle);
    return {vcq.interface, vcq.thread_safe};
}

struct Request {
    utofu_vcq_hdl_t handle;
    utofu_vcq_id_t peer;
    Packet::Kind kind;
    utofu_stadd_t source;
    const void* inlined;
    utofu_stadd_t target;
    std::size_t bytes;
    std::uint64_t edata;
    unsigned long flags;
    void* data;
    int operation = 0;
    std::uint64_t value = 0;
};

int post(const Request& r) {
    Process& process = Process::current();
    const Place where = place(process, r.handle);
    const Inside inside(process, where.interface, where.thread_safe);
    int code = UTOFU_SUCCESS;
    {
        const std::scoped_lock lock(process.mutex);
        Vcq& vcq = must_find(process, r.handle);
        HardwareQueue& queue = process.queues[vcq.interface];
        if ((r.flags & ~known_flags()) != 0) {
            return UTOFU_ERR_INVALID_FLAGS;
        }
        if (r.edata > 255 && !process.options.truncate_edata) {
            return UTOFU_ERR_INVALID_EDATA;
        }
        if (r.bytes == 0 || r.bytes > process.options.longest_put ||
            (r.inlined != nullptr && r.bytes > Process::current().options.piggyback)) {
            return UTOFU_ERR_INVALID_SIZE;
        }
        if (r.source != 0) {
            const Registration* const own = process.find(r.source, r.bytes);
            if (own == nullptr) {
                misuse("a put of %zu bytes whose source is not registered, or beyond its end",
                       r.bytes);
            }
            if (own->queue != r.handle) {
                misuse("a put whose source is registered with another virtual control queue");
            }
        }
        if (queue.puts.size() >= process.options.puts || process.chance(process.options.busy)) {
            code = UTOFU_ERR_BUSY;
        } else {
            Descriptor put;
            Packet& packet = put.packet;
            packet.kind = r.kind;
            packet.operation = static_cast<std::uint8_t>(r.operation);
            packet.strong = (r.flags & UTOFU_ONESIDED_FLAG_STRONG_ORDER) != 0;
            packet.wants_notice = (r.flags & UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE) != 0;
            packet.wants_answer = (r.flags & UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE) != 0;
            packet.from = vcq.id;
            packet.to = r.peer & ~path_bit;
            packet.put = ++process.last_put;
            packet.edata = r.edata & 255U;
            packet.target = r.target;
            packet.source = r.source;
            packet.put_bytes = r.bytes;
            packet.value = r.value;
            packet.due = process.due_time(vcq.interface, r.peer, r.bytes);
            put.source = r.source;
            put.flags = r.flags;
            put.data = r.data;
            put.delay = process.draw_delay();
            put.report_delay = process.draw_delay();
            if (r.inlined != nullptr) {
                const auto* const bytes = static_cast<const std::byte*>(r.inlined);
                put.inlined.assign(bytes, bytes + r.bytes);
            }
            queue.puts.push_back(std::move(put));
        }
        process.step();
    }
    process.wake_engine();
    return code;
}

/// Frees the places of puts that are through, in their order, and sorts their notices.
void retire(Process& process, HardwareQueue& queue) {
    while (!queue.puts.empty() && queue.puts.front().read) {
        Descriptor& put = queue.puts.front();
        if (put.report_delay > 0) {
            --put.report_delay;
            return;
        }
        if ((put.flags & UTOFU_ONESIDED_FLAG_TCQ_NOTICE) != 0) {
            for (auto& [handle, vcq] : process.vcqs) {
                if (vcq.id == put.packet.from) {
                    vcq.completions.emplace_back(put.data, put.code);
                }
            }
        }
        queue.puts.pop_front();
    }
}

}  // namespace

// The interface's own C linkage and visibility.
#pragma GCC visibility push(default)
extern "C" {

int utofu_get_onesided_tnis(utofu_tni_id_t** tnis, std::size_t* count) {
    const std::size_t all = Process::current().options.interfaces;
    *tnis = static_cast<utofu_tni_id_t*>(std::malloc(sizeof(utofu_tni_id_t) * (all + 1)));
    *count = all;
    for (std::size_t i = 0; i < all; ++i) {
        (*tnis)[i] = static_cast<utofu_tni_id_t>(i);
    }
    return UTOFU_SUCCESS;
}

int utofu_query_onesided_caps(utofu_tni_id_t tni, struct utofu_onesided_caps** caps) {
    static utofu_onesided_caps all{3,
                                   0x3f,
                                   8,
                                   256,
                                   256,
                                   256,
                                   64,
                                   Process::current().options.longest_put,
                                   Process::current().options.piggyback,
                                   1,
                                   1920,
                                   255};
    *caps = &all;
    return tni < Process::current().options.interfaces ? UTOFU_SUCCESS : UTOFU_ERR_INVALID_TNI_ID;
}

int utofu_query_my_coords(std::uint8_t coords[]) {
    const auto& mine = Process::current().inbox->coordinates();
    std::copy(mine.begin(), mine.end(), coords);
    return UTOFU_SUCCESS;
}

int utofu_create_vcq(utofu_tni_id_t tni, unsigned long flags, utofu_vcq_hdl_t* handle) {
    Process& process = Process::current();
    const std::scoped_lock lock(process.mutex);
    if (tni >= process.queues.size()) {
        return UTOFU_ERR_INVALID_TNI_ID;
    }
    if ((flags & ~UTOFU_VCQ_FLAG_THREAD_SAFE) != 0) {
        return UTOFU_ERR_NOT_AVAILABLE;
    }
    HardwareQueue& queue = process.queues[tni];
    unsigned component = 0;
    while (queue.components.count(component) > 0) {
        ++component;
    }
    if (component >= process.options.vcqs) {
        return UTOFU_ERR_FULL;
    }
    queue.components.insert(component);
    Vcq& vcq = process.vcqs[++process.last_handle];
    vcq.interface = tni;
    vcq.component = component;
    vcq.thread_safe = (flags & UTOFU_VCQ_FLAG_THREAD_SAFE) != 0;
    vcq.id = make_vcq_id(*process.inbox, tni, component);
    queue.unsafe += vcq.thread_safe ? 0 : 1;
    *handle = process.last_handle;
    process.start_engine();
    return UTOFU_SUCCESS;
}

int utofu_free_vcq(utofu_vcq_hdl_t handle) {
    Process& process = Process::current();
    const std::scoped_lock lock(process.mutex);
    Vcq& vcq = must_find(process, handle);
    HardwareQueue& queue = process.queues[vcq.interface];
    retire(process, queue);
    for (const Descriptor& put : queue.puts) {
        if (put.packet.from == vcq.id && !put.read) {
            misuse("a virtual control queue is freed while a put of its own has not left");
        }
    }
    for (const auto& [number, registration] : process.registrations) {
        if (registration.queue == handle) {
            misuse("a virtual control queue is freed before memory that is registered with it");
        }
    }
    queue.unread -= vcq.notices.size();
    queue.components.erase(vcq.component);
    queue.unsafe -= vcq.thread_safe ? 0 : 1;
    if (queue.components.empty()) {
        queue.owner = 0;
    }
    process.vcqs.erase(handle);
    return UTOFU_SUCCESS;
}

int utofu_query_vcq_id(utofu_vcq_hdl_t handle, utofu_vcq_id_t* id) {
    Process& process = Process::current();
    const std::scoped_lock lock(process.mutex);
    *id = must_find(process, handle).id;
    return UTOFU_SUCCESS;
}

int utofu_set_vcq_id_path(utofu_vcq_id_t* id, std::uint8_t*) {
    *id |= path_bit;
    return UTOFU_SUCCESS;
}

int utofu_reg_mem(utofu_vcq_hdl_t handle, void* data, std::size_t bytes, unsigned long flags,
                  utofu_stadd_t* stadd) {
    Process& process = Process::current();
    const std::scoped_lock lock(process.mutex);
    (void)must_find(process, handle);
    if (data == nullptr || bytes == 0 || bytes >= std::size_t{1} << 40) {
        return UTOFU_ERR_INVALID_ARG;
    }
    if ((flags & ~UTOFU_REG_MEM_FLAG_READ_ONLY) != 0) {
        return UTOFU_ERR_INVALID_FLAGS;
    }
    if (process.registrations.size() >= process.options.registrations) {
        return UTOFU_ERR_OUT_OF_RESOURCE;
    }
    const std::uint64_t number = ++process.last_registration;
    process.registrations[number] = {handle, static_cast<std::byte*>(data), bytes, number << 40,
                                     (flags & UTOFU_REG_MEM_FLAG_READ_ONLY) != 0};
    *stadd = number << 40;
    return UTOFU_SUCCESS;
}

int utofu_dereg_mem(utofu_vcq_hdl_t handle, utofu_stadd_t stadd, unsigned long) {
    Process& process = Process::current();
    const std::scoped_lock lock(process.mutex);
    (void)must_find(process, handle);
    const auto found = process.registrations.find(stadd >> 40);
    if (found == process.registrations.end() || found->second.queue != handle) {
        misuse("memory is deregistered that is not registered with this virtual control queue");
    }
    for (const HardwareQueue& queue : process.queues) {
        for (const Descriptor& put : queue.puts) {
            if (!put.read && put.source >> 40 == stadd >> 40) {
                misuse("memory is deregistered while a put of its own reads it");
            }
        }
    }
    process.registrations.erase(found);
    return UTOFU_SUCCESS;
}

int utofu_put(utofu_vcq_hdl_t handle, utofu_vcq_id_t peer, utofu_stadd_t local,
              utofu_stadd_t remote, std::size_t bytes, std::uint64_t edata, unsigned long flags,
              void* cbdata) {
    return post(
        {handle, peer, Packet::Kind::piece, local, nullptr, remote, bytes, edata, flags, cbdata});
}

int utofu_put_piggyback(utofu_vcq_hdl_t handle, utofu_vcq_id_t peer, void* data,
                        utofu_stadd_t remote, std::size_t bytes, std::uint64_t edata,
                        unsigned long flags, void* cbdata) {
    return post({handle, peer, Packet::Kind::piece, 0, data, remote, bytes, edata, flags, cbdata});
}

int utofu_put_piggyback8(utofu_vcq_hdl_t handle, utofu_vcq_id_t peer, std::uint64_t data,
                         utofu_stadd_t remote, std::size_t bytes, std::uint64_t edata,
                         unsigned long flags, void* cbdata) {
    if (bytes > sizeof data) {
        return UTOFU_ERR_INVALID_SIZE;
    }
    return post({handle, peer, Packet::Kind::piece, 0, &data, remote, bytes, edata, flags, cbdata});
}

int utofu_armw8(utofu_vcq_hdl_t handle, utofu_vcq_id_t peer, enum utofu_armw_op operation,
                std::uint64_t value, utofu_stadd_t remote, std::uint64_t edata, unsigned long flags,
                void* cbdata) {
    return post({handle, peer, Packet::Kind::word, 0, nullptr, remote, sizeof value, edata, flags,
                 cbdata, operation, value});
}

int utofu_poll_tcq(utofu_vcq_hdl_t handle, unsigned long, void** cbdata) {
    Process& process = Process::current();
    const Place where = place(process, handle);
    const Inside inside(process, where.interface, where.thread_safe);
    const std::scoped_lock lock(process.mutex);
    process.step();
    retire(process, process.queues[where.interface]);
    Vcq& vcq = must_find(process, handle);
    if (vcq.completions.empty()) {
        return UTOFU_ERR_NOT_FOUND;
    }
    const auto [data, code] = vcq.completions.front();
    vcq.completions.pop_front();
    *cbdata = data;
    return code;
}

int utofu_poll_mrq(utofu_vcq_hdl_t handle, unsigned long, struct utofu_mrq_notice* notice) {
    Process& process = Process::current();
    const Place where = place(process, handle);
    const Inside inside(process, where.interface, where.thread_safe);
    const std::scoped_lock lock(process.mutex);
    Vcq& vcq = must_find(process, handle);
    if (vcq.notices.empty()) {
        process.step();
    }
    if (vcq.notices.empty()) {
        return UTOFU_ERR_NOT_FOUND;
    }
    const MrqEntry entry = vcq.notices.front();
    vcq.notices.pop_front();
    --process.queues[where.interface].unread;
    *notice = entry.notice;
    return entry.code;
}

}  // extern "C"
#pragma GCC visibility pop
