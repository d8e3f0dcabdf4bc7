// SPDX-License-Identifier: BSD-3-Clause
// Ranks of which some are dead agree on who is left.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// One rank's part. Each rank has a *view*: those that it takes for alive. Views only shrink: when
/// somebody is found dead, and to what they have in common with the view of another rank that is in
/// this one. A rank *proposes* its view to all in it, again whenever it shrinks. When all in the
/// view propose the same it *confirms* it to all of them, and when all of them have confirmed it,
/// it *decides*. A rank that has decided says so to whoever proposes anything else.
///
/// Why ranks that live never decide differently, as long as none of them is taken for dead: whoever
/// decides on a view has been confirmed by all of it. One of these can only decide on a smaller
/// view with the proposals of all in that; who has decided proposes nothing any more, but tells.
/// (A decision of a rank that is out of the view by then is not heard any more.) And all of them
/// decide in the end: a rank waits for ranks of its view alone, and the dead leave
/// the views. A rank that others take for dead though it lives is left out, and hears so.
///
/// Each rank brings a word, the same whenever it begins; all that decide get those of all.
///
/// A state machine that knows no transport and no time. Not thread-safe.
class Survivors {
  public:
    using Send = std::function<void(Rank to, std::string_view text)>;
    explicit Survivors(Send send) : send_(std::move(send)) {}

    /// `members`: in the same order on all of them, each once, with this rank at `place`. A second
    /// time, after waiting was in vain, it goes on as it was.
    void begin(std::vector<Rank> members, std::size_t place, std::string word);
    /// Of no interest where it is none of the members, or has been lost already.
    void lose(Rank rank);
    /// A text that `from` has sent; also before it has begun here. Throws Error(mismatch) when it
    /// is none; then nothing has changed.
    void take(Rank from, std::string_view text);

    bool has_decided() const { return decided_; }
    /// Others go on without this rank.
    bool is_left_out() const { return left_out_by_.has_value(); }
    Rank left_out_by() const { return *left_out_by_; }
    /// Who is left, in the order of the members, and their words. Once it is decided.
    std::vector<Rank> survivors() const;
    std::vector<std::string> words() const;
    /// Those in the view that it waits for, and how many times as long as usual it should. Who
    /// waits for a confirmation may wait for a rank that lives, and itself waits for the proposal
    /// of one that has stopped after it had made it to some. It must have the time to find that
    /// out.
    std::vector<Rank> missing() const;
    int patience() const { return confirmed_ == view_ ? 2 : 1; }

  private:
    enum class Kind : char { proposal = 'P', confirmation = 'C', decision = 'D' };
    /// A byte for each member: 1 if it is in it.
    using View = std::string;
    struct Peer {
        std::optional<View> proposed, confirmed;
        std::string word;
    };

    std::size_t place_of(Rank rank) const;  ///< members_.size(): none
    bool has(const View& view, std::size_t place) const { return view[place] != 0; }
    void tell(Kind kind);
    void hear(std::size_t from, std::string_view text);
    void hear_proposal(std::size_t from);
    void go_on();
    template <typename Said>
    bool all_in_view(Said&& said) const;

    Send send_;
    std::vector<Rank> members_;
    std::size_t place_ = 0;
    View view_;
    std::string word_;
    std::vector<Peer> peers_;  ///< by place
    std::vector<std::pair<Rank, std::string>> early_;
    std::optional<View> told_, confirmed_;  ///< the view that was proposed last; the same confirmed
    std::optional<Rank> left_out_by_;
    bool decided_ = false;
};

}  // namespace trefoil
