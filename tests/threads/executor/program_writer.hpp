// SPDX-License-Identifier: BSD-3-Clause
// Programs made by hand, for tests of what runs them.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "threads/executor/program.hpp"

namespace trefoil::test {

/// Writes a program step by step: what comes before the puts, the puts, the arrivals, what comes
/// after. Messages of a channel lie one behind the other in its slot, each behind its flag where
/// messages are stores.
class ProgramWriter {
  public:
    /// For a rank with so many channels; each is of group `groups[channel]`, both ways.
    explicit ProgramWriter(std::vector<int> groups, std::size_t flag_bytes = 0)
        : groups_(std::move(groups)), flag_bytes_(flag_bytes) {
        program_.arrivals.resize(groups_.size());
        arrivals_.resize(groups_.size());
        out_.resize(groups_.size());
    }

    void part() { program_.parts.push_back({steps(), 0}); }
    void step() {
        ProgramStep step;
        step.part = static_cast<std::uint32_t>(program_.parts.size()) - 1;
        step.schedule_part = step.part;
        step.schedule_step = program_.parts.back().count++;
        step.puts = {static_cast<std::uint32_t>(program_.puts.size()), 0};
        step.before = step.after = {ops(), 0};
        program_.steps.push_back(step);
    }
    void before(const ProgramOp& op) {
        add(program_.steps.back().before, op);
        program_.steps.back().after = {ops(), 0};
    }
    void after(const ProgramOp& op) { add(program_.steps.back().after, op); }
    void end(const ProgramOp& op) { ends_.push_back(op); }

    void put(std::uint32_t channel, Location source, std::size_t bytes) {
        ProgramPut put;
        put.channel = channel;
        put.group = groups_[channel];
        put.source = source;
        put.bytes = bytes;
        put.index = out_[channel].messages++;
        put.landing_offset = out_[channel].bytes + flag_bytes_;
        out_[channel].bytes = put.landing_offset + bytes;
        add(put);
    }
    /// As put(), but the bytes are copied together first.
    void gathered_put(std::uint32_t channel, Location source, std::size_t bytes) {
        put(channel, {}, bytes);
        const auto group = static_cast<std::size_t>(groups_[channel]);
        program_.pack_bytes.resize(std::max(program_.pack_bytes.size(), group + 1));
        std::size_t& staged = program_.pack_bytes[group];
        program_.puts.back().packs = {ops(), 1};
        program_.puts.back().pack_offset = staged;
        program_.ops.push_back(ProgramOp::copy({Location::output, staged}, source, bytes));
        program_.steps.back().after = {ops(), 0};
        staged += bytes;
    }
    /// Where the message lands.
    Location arrival(std::uint32_t channel, std::size_t bytes) {
        arrivals_[channel].push_back({steps() - 1, bytes});
        program_.steps.back().events += 1;
        std::size_t offset = flag_bytes_;
        for (std::size_t i = 0; i + 1 < arrivals_[channel].size(); ++i) {
            offset += arrivals_[channel][i].bytes + flag_bytes_;
        }
        return {Location::first_landing + channel, offset};
    }

    /// The steps and all else.
    Program take(bool acknowledged) {
        for (std::uint32_t channel = 0; channel < groups_.size(); ++channel) {
            if (out_[channel].messages > 0) {
                program_.used_out.push_back(channel);
                program_.out_bytes.push_back(out_[channel].bytes);
            }
            program_.arrivals[channel].first =
                static_cast<std::uint32_t>(program_.arrival_steps.size());
            std::size_t offset = 0;
            for (const Arrival& arrival : arrivals_[channel]) {
                program_.arrival_offsets.push_back(offset + flag_bytes_);
                offset += flag_bytes_ + arrival.bytes;
                program_.arrival_steps.push_back(arrival.step);
                program_.arrival_bytes.push_back(arrival.bytes);
                program_.arrival_copies.push_back(0);
                program_.arrivals[channel].count += 1;
            }
            if (!arrivals_[channel].empty()) {
                program_.used_in.push_back(channel);
                program_.in_bytes.push_back(offset);
            }
        }
        program_.acknowledged = acknowledged;
        program_.end = {ops(), static_cast<std::uint32_t>(ends_.size())};
        program_.ops.insert(program_.ops.end(), ends_.begin(), ends_.end());
        for (const ProgramRange& part : program_.parts) {
            program_.steps[part.first + part.count - 1].last = true;
        }
        if (flag_bytes_ > 0) {
            order_steps(program_);
        }
        return std::move(program_);
    }

  private:
    struct Arrival {
        std::uint32_t step;
        std::size_t bytes;
    };
    struct Out {
        std::uint32_t messages = 0;
        std::size_t bytes = 0;
    };

    std::uint32_t steps() const { return static_cast<std::uint32_t>(program_.steps.size()); }
    std::uint32_t ops() const { return static_cast<std::uint32_t>(program_.ops.size()); }
    void add(ProgramRange& range, const ProgramOp& op) {
        program_.ops.push_back(op);
        ++range.count;
    }
    void add(const ProgramPut& put) {
        program_.puts.push_back(put);
        program_.steps.back().puts.count += 1;
        program_.steps.back().events += 1;
    }

    std::vector<int> groups_;
    std::size_t flag_bytes_;
    std::vector<std::vector<Arrival>> arrivals_;
    std::vector<Out> out_;
    std::vector<ProgramOp> ends_;
    Program program_;
};

}  // namespace trefoil::test
