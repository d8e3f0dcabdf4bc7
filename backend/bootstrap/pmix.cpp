// SPDX-License-Identifier: BSD-3-Clause
// The PMIx link: a gather is Put, Commit, a fence that collects the data, and a Get from each rank.
#include "backend/bootstrap/pmix.hpp"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

#include "backend/bootstrap/pmix_library.hpp"

namespace trefoil {

namespace {

using Clock = LauncherLink::Clock;

/// What a call of the library will come to; its callback may outlive the wait.
struct Outcome {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<pmix_status_t> status;  // set once, by the library's thread
    std::string bytes;
    std::uint32_t number = 0;
};

/// The callback's own share of the outcome.
using Share = std::shared_ptr<Outcome>;

void settle(void* share, pmix_status_t status, const pmix_value_t* value) {
    const std::unique_ptr<Share> own(static_cast<Share*>(share));
    Outcome& outcome = **own;
    const std::lock_guard lock(outcome.mutex);
    outcome.status = status;
    if (status == PMIX_SUCCESS && value != nullptr) {
        if (value->type == PMIX_BYTE_OBJECT && value->data.bo.bytes != nullptr) {
            outcome.bytes.assign(value->data.bo.bytes, value->data.bo.size);
        } else if (value->type == PMIX_UINT32) {
            outcome.number = value->data.uint32;
        }
    }
    outcome.changed.notify_all();
}

void on_fence(pmix_status_t status, void* share) {
    settle(share, status, nullptr);
}

void on_value(pmix_status_t status, pmix_value_t* value, void* share) {
    settle(share, status, value);
}

void set_key(pmix_key_t key, std::string_view text) {
    const std::size_t length = std::min<std::size_t>(text.size(), PMIX_MAX_KEYLEN);
    std::copy_n(text.begin(), length, key);
    key[length] = '\0';
}

class PmixLink final : public LauncherLink {
  public:
    explicit PmixLink(Clock::time_point until);
    ~PmixLink() override;

    Rank rank() const override { return static_cast<Rank>(self_.rank); }
    Rank ranks() const override { return ranks_; }
    std::vector<std::string> gather(std::string_view mine, Clock::time_point until) override;

  private:
    Share call(const std::string& what, Clock::time_point until,
               const std::function<pmix_status_t(void* share)>& start) const;
    Share get(std::uint32_t rank, const std::string& key, Clock::time_point until) const;
    void require(pmix_status_t status, const std::string& what) const;
    void put(const std::string& key, std::string_view blob) const;
    void fence(Clock::time_point until);

    const pmix::Library& library_;
    pmix_proc_t self_{};
    Rank ranks_ = 0;
    pid_t owner_;
    pmix_info_t collect_{};  // lives as long as a fence that was given up may
    std::uint64_t rounds_ = 0;
};

PmixLink::PmixLink(Clock::time_point until) : library_(pmix::library()), owner_(getpid()) {
    require(library_.init(&self_, nullptr, 0), "PMIx_Init");
    try {
        set_key(collect_.key, PMIX_COLLECT_DATA);
        collect_.value.type = PMIX_BOOL;
        collect_.value.data.flag = true;
        const Share size = get(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, until);
        if (size->number == 0 || size->number > 0x7fffffffU || self_.rank >= size->number) {
            throw Error(Status::system_error, "PMIx: rank " + std::to_string(self_.rank) +
                                                  " of a job of " + std::to_string(size->number) +
                                                  " makes no sense");
        }
        ranks_ = static_cast<Rank>(size->number);
    } catch (...) {
        library_.finalize(nullptr, 0);
        throw;
    }
}

/// Without this farewell the launcher takes the process's end for a crash and ends the others.
PmixLink::~PmixLink() {
    if (getpid() == owner_) {  // else: a child after fork(), without the library's threads
        library_.finalize(nullptr, 0);
    }
}

void PmixLink::require(pmix_status_t status, const std::string& what) const {
    if (status == PMIX_SUCCESS) {
        return;
    }
    const std::string cause = what + ": " + library_.error_string(status);
    if (status == PMIX_ERR_UNREACH) {
        throw Error(Status::system_error,
                    "PMIx: no server answers (" + cause +
                        "); start with mpirun, prterun or srun --mpi=pmix, or set "
                        "TREFOIL_LAUNCHER=single for one rank");
    }
    throw Error(Status::system_error, "PMIx: " + cause + " on rank " + std::to_string(self_.rank));
}

/// Starts a call and waits for its callback; the library ends the wait, or the time does.
Share PmixLink::call(const std::string& what, Clock::time_point until,
                     const std::function<pmix_status_t(void* share)>& start) const {
    Share outcome = std::make_shared<Outcome>();
    auto theirs = std::make_unique<Share>(outcome);
    const pmix_status_t started = start(theirs.get());
    if (started == PMIX_OPERATION_SUCCEEDED) {  // at once; there is no callback
        return outcome;
    }
    require(started, what);
    static_cast<void>(theirs.release());  // the callback's now
    std::unique_lock lock(outcome->mutex);
    if (!outcome->changed.wait_until(lock, until, [&] { return outcome->status.has_value(); })) {
        throw Error(Status::timeout,
                    "PMIx: " + what +
                        " took too long; some rank has not come, or the launcher is stuck: look at "
                        "the ranks' output, or raise TREFOIL_TIMEOUT");
    }
    require(*outcome->status, what);
    return outcome;
}

Share PmixLink::get(std::uint32_t rank, const std::string& key, Clock::time_point until) const {
    pmix_proc_t whom = self_;
    whom.rank = rank;
    return call("PMIx_Get of " + key, until, [&](void* share) {
        return library_.get(&whom, key.c_str(), nullptr, 0, on_value, share);
    });
}

void PmixLink::put(const std::string& key, std::string_view blob) const {
    std::string bytes(blob);
    pmix_value_t value{};
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = bytes.data();
    value.data.bo.size = bytes.size();
    require(library_.put(PMIX_GLOBAL, key.c_str(), &value), "PMIx_Put");
    require(library_.commit(), "PMIx_Commit");
}

void PmixLink::fence(Clock::time_point until) {
    call("PMIx_Fence", until,
         [&](void* share) { return library_.fence(nullptr, 0, &collect_, 1, on_fence, share); });
}

/// Keys are never used twice: nobody could tell an old value from a new one.
std::vector<std::string> PmixLink::gather(std::string_view mine, Clock::time_point until) {
    const std::string key = "trefoil." + std::to_string(++rounds_);
    put(key, mine);
    fence(until);
    std::vector<std::string> all(static_cast<std::size_t>(ranks_));
    for (Rank r = 0; r < ranks_; ++r) {
        all[r] =
            r == rank() ? std::string(mine) : get(static_cast<std::uint32_t>(r), key, until)->bytes;
    }
    return all;
}

}  // namespace

std::unique_ptr<LauncherLink> make_pmix_link(LauncherLink::Clock::time_point until) {
    return std::make_unique<PmixLink>(until);
}

}  // namespace trefoil
