// SPDX-License-Identifier: BSD-3-Clause
// What some ranks tell each other without waiting: all get the texts of all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topo/error.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// One rank's part in an allgather of texts of any lengths. They go up a binomial tree, and all of
/// them down again: 2 log2(p) messages behind each other, and connections to log2(p) ranks at most.
/// A state machine that knows no transport; it sends when it is made and in take().
class Gathering {
  public:
    using Send = std::function<void(Rank to, std::string_view text)>;

    /// `members`: in the same order on all of them, each once, with this rank at `place`.
    Gathering(std::vector<Rank> members, std::size_t place, std::string mine, Send send);

    /// A text that `from` has sent. Throws Error(mismatch) when it is none that could come now;
    /// then nothing has changed.
    void take(Rank from, std::string_view text);

    bool complete() const { return complete_; }
    /// To whom this rank speaks, and who speaks to it.
    std::vector<Rank> partners() const;
    /// In the order of the members. Of interest when it is complete.
    const std::vector<std::string>& texts() const { return texts_; }
    /// Those whose message is missing.
    std::vector<Rank> missing() const;
    /// All below have told; what is missing is what the parent has of the rest.
    bool waits_for_parent() const { return children_.empty() && !complete_; }

  private:
    std::size_t parent() const { return place_ & (place_ - 1); }
    std::size_t subtree_end(std::size_t of) const;
    std::string encoded(std::size_t first, std::size_t end) const;
    void decode(std::string_view text, std::size_t first, std::size_t end);
    void go_on();

    std::vector<Rank> members_;
    std::size_t place_;
    Send send_;
    std::vector<std::string> texts_;
    std::vector<std::size_t> children_;  ///< places of those that have not told yet
    std::vector<std::size_t> below_;     ///< of all of them
    bool told_ = false, complete_ = false;
};

/// Gatherings by tag, with what comes before this rank has begun its own part.
class Gatherings {
  public:
    using Send = std::function<void(Rank to, std::uint64_t tag, std::string_view text)>;
    explicit Gatherings(Send send) : send_(std::move(send)) {}

    /// As Gathering. Throws Error(mismatch) for what has come early and is wrong.
    void begin(std::uint64_t tag, std::vector<Rank> members, std::size_t place, std::string mine);
    /// What is wrong concerns this gathering alone: throws nothing, but see failure().
    void take(Rank from, std::uint64_t tag, std::string_view text);
    /// Of one that has begun here: what a member has told cannot be.
    const std::optional<Error>& failure(std::uint64_t tag) const { return parts_.at(tag).failure; }
    /// Null: it has not begun here.
    const Gathering* find(std::uint64_t tag) const;
    /// Nobody asks for it any more. Before it is complete, its members wait for this rank in vain,
    /// and what they tell is dropped. No other gathering has its tag.
    void end(std::uint64_t tag);
    /// Those of which something may still come.
    std::size_t size() const { return parts_.size() + given_up_.size(); }

  private:
    struct Part {
        std::optional<Gathering> gathering;
        std::vector<std::pair<Rank, std::string>> early;
        std::optional<Error> failure;
    };
    Send send_;
    std::map<std::uint64_t, Part> parts_;
    std::map<std::uint64_t, std::size_t> given_up_;  ///< how many texts are still to come
};

}  // namespace trefoil
