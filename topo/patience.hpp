// SPDX-License-Identifier: BSD-3-Clause
// How long Trefoil waits where a peer, a process or a network is slow, or gone.
#pragma once

#include <chrono>

namespace trefoil {

/// Every duration that a failure, a late rank or an end may cost, but for those that users set
/// (TREFOIL_TIMEOUT and others). Spins and naps of calls that go well stand where they are used.
/// Each is what stands here times TREFOIL_PATIENCE: more than 1 where processors are slow, such as
/// emulated ones.
class Patience {
  public:
    using Time = std::chrono::milliseconds;
    explicit Patience(double factor) : factor_(factor) {}

  private:
    double factor_;
    Time of(int milliseconds) const { return Time(static_cast<Time::rep>(factor_ * milliseconds)); }

  public:
    // A call that makes no progress.
    Time check_interval = of(250);  ///< between a worker's looks for trouble
    /// Who tests for a call only now and then does not wait for it meanwhile.
    Time longest_gap = of(2000);
    Time first_look = of(250);      ///< at the processes of those that it waits for
    Time look_interval = of(500);   ///< between two such looks
    Time report_after = of(500);    ///< tells the others what it waits for
    Time settled_after = of(1500);  ///< by then those have reported that are stalled, too
    /// By then whoever needs a process that has ended has told.
    Time nobody_told_after = of(3000);
    /// Lets puts arrive that were sent before bad news: news may overtake them, and other ports
    /// bring them.
    Time news_may_overtake = of(200);
    /// Reports are repeated seldom: one from shortly before this rank's stall still counts.
    Time still_fresh = of(2000);

    // Who caused a failure.
    Time longest_inquiry = of(500);
    /// Where one process alone has ended, it is the culprit unless a report says otherwise soon.
    Time inquiry_if_one_has_ended = of(150);
    Time inquiry_in_set_up = of(100);
    Time inquiry_look_interval = of(50);
    /// A peer that takes longer to hear of a failure finds it out by itself.
    Time longest_failure_report = of(200);
    /// Ranks that abort within this time of each other end with one text. Where processors are
    /// short, naps take longer than they should, and so do words: then it is the time of so many
    /// naps.
    Time abort_grace = of(250), longest_abort_grace = of(2000);
    Time abort_hold = of(1000);        ///< who drives may be held up in a function of the user's
    Time abort_hears_others = of(20);  ///< what has come already takes several looks to bring

    // Ends.
    /// How long a group that is closed, or abandoned, goes on sending what it has queued.
    Time longest_drain = of(500);
    Time drain_of_connecting = of(20);  ///< where a connection was never made
    /// Whoever waits for a rank's last words takes them soon; the others need none.
    Time longest_farewell = of(50);
    Time survivors_farewell = of(200);  ///< the last words of an agreement of survivors

    // Who is left.
    Time survivors_look_interval = of(50);
    Time for_a_suspect = of(2000);  ///< known to have failed, to show that it lives

    // Set-up.
    Time longest_greeting = of(30'000);  ///< or half of the time-out, if that is less
    /// A rank whose neighbour cannot connect waits for it in vain: it hears so after this time, not
    /// only when its own ends. Nobody polls while the ranks tell each other, so it is not asked too
    /// often.
    Time first_ask = of(1000), longest_ask = of(4000);
    Time utofu_connect = of(10'000);
    Time utofu_probe = of(500);

    // Where the ranks meet.
    /// A store whose job has failed: ranks that are late are to hear why, and not only that the
    /// store is gone. Whoever serves it waits for its end.
    Time store_farewell = of(2000);
    /// A store that looks so late has to hear first who came meanwhile, and gives them this time.
    Time store_is_late = of(250), store_late_grace = of(1000);
    /// A rank needs two round trips to join. Who takes longer, while others wait, makes room.
    Time stranger_in_a_crowd = of(250);
    Time stranger = of(10'000);    ///< to say who he is
    Time store_answer = of(5000);  ///< the server knows who is missing: so much longer to say so
    /// To tell the store why this rank gives up, or others why they are turned away.
    Time store_abandon = of(1000);
    Time store_try = of(3000);  ///< of one address; then perhaps another one answers
    Time pmi_farewell = of(2000);

    // Who asks for a status.
    Time longest_look = of(1000);  ///< at the engine
    /// One who asks and does not go on holds up the next one for so long.
    Time longest_question = of(1000), longest_answer = of(3000);
};

/// Of this process. The first call reads the environment, as making a communicator does.
const Patience& patience() noexcept;

/// The factor that `text` gives, from 0.1 to 100. Otherwise 0.
double patience_factor(const char* text) noexcept;

}  // namespace trefoil
