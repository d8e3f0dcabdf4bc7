// SPDX-License-Identifier: BSD-3-Clause
// A letter box that sends nothing: it keeps what is posted, if the test lets it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "threads/connections/letter_box.hpp"

namespace trefoil::test {

class RecordingBox final : public LetterBox {
  public:
    struct Letter {
        Rank to;
        Port own;
        std::uint64_t tag;
        std::string text;
    };

    bool letter(Rank to, Port own, std::uint64_t tag, std::string_view text,
                Urgency urgency) noexcept override {
        const bool taken = !is_busy || urgency != Urgency::dropped;
        if (taken) {
            letters.push_back({to, own, tag, std::string(text)});
        }
        return taken;
    }

    bool is_busy = false;  ///< earlier words wait for all peers still
    std::vector<Letter> letters;
};

}  // namespace trefoil::test
