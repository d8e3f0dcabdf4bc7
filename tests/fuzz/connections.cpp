// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes what ranks write to each other to connect: cards, and entries in mailboxes of a rank that
// has channels.
#include <cstring>
#include <string>
#include <vector>

#include "tests/backend/ports/silent_group.hpp"
#include "tests/fuzz/target.hpp"
#include "threads/connections/wiring.hpp"

namespace {

using namespace trefoil;

void read_card(std::string_view bytes) {
    fuzz::refuses([&] {
        const std::string once = encode(decode_card(bytes));
        fuzz::require(encode(decode_card(once)) == once, "a card changes when it is passed on");
    });
}

/// Puts lead nowhere, and the test says what arrives.
class DeafGroup final : public test::SilentGroup {
  public:
    DeafGroup() : SilentGroup({Port{0}, Port{1}}) {}
    RemoteMemory import_memory(std::string_view description) override {
        if (description.size() > 100) {
            throw Error(Status::invalid_argument, "no memory is described like this");
        }
        return {0, 0, 1 << 20};
    }
    PutResult put(const Put&) override { return PutResult::done; }

    /// The mailbox: the first memory that was taken.
    std::byte* mailbox() { return memory_[0].data(); }
};

/// A peer that knows the proof writes any bytes as its stream, cut into records anywhere.
void read_stream(fuzz::Input& input) {
    constexpr Rank ranks = 2;
    DeafGroup group;
    LandingArena arena([&](std::size_t bytes) { return group.allocate(bytes); });
    PostOffice post(group, arena, 0, ranks);
    const auto left = [](const ChannelKey& key) {
        fuzz::require(key.communicator < 64, "the end of a communicator that never was");
    };
    Wiring wiring(post, arena, 4, {[](Wire& wire) { ++wire.puts; }, left, {}});
    Card card;
    card.groups.push_back(post.card());
    const Cards cards({encode(card), encode(card)});
    post.open(cards, [](std::string_view text) { return std::uint64_t{text.size()} * 77; });
    wiring.begin(1);
    (void)wiring.want({1, 1, Port{0}}, 64, 2);
    const MailboxLayout layout(ranks, 2);
    const std::uint32_t place = layout.place_of(1, 0);
    const Proof proof = post.find(1, Port{0})->proof_in;
    for (std::uint64_t number = 1; !input.empty(); ++number) {
        const std::string_view piece = input.text(input.byte() * std::size_t{4});
        write_record(group.mailbox() + layout.record_at(place), number,
                     piece.substr(0, record_payload), proof);
        fuzz::require(post.take(Signal{Signal::Kind::record, place, proof.signal}.encode()),
                      "a record that is none");
        if (number % 8 == 0) {
            wiring.end(number / 8);
            wiring.begin(number / 8 + 1);
        }
        (void)wiring.arrived(input.byte() % 8U);
        (void)wiring.progress();
    }
    for (std::uint64_t communicator = 0; communicator < 300; ++communicator) {
        wiring.end(communicator);
    }
    (void)wiring.progress();
    fuzz::require(wiring.numbers().landings == 0, "a channel without a communicator");
}

}  // namespace

FUZZ_TARGET(connections) {
    fuzz::Input input(data, size);
    if (input.byte() % 2 == 0) {
        read_card(input.rest());
    } else {
        read_stream(input);
    }
    return 0;
}
