// SPDX-License-Identifier: BSD-3-Clause
// Offers, their acceptance, and their end.
#include "threads/executor/direct_call.hpp"

#include <algorithm>
#include <utility>

#include "backend/ports/powers.hpp"
#include "threads/executor/reports.hpp"
#include "topo/blob.hpp"
#include "topo/error.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

namespace {

enum class Word : char { offer = 'O', accept = 'A', withdraw = 'W' };

BlobWriter letter_of(Word word, std::uint64_t name, Ring ring) {
    BlobWriter letter;
    letter.number(static_cast<char>(LetterKind::direct));
    letter.number(static_cast<char>(word));
    letter.number(name);
    letter.number(ring);
    return letter;
}

/// As a sender counts: by message of the channel.
void write_runs(BlobWriter& letter, const DirectRuns& runs, ProgramRange arrivals) {
    letter.number(arrivals.count);
    for (std::uint32_t i = 0; i < arrivals.count; ++i) {
        const auto of_message = runs.of(arrivals.first + i);
        letter.number(static_cast<std::uint8_t>(of_message.size()));
        for (const DirectRun& run : of_message) {
            letter.number(run);
        }
    }
}

DirectRuns read_runs(BlobReader& reader) {
    DirectRuns result;
    const std::size_t messages = reader.count<std::uint32_t>(sizeof(std::uint8_t));
    result.resize(messages);
    std::vector<DirectRun> runs;
    for (std::uint32_t i = 0; i < messages; ++i) {
        runs.resize(reader.number<std::uint8_t>());
        for (DirectRun& run : runs) {
            run = reader.number<DirectRun>();
        }
        result.set(i, runs);
    }
    return result;
}

}  // namespace

DirectCall::DirectCall(std::vector<const Program*> lowered, std::vector<DirectProgram> programs,
                       std::vector<Registered> registered, const RunningCall& running)
    : lowered_(std::move(lowered)),
      programs_(std::move(programs)),
      registered_(std::move(registered)),
      running_(running) {
    for (const DirectProgram& direct : programs_) {
        for (const DirectProgram::Incoming& incoming : direct.incoming) {
            accepted_[incoming.in] = 0;
        }
    }
}

bool DirectCall::is_open() const {
    return name_ != 0 && !running_.done() &&
           std::any_of(accepted_.begin(), accepted_.end(), [&](const auto& channel) {
               return is_accepted(channel.first, running_.number());
           });
}

const DirectCall::Registered* DirectCall::registered_at(int group) const {
    const auto found = std::find_if(
        registered_.begin(), registered_.end(),
        [&](const Registered& r) { return r.group == group && !r.description.empty(); });
    return found == registered_.end() ? nullptr : &*found;
}

bool DirectCall::may_be_read(int group, const std::byte* data, std::size_t bytes,
                             void*& descriptor) const noexcept {
    for (const Registered& one : registered_) {
        if (one.group == group && data >= one.memory.data &&
            data + bytes <= one.memory.data + one.memory.bytes) {
            descriptor = one.memory.descriptor;
            return true;
        }
    }
    return false;
}

void DirectCalls::start(DirectCall& call, std::uint64_t number) {
    if (call.name_ == 0) {
        {
            const std::lock_guard lock(mutex_);
            calls_[number] = &call;
        }
        call.name_ = number;
        offer(call);
    } else if (const std::uint64_t taken = offers_taken_.load(std::memory_order_relaxed);
               call.offers_seen_ != taken) {
        accept(call, number);
        call.offers_seen_ = taken;
    }
}

void DirectCalls::offer(const DirectCall& call) {
    for (const auto& [in, from] : call.accepted_) {
        const InChannel& channel = channels_.in[in];
        const DirectCall::Registered* const registered = call.registered_at(channel.group);
        if (registered == nullptr) {
            continue;
        }
        BlobWriter letter = letter_of(Word::offer, call.name_, channel.ring);
        letter.number(registered->offset);
        letter.text(registered->description);
        letter.number(static_cast<std::uint32_t>(call.programs_.size()));
        for (std::size_t p = 0; p < call.programs_.size(); ++p) {
            const Program& program = *call.lowered_[p];
            write_runs(letter, call.programs_[p].runs,
                       in < program.arrivals.size() ? program.arrivals[in] : ProgramRange());
        }
        say(channel, letter.bytes());
    }
}

void DirectCalls::accept(DirectCall& call, std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    std::erase_if(call.outgoing_, [&](const std::shared_ptr<DirectOutgoing>& known) {
        if (!known->withdrawn) {
            return false;
        }
        for (DirectProgram& direct : call.programs_) {
            std::replace(direct.outgoing.begin(), direct.outgoing.end(),
                         static_cast<const DirectOutgoing*>(known.get()),
                         static_cast<const DirectOutgoing*>(nullptr));
        }
        return true;  // its memory is let go of with the call
    });
    for (std::uint32_t c = 0; c < channels_.out.size(); ++c) {
        const OutChannel& channel = channels_.out[c];
        const auto offered =
            offers_.find({call.name_, channel.peer, channel.port.index, channel.ring});
        if (offered == offers_.end() || offered->second->withdrawn ||
            offered->second->runs.size() != call.programs_.size() ||
            std::find(call.outgoing_.begin(), call.outgoing_.end(), offered->second) !=
                call.outgoing_.end()) {
            continue;
        }
        BlobWriter letter = letter_of(Word::accept, call.name_, channel.ring);
        letter.number(number);
        call.outgoing_.push_back(offered->second);
        for (DirectProgram& direct : call.programs_) {
            direct.outgoing.resize(std::max<std::size_t>(direct.outgoing.size(), c + 1));
            direct.outgoing[c] = offered->second.get();
        }
        say(channel, letter.bytes());
    }
}

template <typename Channel>
void DirectCalls::say(const Channel& channel, std::string letter) {
    engine_.send_letter(first_rank_of(channels_, channel.peer), channel.port, channels_.key,
                        std::move(letter));
}

void DirectCalls::let_go_of(DirectOutgoing& outgoing) noexcept {
    const auto& group = channels_.groups[static_cast<std::size_t>(outgoing.group)];
    if (!engine_.groups_are_gone() && group->registering() != nullptr) {
        group->registering()->release(outgoing.memory);
    }
}

void DirectCalls::end(DirectCall& call) noexcept {
    if (call.name_ == 0) {
        return;
    }
    const std::lock_guard lock(mutex_);
    calls_.erase(call.name_);
    try {
        for (const auto& [in, from] : call.accepted_) {
            if (call.registered_at(channels_.in[in].group) != nullptr &&
                !engine_.groups_are_gone()) {
                say(channels_.in[in],
                    letter_of(Word::withdraw, call.name_, channels_.in[in].ring).bytes());
            }
        }
    } catch (const std::exception&) {  // no memory: peers keep what they know
    }
    // Those that the call uses may be in no list any more.
    std::erase_if(offers_, [&](const auto& offered) {
        if (std::get<std::uint64_t>(offered.first) != call.name_) {
            return false;
        }
        if (std::find(call.outgoing_.begin(), call.outgoing_.end(), offered.second) ==
            call.outgoing_.end()) {
            let_go_of(*offered.second);
        }
        return true;
    });
    for (const auto& outgoing : call.outgoing_) {
        let_go_of(*outgoing);
    }
    call.outgoing_.clear();
}

void DirectCalls::end_all() noexcept {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, outgoing] : offers_) {
        let_go_of(*outgoing);
    }
    offers_.clear();
}

DirectCalls::Accepted DirectCalls::take_letter(Rank peer, Port own, int group,
                                               std::string_view letter) {
    BlobReader reader(letter.substr(1));
    const auto word = static_cast<Word>(reader.number<char>());
    const auto name = reader.number<std::uint64_t>();
    const auto ring = reader.number<Ring>();
    const std::lock_guard lock(mutex_);
    if (word == Word::offer) {
        auto outgoing = std::make_shared<DirectOutgoing>();
        outgoing->group = group;
        outgoing->base = reader.number<std::uint64_t>();
        const std::string description = reader.text();
        outgoing->runs.resize(reader.count<std::uint32_t>(sizeof(std::uint32_t)));
        for (DirectRuns& runs : outgoing->runs) {
            runs = read_runs(reader);
        }
        outgoing->memory =
            channels_.groups[static_cast<std::size_t>(group)]->import_memory(description);
        offers_.insert_or_assign(Name{name, peer, own.index, ring}, std::move(outgoing));
    } else if (word == Word::withdraw) {
        const auto found = offers_.find({name, peer, own.index, ring});
        if (found == offers_.end()) {
            return {};
        }
        found->second->withdrawn = true;
        if (found->second.use_count() == 1) {
            let_go_of(*found->second);
        }
        offers_.erase(found);
    } else {
        const auto from = reader.number<std::uint64_t>();
        const auto call = calls_.find(name);
        for (std::uint32_t in = 0; call != calls_.end() && in < channels_.in.size(); ++in) {
            if (channels_.in[in].peer == peer && channels_.in[in].port == own &&
                channels_.in[in].ring == ring && call->second->accepted_.contains(in)) {
                call->second->accepted_[in] = from;
                return {call->second, in, from};
            }
        }
        return {};
    }
    offers_taken_.fetch_add(1, std::memory_order_relaxed);  // the mutex orders
    return {};
}

}  // namespace trefoil
