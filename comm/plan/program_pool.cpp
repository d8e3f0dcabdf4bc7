// SPDX-License-Identifier: BSD-3-Clause
// Finding equal programs by a hash of what tells most of them apart.
#include "comm/plan/program_pool.hpp"

#include <algorithm>
#include <utility>

#include "comm/plan/hash.hpp"

namespace trefoil {

namespace {

std::uint64_t hash_of(const Program& program) {
    std::uint64_t hash = mix_hash(program.steps.size(), program.scratch_bytes);
    for (const ProgramPut& put : program.puts) {
        hash = mix_hash(mix_hash(hash, put.channel), put.bytes);
    }
    for (const ProgramOp& op : program.ops) {
        hash = mix_hash(mix_hash(hash, op.elements), op.target.offset);
    }
    return hash;
}

}  // namespace

std::shared_ptr<const Program> ProgramPool::share(Program program) {
    const std::uint64_t hash = hash_of(program);
    const std::lock_guard lock(mutex_);
    const auto [first, last] = programs_.equal_range(hash);
    for (auto known = first; known != last; ++known) {
        auto equal = known->second.lock();
        if (equal != nullptr && *equal == program) {
            return equal;
        }
    }
    if (programs_.size() >= forget_at_) {
        forget_unused();
    }
    // What remembers a program must not keep its memory: so not by make_shared.
    std::shared_ptr<const Program> made(std::make_unique<const Program>(std::move(program)));
    programs_.emplace(hash, made);
    return made;
}

std::size_t ProgramPool::size() {
    const std::lock_guard lock(mutex_);
    forget_unused();
    return programs_.size();
}

void ProgramPool::forget_unused() {
    std::erase_if(programs_, [](const auto& known) { return known.second.expired(); });
    forget_at_ = std::max<std::size_t>(64, 2 * programs_.size());
}

}  // namespace trefoil
