// SPDX-License-Identifier: BSD-3-Clause
// The port group of backend utofu on a machine with weak memory order. Its network interfaces are
// devices: they read and write memory behind what the caller's fences hand on, and their notices
// order nothing for who polls without a fence.
#include <map>

#include "tests/weak_order/checked_atomics.hpp"
#include "tests/weak_order/proof.hpp"
// The product's files, over them.
#include "backend/utofu/blob.cpp"
#include "backend/utofu/claims.cpp"
#include "backend/utofu/closing.cpp"
#include "backend/utofu/group.cpp"
#include "backend/utofu/pages.cpp"
#include "backend/utofu/receiving.cpp"
#include "backend/utofu/sending.cpp"

namespace trefoil::weak {
namespace {

/// A virtual control queue of the model; addresses of memory are what they are.
struct ModelQueue {
    std::vector<void*> completions;
    std::vector<utofu_mrq_notice> notices;
    std::size_t completions_read = 0, notices_read = 0;
    std::atomic<std::uint64_t> completed, noticed;  ///< how many of those a thread may see

    std::uint64_t completions_seen(std::memory_order order) const {
        return running() ? completed.load(order) : completions.size();
    }
    std::uint64_t notices_seen(std::memory_order order) const {
        return running() ? noticed.load(order) : notices.size();
    }
};

/// Queue n is numbered n + 1, and its device is n.
std::vector<std::unique_ptr<ModelQueue>> queues;

/// Bytes by where they begin. Nothing lands elsewhere, as in a group that has ended.
std::map<std::uintptr_t, std::size_t> registered;

bool is_registered(std::uintptr_t target, std::size_t bytes) {
    const auto next = registered.upper_bound(target);
    return next != registered.begin() &&
           target + bytes <= std::prev(next)->first + std::prev(next)->second;
}

ModelQueue& queue_of(std::uint64_t number) {
    return *queues[number - 1];
}

void add_notice(std::uint64_t at, std::uint8_t type, std::uint64_t edata) {
    ModelQueue& queue = queue_of(at);
    utofu_mrq_notice notice{};
    notice.notice_type = type;
    notice.edata = edata;
    queue.notices.push_back(notice);
    queue.noticed.store(queue.notices.size(), std::memory_order_release);
}

/// What a device does for a put: `land` brings the bytes.
int model_put(std::uint64_t from, std::uint64_t to, std::uint64_t edata, unsigned long flags,
              void* data, const std::function<void()>& land) {
    const auto carry_out = [&] {
        land();
        if ((flags & UTOFU_ONESIDED_FLAG_TCQ_NOTICE) != 0) {
            queue_of(from).completions.push_back(data);
            queue_of(from).completed.store(queue_of(from).completions.size(),
                                           std::memory_order_release);
        }
        if ((flags & UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE) != 0) {
            add_notice(to, UTOFU_MRQ_TYPE_RMT_PUT, edata);
        }
        if ((flags & UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE) != 0) {
            add_notice(from, UTOFU_MRQ_TYPE_LCL_PUT, edata);
        }
    };
    if (running()) {
        act_as_device(from - 1, carry_out);
    } else {
        carry_out();
    }
    return UTOFU_SUCCESS;
}

void land_bytes(std::uint64_t target, const void* source, std::size_t bytes) {
    if (!is_registered(target, bytes)) {
        return;
    }
    note_write(reinterpret_cast<void*>(target));
    std::copy_n(static_cast<const std::byte*>(source), bytes, reinterpret_cast<std::byte*>(target));
}

utofu::Library made_library() {
    utofu::Library model;
    model.create_vcq = [](utofu_tni_id_t, unsigned long, utofu_vcq_hdl_t* handle) {
        queues.push_back(std::make_unique<ModelQueue>());
        *handle = queues.size();
        return int{UTOFU_SUCCESS};
    };
    model.free_vcq = [](utofu_vcq_hdl_t) { return int{UTOFU_SUCCESS}; };
    model.query_vcq_id = [](utofu_vcq_hdl_t handle, utofu_vcq_id_t* id) {
        *id = handle;
        return int{UTOFU_SUCCESS};
    };
    model.set_vcq_id_path = [](utofu_vcq_id_t*, std::uint8_t*) { return int{UTOFU_SUCCESS}; };
    model.reg_mem = [](utofu_vcq_hdl_t, void* memory, std::size_t bytes, unsigned long,
                       utofu_stadd_t* stadd) {
        *stadd = reinterpret_cast<std::uintptr_t>(memory);
        registered[*stadd] = bytes;
        return int{UTOFU_SUCCESS};
    };
    model.dereg_mem = [](utofu_vcq_hdl_t, utofu_stadd_t stadd, unsigned long) {
        registered.erase(stadd);
        return int{UTOFU_SUCCESS};
    };
    model.put = [](utofu_vcq_hdl_t from, utofu_vcq_id_t to, utofu_stadd_t source,
                   utofu_stadd_t target, std::size_t bytes, std::uint64_t edata,
                   unsigned long flags, void* data) {
        return model_put(from, to, edata, flags, data, [&] {
            note_read(reinterpret_cast<const void*>(source));
            land_bytes(target, reinterpret_cast<const void*>(source), bytes);
        });
    };
    model.put_piggyback = [](utofu_vcq_hdl_t from, utofu_vcq_id_t to, void* source,
                             utofu_stadd_t target, std::size_t bytes, std::uint64_t edata,
                             unsigned long flags, void* data) {
        return model_put(from, to, edata, flags, data, [&] { land_bytes(target, source, bytes); });
    };
    model.put_piggyback8 = [](utofu_vcq_hdl_t from, utofu_vcq_id_t to, std::uint64_t value,
                              utofu_stadd_t target, std::size_t bytes, std::uint64_t edata,
                              unsigned long flags, void* data) {
        return model_put(from, to, edata, flags, data, [&] {
            if (running() && edata == static_cast<std::uint64_t>(utofu::Edata::credit)) {
                store({reinterpret_cast<void*>(target), 0}, value, std::memory_order_release,
                      {__FILE__, __LINE__});
            } else {
                land_bytes(target, &value, bytes);
            }
        });
    };
    model.armw8 = [](utofu_vcq_hdl_t from, utofu_vcq_id_t, utofu_armw_op, std::uint64_t value,
                     utofu_stadd_t target, std::uint64_t edata, unsigned long, void*) {
        if (!is_registered(target, sizeof(std::uint64_t))) {
            return int{UTOFU_SUCCESS};
        }
        auto* const word = reinterpret_cast<std::uint64_t*>(target);
        add_notice(from, UTOFU_MRQ_TYPE_LCL_ARMW, edata);
        queue_of(from).notices.back().rmt_value = *word;
        *word += value;
        return int{UTOFU_SUCCESS};
    };
    // Who is told that a source is free writes there only if it is told: processors keep that
    // order.
    model.poll_tcq = [](utofu_vcq_hdl_t at, unsigned long, void** data) {
        ModelQueue& queue = queue_of(at);
        if (queue.completions_read >= queue.completions_seen(std::memory_order_acquire)) {
            return int{UTOFU_ERR_NOT_FOUND};
        }
        *data = queue.completions[queue.completions_read++];
        return int{UTOFU_SUCCESS};
    };
    model.poll_mrq = [](utofu_vcq_hdl_t at, unsigned long, utofu_mrq_notice* notice) {
        ModelQueue& queue = queue_of(at);
        if (queue.notices_read >= queue.notices_seen(std::memory_order_relaxed)) {
            return int{UTOFU_ERR_NOT_FOUND};
        }
        *notice = queue.notices[queue.notices_read++];
        return int{UTOFU_SUCCESS};
    };
    return model;
}

}  // namespace
}  // namespace trefoil::weak

namespace trefoil::utofu {

const Library& library() {
    static const Library model = weak::made_library();
    return model;
}
std::string code_text(int code) {
    return std::to_string(code);
}
void check(int code, const std::string& what) {
    if (code != UTOFU_SUCCESS) {
        throw Error(Status::system_error, what);
    }
}
std::string coordinates_text() {
    return {};
}

}  // namespace trefoil::utofu

namespace trefoil {

void require_writable_memory(const void*, std::size_t) {}

namespace weak {
namespace {

constexpr std::size_t bytes = 64;  // too many for a descriptor
const Port ports[2] = {Port{0}, Port{1}};

/// Two groups that are connected, with a source and landing memory each.
class Pair {
  public:
    Pair() {
        queues.clear();
        const std::vector<utofu::Interface> interfaces{{0, caps()}, {1, caps()}};
        for (std::size_t i = 0; i < 2; ++i) {
            BackendConfig config;
            config.groups.assign(1, {ports[i]});
            utofu::GroupOptions options;
            options.ports = {ports[i]};
            options.grant = utofu::Claims::of_process().claim(config, interfaces, true)[0];
            options.peers = 1;
            options.notices = utofu::least_window + utofu::other_notices;
            groups_[i] = std::make_unique<utofu::UtofuGroup>(std::move(options));
            memory_[i] = groups_[i]->allocate(2 * bytes);
        }
        for (std::size_t i = 0; i < 2; ++i) {
            peers_[i] = groups_[i]->connect(ports[i], groups_[1 - i]->address(ports[1 - i]));
            there_[i] = groups_[i]->import_memory(groups_[1 - i]->describe(memory_[1 - i]));
        }
    }

    std::byte* source(std::size_t own) { return memory_[own].data + bytes; }
    std::byte* landing(std::size_t own) { return memory_[own].data; }
    bool put(std::size_t own, std::size_t count) {
        return groups_[own]->put({.port = ports[own],
                                  .peer = peers_[own],
                                  .source = source(own),
                                  .descriptor = memory_[own].descriptor,
                                  .target = there_[own],
                                  .bytes = count,
                                  .notification = 1}) != PutResult::again;
    }
    /// Polls once: how many puts have arrived.
    std::size_t arrived(std::size_t own) {
        std::array<Event, 8> events;
        const std::size_t count = groups_[own]->poll(events);
        for (std::size_t i = 0; i < count; ++i) {
            require(events[i].kind != Event::Kind::failed, "a put has failed");
        }
        return static_cast<std::size_t>(
            std::count_if(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(count),
                          [](const Event& e) { return e.kind == Event::Kind::arrived; }));
    }

  private:
    static utofu_onesided_caps caps() {
        utofu_onesided_caps all{};
        all.max_putget_size = 1 << 20;
        return all;
    }
    std::unique_ptr<utofu::UtofuGroup> groups_[2];
    LocalMemory memory_[2];
    Peer peers_[2];
    RemoteMemory there_[2];
};

Threads data_arrives() {
    const auto pair = std::make_shared<Pair>();
    return {[pair] {
                note_write(pair->source(0));
                pair->put(0, bytes);
            },
            [pair] {
                if (pair->arrived(1) > 0) {
                    note_read(pair->landing(1));
                }
            }};
}

/// The peer says by a put without bytes that it has read, and the next put may land there.
Threads landing_memory_is_used_again() {
    const auto pair = std::make_shared<Pair>();
    return {[pair] {
                pair->put(0, bytes);
                if (pair->arrived(0) > 0) {
                    pair->put(0, bytes);
                }
            },
            [pair] {
                if (pair->arrived(1) > 0) {
                    note_read(pair->landing(1));
                    pair->put(1, 0);
                }
            }};
}

/// Two places for records: the third put needs the credit for the first one.
Threads places_of_records_are_used_again() {
    const auto pair = std::make_shared<Pair>();
    return {[pair] {
                require(pair->put(0, 0) && pair->put(0, 0), "the window is smaller");
                pair->arrived(0);
                pair->put(0, 0);
            },
            [pair] { pair->arrived(1); }};
}

TEST(Utofu, EveryOrderingIsNeeded) {
    prove(
        {"backend/utofu/sending.cpp", "backend/utofu/receiving.cpp"},
        {{"data arrive", data_arrives},
         {"landing memory is used again", landing_memory_is_used_again},
         {"places of records are used again", places_of_records_are_used_again}},
        {{"receiving.cpp", "return word.load(std::memory_order_acquire);",
          "a peer that has left greeted long before; the words' order matters where it did not"}});
}

}  // namespace
}  // namespace weak
}  // namespace trefoil
