// SPDX-License-Identifier: BSD-3-Clause
// The worker's round, and its waits.
#include "threads/executor/worker.hpp"

#include <algorithm>
#include <exception>
#include <thread>

#include "backend/ports/powers.hpp"
#include "threads/executor/executor.hpp"
#include "threads/executor/put_cookie.hpp"
#include "threads/executor/reports.hpp"

namespace trefoil {

namespace {

using Clock = std::chrono::steady_clock;
/// A worker that is busy looks at calls that do not go on after so many rounds.
constexpr std::uint32_t rounds_per_look = 64;

bool count_move(WorkerPart& part, bool moved) noexcept {
    if (moved) {
        part.count_move();
    }
    return moved;
}

}  // namespace

Worker::Worker(std::size_t number, bool in_caller, Engine& engine, Rank rank, Rank ranks)
    : number_(number),
      in_caller_(in_caller),
      engine_(engine),
      group_(engine.groups()[number].get()),
      links_(*group_, rank, ranks, Notification::channel_limit(group_->traits().notification_bits),
             *this),
      waiting_(engine.may_spin(), engine.groups().size() == 1 && group_->storing() != nullptr),
      progress_turns_(engine.may_spin()) {
    if (group_->storing() != nullptr) {
        group_->storing()->watch(
            {[](const void* worker) { return static_cast<const Worker*>(worker)->flag_has_come(); },
             this});
    }
}

Worker::~Worker() {
    if (group_->storing() != nullptr) {
        group_->storing()->watch({});
    }
}

void Worker::add(Executor& executor) {
    WorkerPart& part = executor.part(number_);
    const std::uint32_t number = executor.number();
    all_.resize(std::max<std::size_t>(all_.size(), number + 1));
    parts_.reserve(all_.capacity());  // so that taking new work needs no memory
    by_key_[executor.key()] = &part;
    all_[number] = {&executor, &part};
    is_traced_ |= part.notes().on();
    links_.wiring().begin(executor.key());
    std::erase_if(early_offers_, [&](const EarlyOffer& early) {
        const bool is_his = early.key == executor.key();
        if (is_his) {
            part.take_direct_letter(early.from, early.own, early.letter);
        }
        return is_his;
    });
    std::erase_if(early_letters_, [&](const auto& early) {
        const bool is_his = early.first == executor.communicator();
        if (is_his) {
            part.take_letter(early.second.first, early.second.second);
        }
        return is_his;
    });
}

void Worker::remove(Executor& executor) noexcept {
    take_new_work();
    std::erase_if(parts_, [&](const Part& part) { return part.executor == &executor; });
    all_[executor.number()] = {};
    by_key_.erase(executor.key());
    if (engine_.groups_are_gone()) {
        return;
    }
    try {
        links_.wiring().end(executor.key());
        (void)links_.progress();
    } catch (const std::exception&) {  // no memory for farewells: peers keep what they have
    }
}

bool Worker::part_is_listed(const WorkerPart& part) noexcept {
    return part.listed.load(std::memory_order_seq_cst);
}

/// Of who issues and who takes the turn at least one sees the other: see Engine::issued().
void Worker::list(WorkerPart& part) noexcept {
    if (part.listed.exchange(true, std::memory_order_acquire)) {
        return;
    }
    WorkerPart* first = new_work_.load(std::memory_order_relaxed);
    do {
        part.next_new = first;
    } while (!new_work_.compare_exchange_weak(first, &part, std::memory_order_seq_cst,
                                              std::memory_order_relaxed));
}

void Worker::take_new_work() noexcept {
    WorkerPart* part = new_work_.exchange(nullptr, std::memory_order_acquire);
    for (; part != nullptr; part = part->next_new) {
        parts_.push_back(all_[part->number()]);
    }
}

/// Only one of several is let go: alone, it would only come back with its next call. Of whoever
/// issues and this thread at least one sees what the other has done, as all four accesses are
/// sequentially consistent.
bool Worker::has_done_its_work(const Part& part) noexcept {
    if (parts_.size() == 1 || part.executor->calls_in_flight() != 0) {
        return false;
    }
    part.part->listed.store(false, std::memory_order_seq_cst);
    return part.executor->calls_in_flight() == 0 ||
           part.part->listed.exchange(true, std::memory_order_relaxed);
}

/// What it does in one go is one entry, whatever executors it is for.
void Worker::note_begin() noexcept {
    completed_ = 0;
    for (const Part& part : parts_) {
        part.part->count_completed();
        if (part.part->notes().on()) {
            begun_ = part.part->notes().clock();
        }
    }
}

void Worker::note_completed(WorkerPart& part) noexcept {
    if (const std::uint64_t calls = part.count_completed(); calls > 0) {
        completed_ += calls;
        completed_text_ = part.last_text();
    }
}

void Worker::note_end() noexcept {
    TimelineNotes* notes = nullptr;
    for (const Part& part : parts_) {
        note_completed(*part.part);
        notes = part.part->notes().on() ? &part.part->notes() : notes;
    }
    if (notes != nullptr) {
        notes->goes_on();
        notes->call(completed_ == 1 ? completed_text_ : "calls in flight", begun_);
    }
}

bool Worker::advance() noexcept {
    bool progressed = false;
    if (new_work_.load(std::memory_order_seq_cst) != nullptr) {
        take_new_work();
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const Part part = parts_[i];
        if (!part.part->failed()) {
            progressed |= count_move(*part.part, part.part->advance());
        } else if (!part.executor->settled()) {
            trouble_ = true;
        }
        if (parts_.size() > 1 && has_done_its_work(part)) {
            if (is_traced_) {
                note_completed(*part.part);
            }
            parts_[i--] = parts_.back();
            parts_.pop_back();
        }
    }
    calls_moved_ = false;
    moved_ = poll();
    // One of them may hang while others keep this worker busy.
    if (parts_.size() > 1 && ++rounds_ % rounds_per_look == 0) {
        look_after_calls(Clock::now());
    }
    return progressed || calls_moved_;
}

bool Worker::poll() noexcept {
    if (engine_.groups_are_gone()) {
        return false;
    }
    bool moved = take_arrivals();
    try {
        moved |= links_.progress();
    } catch (const std::exception&) {  // no memory: what was not said is said later, or never
    }
    return moved;
}

bool Worker::take_arrivals() noexcept {
    const std::size_t count = group_->poll(events_);
    bool moved = false;
    for (std::size_t i = 0; i < count; ++i) {
        moved |= take(events_[i]);
    }
    return moved;
}

bool Worker::flag_has_come() const noexcept {
    return std::any_of(parts_.begin(), parts_.end(),
                       [](const Part& part) { return part.part->flag_has_come(); });
}

/// Polls as long as the waiting policy only pauses. As before a sleep, nothing can be new but what
/// comes to the group, or a change that is counted; so a round of all parts would find nothing.
/// True: a call may have gone on. False: nothing has come, or there is more to look at.
bool Worker::spin() noexcept {
    if (is_traced_ || moved_ || (in_caller_ && engine_.progress()) || refused() ||
        engine_.groups_are_gone()) {
        return false;
    }
    while (waiting_.spin()) {
        was_idle_ = true;
        if (flag_has_come() || take_arrivals() || engine_.wake_up().changes() != changes_seen_) {
            return true;
        }
    }
    return false;
}

/// True: something has moved. Words of peers are no progress of calls: those that are stalled tell
/// each other so, and would never find that they wait in vain.
bool Worker::take(const Event& event) noexcept {
    const auto of_call = [this](WorkerPart& part, bool moved) {
        calls_moved_ |= moved;
        return count_move(part, moved);
    };
    switch (event.kind) {
        case Event::Kind::sent:
            if (WorkerPart* const part = part_of(PutCookie(event.cookie))) {
                return of_call(*part, part->sent(PutCookie(event.cookie)));
            }
            (void)links_.post().sent(event.cookie);
            return true;
        case Event::Kind::arrived: {
            const std::uint64_t notification = event.notification;
            if (Signal::is_signal(notification)) {
                return links_.post().take(notification);
            }
            const Landing* const landing =
                links_.wiring().arrived(Notification::decode(notification).channel);
            if (landing == nullptr || landing->user == nullptr) {
                return false;
            }
            WorkerPart& part = *static_cast<WorkerPart*>(landing->user);
            return of_call(part, part.arrive(notification, landing->number));
        }
        case Event::Kind::failed:
            if (WorkerPart* const part = part_of(PutCookie(event.cookie))) {
                part->put_failed(PutCookie(event.cookie));
            } else if (!links_.post().failed(event.cookie, group_->error_text())) {
                for (const Part& attached : all_) {
                    if (attached.part != nullptr) {
                        attached.part->group_failed();
                    }
                }
            }
            return false;
    }
    return false;
}

/// Null: it is not an executor's.
WorkerPart* Worker::part_of(const PutCookie& cookie) noexcept {
    return cookie.is_one() && cookie.executor() < all_.size() ? all_[cookie.executor()].part
                                                              : nullptr;
}

void Worker::wired(Wire& wire) {
    const auto found = by_key_.find(wire.key.communicator);
    if (found != by_key_.end()) {
        found->second->wired(wire);
        found->second->count_move();
        calls_moved_ = true;  // puts may wait for it
    }
}

void Worker::peer_left(const ChannelKey& key) {
    const auto found = by_key_.find(key.communicator);
    if (found != by_key_.end()) {
        found->second->peer_left(key);
    }
}

void Worker::letter(Rank from, Port own, std::uint64_t tag, std::string_view text) {
    constexpr std::size_t most_early = 256;
    const auto kind = static_cast<LetterKind>(text.empty() ? '\0' : text.front());
    if (kind == LetterKind::agreement) {
        engine_.hear(from, own, tag, text.substr(1));
        return;
    }
    if (kind == LetterKind::direct) {
        const auto lane = by_key_.find(tag);
        if (lane != by_key_.end()) {
            lane->second->take_direct_letter(from, own, text);
        } else if (early_offers_.size() < most_early) {
            early_offers_.push_back({tag, from, own, std::string(text)});
        }
        return;
    }
    const auto found = std::find_if(all_.begin(), all_.end(), [tag](const Part& part) {
        return part.executor != nullptr && part.executor->communicator() == tag;
    });
    if (found != all_.end()) {  // its executors share what is reported
        found->part->take_letter(from, text);
        if (found->part->failed()) {
            engine_.enlist(*found->executor);  // it is settled, though it may have no call
        }
    } else if (kind == LetterKind::failure && early_letters_.size() < most_early) {
        early_letters_.push_back({tag, {from, std::string(text)}});
    }
}

void Worker::broken(const BrokenConnection& connection) {
    constexpr std::size_t most_kept = 16;
    if (broken_.size() < most_kept) {
        broken_.push_back(connection);
    }
    for (const Part& part : all_) {
        if (part.part != nullptr) {
            part.part->broken(connection);
        }
    }
    engine_.announce();
}

bool Worker::round(bool& trouble) noexcept {
    begin_work();
    const bool progressed = advance();
    trouble |= std::exchange(trouble_, false);
    if (progressed) {
        end_work();
    } else {
        look_after_calls(Clock::now());
    }
    return progressed || moved_;
}

void Worker::goes_on() noexcept {
    waiting_.reset();
    was_idle_ = false;
    if (is_traced_) {
        for (const Part& part : parts_) {
            part.part->notes().goes_on();
        }
    }
}

void Worker::idle() noexcept {
    was_idle_ = true;
    TimelineNotes* const notes = parts_.empty() ? nullptr : &parts_.front().part->notes();
    const bool noted = notes != nullptr && notes->on();
    const std::int64_t begin = noted ? notes->clock() : 0;
    wait();
    if (noted) {
        notes->waits(begin);
    }
}

void Worker::wait() noexcept {
    const Progress progress = engine_.progress();
    const bool serves = in_caller_ && progress;
    std::chrono::microseconds length = waiting_.idle(serves);
    if (serves) {
        length = std::min(length, longest_sleep_with_progress);
        if (progress_turns_.due(length.count() > 0 || waiting_.yields())) {
            progress();
        }
    }
    if (length.count() == 0) {
        return;
    }
    look_after_calls(Clock::now());
    if (engine_.groups_are_gone()) {
        std::this_thread::sleep_for(std::min(length, busy_sleep));
        return;
    }
    engine_.wake_up().sleep(number_, changes_seen_,
                            refused() ? std::min(length, busy_sleep) : length);
}

bool Worker::refused() const noexcept {
    return links_.has_work() || std::any_of(parts_.begin(), parts_.end(),
                                            [](const Part& part) { return part.part->refused(); });
}

}  // namespace trefoil
