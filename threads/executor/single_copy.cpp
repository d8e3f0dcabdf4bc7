// SPDX-License-Identifier: BSD-3-Clause
// Reducing a share straight from the vectors of ranks on this host, without landing memory.
//
// All ranks have told their addresses, so all have entered the call and no vector moves; each share
// has one rank that works on it, and no rank leaves before it has heard that all shares are done.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "threads/executor/operations.hpp"

namespace trefoil {

namespace {

/// One contributor, as the folding rank gets at it.
class Vectors {
  public:
    Vectors(const Channels& channels, const DirectShare::Contributor& who, const std::byte* told)
        : channel_(&channels.out[who.channel]), group_(channels.groups[channel_->group].get()) {
        std::memcpy(&at_, told, sizeof at_);
        in_place_ = group_->reach(channel_->endpoint) == Reach::addresses;
    }
    Vectors(const std::byte* input, std::byte* output)
        : at_{reinterpret_cast<std::uintptr_t>(input), reinterpret_cast<std::uintptr_t>(output)},
          in_place_(true) {}

    /// The bytes of the input, in `room` if need be; null: errno tells.
    const std::byte* input(std::size_t offset, std::size_t bytes, std::byte* room) const {
        if (in_place_) {
            return reinterpret_cast<const std::byte*>(at_.input + offset);
        }
        return group_->copy_from(channel_->endpoint, room, at_.input + offset, bytes) ? room
                                                                                      : nullptr;
    }
    bool set_output(std::size_t offset, const std::byte* source, std::size_t bytes) const {
        if (in_place_) {
            std::memcpy(reinterpret_cast<std::byte*>(at_.output + offset), source, bytes);
            return true;
        }
        return group_->copy_to(channel_->endpoint, at_.output + offset, source, bytes);
    }

  private:
    const OutChannel* channel_ = nullptr;
    const PortGroup* group_ = nullptr;
    VectorAddresses at_;
    bool in_place_ = false;
};

}  // namespace

bool Operations::fold(const Call& call, const DirectShare& share,
                      const SegmentBuffers& buffers) const noexcept {
    const auto vectors_of = [&](const DirectShare::Contributor& who) {
        return who.channel == DirectShare::Contributor::self
                   ? Vectors(buffers.base(Location::input), buffers.base(Location::output))
                   : Vectors(channels_, who, buffers.at(who.addresses));
    };
    const bool in_place = buffers.in_place();
    for (std::size_t done = 0; done < share.elements; done += share.chunk_elements) {
        const std::size_t elements = std::min(share.chunk_elements, share.elements - done);
        const std::size_t bytes = elements * share.element_bytes;
        const std::size_t offset = share.offset + done * share.element_bytes;
        // In place, the own output holds what is still to be added.
        std::byte* const sum =
            in_place ? buffers.at(share.sum) : buffers.base(Location::output) + offset;
        bool first = true;
        for (const auto& who : share.contributors) {
            const std::byte* const input =
                vectors_of(who).input(offset, bytes, first ? sum : buffers.at(share.fetched));
            if (input == nullptr) {
                return fail_direct(who.channel, "reading");
            }
            if (!first) {
                call.kernels.apply(sum, input, elements);
            } else if (input != sum) {
                std::memcpy(sum, input, bytes);
            }
            first = false;
        }
        for (const auto& who : share.contributors) {
            const bool there = !in_place && who.channel == DirectShare::Contributor::self;
            if (!there && !vectors_of(who).set_output(offset, sum, bytes)) {
                return fail_direct(who.channel, "writing");
            }
        }
    }
    return true;
}

bool Operations::fail_direct(std::uint32_t channel, const char* what) const noexcept {
    failure_.set(Status::system_error,
                 std::string(what) + " the vector of rank " +
                     std::to_string(channels_.out[channel].peer) +
                     " in its process failed: " + std::strerror(errno) +
                     "; set TREFOIL_SINGLE_COPY=0 if its memory cannot be read by others");
    return false;
}

}  // namespace trefoil
