// SPDX-License-Identifier: BSD-3-Clause
// Offers from both sides: read, refused, revoked at each moment, and left behind by a process that
// was killed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backend/memory/memory.hpp"
#include "backend/memory/pull_offers.hpp"
#include "backend/ports/powers.hpp"

namespace trefoil {
namespace {

using memory::OfferEntry;
using memory::OfferState;
using memory::OfferTicket;
using memory::PullOffers;
using memory::SmallPut;
using memory::TakenOffer;

class Offers : public testing::Test {
  protected:
    static SmallPut entry_of(const OfferTicket& ticket) {
        SmallPut put{};
        const OfferEntry entry{ticket.place, 0, ticket.number};
        std::memcpy(put.data, &entry, sizeof entry);
        return put;
    }
    OfferTicket offer() { return memory::offer(*offers_, source_.data(), source_.size()); }
    bool take(const OfferTicket& ticket) { return taken_.take(*offers_, entry_of(ticket)); }
    std::size_t places_in_use() const {
        std::size_t used = 0;
        for (const memory::PullOffer& each : offers_->all) {
            used += (each.word.load() & 0xff) != 0 ? 1 : 0;
        }
        return used;
    }

    std::unique_ptr<PullOffers> offers_ = std::make_unique<PullOffers>();
    std::vector<std::byte> source_ = std::vector<std::byte>(100000, std::byte{7});
    std::vector<std::byte> target_ = std::vector<std::byte>(100000);
    TakenOffer taken_;
};

TEST_F(Offers, AreReadWholeAndFreed) {
    const OfferTicket ticket = offer();
    ASSERT_TRUE(ticket);
    EXPECT_EQ(ticket.state(), OfferState::offered);
    ASSERT_TRUE(take(ticket));
    EXPECT_EQ(taken_.bytes(), source_.size());
    EXPECT_EQ(taken_.sender(), getpid());
    EXPECT_EQ(ticket.state(), OfferState::reading);
    EXPECT_EQ(taken_.read_to(target_.data()), TakenOffer::Result::whole);
    EXPECT_EQ(ticket.state(), OfferState::read);
    EXPECT_EQ(target_, source_);
    EXPECT_FALSE(take(ticket));  // once
    ticket.free();
    EXPECT_EQ(places_in_use(), 0U);
}

TEST_F(Offers, AreRevokedBeforeDuringAndAfterReading) {
    const OfferTicket before = offer();
    before.revoke();
    EXPECT_EQ(places_in_use(), 1U);  // its notification is still on the way
    EXPECT_FALSE(take(before));
    EXPECT_EQ(places_in_use(), 0U);

    const OfferTicket during = offer();
    ASSERT_TRUE(take(during));
    during.revoke();
    EXPECT_EQ(places_in_use(), 1U);  // nobody else's before the target is done with it
    source_[5] = std::byte{9};       // the caller's again
    EXPECT_EQ(taken_.read_to(target_.data()), TakenOffer::Result::revoked);
    EXPECT_EQ(places_in_use(), 0U);

    const OfferTicket after = offer();
    ASSERT_TRUE(take(after));
    EXPECT_EQ(taken_.read_to(target_.data()), TakenOffer::Result::whole);
    after.revoke();
    EXPECT_EQ(places_in_use(), 0U);
}

TEST_F(Offers, OfAnEarlierUseOfThePlaceAreNotTaken) {
    const OfferTicket first = offer();
    ASSERT_TRUE(take(first));
    taken_.refuse();
    EXPECT_EQ(first.state(), OfferState::refused);
    first.free();
    const OfferTicket second = offer();
    EXPECT_EQ(second.place, first.place);
    EXPECT_FALSE(take(first));
    EXPECT_TRUE(take(second));
}

TEST_F(Offers, AreRefusedWhenAllPlacesAreTaken) {
    std::vector<OfferTicket> all;
    for (std::uint32_t i = 0; i < PullOffers::count; ++i) {
        all.push_back(offer());
        ASSERT_TRUE(all.back());
    }
    EXPECT_FALSE(offer());
    all[17].revoke();
    EXPECT_FALSE(take(all[17]));
    EXPECT_TRUE(offer());
}

TEST_F(Offers, OfMemoryThatIsGoneFail) {
    void* const mapped = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const OfferTicket ticket = memory::offer(*offers_, mapped, 4096);
    munmap(mapped, 4096);
    ASSERT_TRUE(take(ticket));
    EXPECT_EQ(taken_.read_to(target_.data()), TakenOffer::Result::forbidden);
    EXPECT_EQ(ticket.state(), OfferState::failed);
}

std::unique_ptr<PortGroup> open_group(Port port) {
    BackendConfig config;
    config.groups = {{port}};
    return std::move(memory_transport().open(config)[0]);
}

constexpr std::size_t bytes = 1 << 20;

/// Puts to this process's registered memory and waits to be killed.
[[noreturn]] void put_and_stay(const std::string& address, const std::string& memory, int ready) {
    const auto group = open_group(Port{1});
    const Peer peer = group->connect(Port{1}, address);
    const RemoteMemory target = group->import_memory(memory);
    const std::vector<std::byte> source(bytes, std::byte{5});
    const bool queued = group->put({.port = Port{1},
                                    .peer = peer,
                                    .source = source.data(),
                                    .target = target,
                                    .bytes = bytes,
                                    .notification = 1,
                                    .cookie = 1}) == PutResult::queued;
    [[maybe_unused]] const auto written = write(ready, queued ? "q" : "n", 1);
    while (true) {
        pause();
    }
}

/// A process that has put, and whose put nobody has fetched yet.
class Sender {
  public:
    Sender(const std::string& address, const std::string& memory) {
        std::array<int, 2> ready{};
        EXPECT_EQ(pipe(ready.data()), 0);
        child_ = fork();
        if (child_ == 0) {
            put_and_stay(address, memory, ready[1]);
        }
        close(ready[1]);
        char how = 0;
        EXPECT_EQ(read(ready[0], &how, 1), 1);
        EXPECT_EQ(how, 'q');
        close(ready[0]);
    }
    ~Sender() { end(); }
    Sender(const Sender&) = delete;
    Sender& operator=(const Sender&) = delete;
    void signal(int number) const { kill(child_, number); }
    void end() {
        if (child_ > 0) {
            kill(child_, SIGKILL);
            waitpid(child_, nullptr, 0);
        }
        child_ = 0;
    }

  private:
    pid_t child_ = 0;
};

class OffersOfProcesses : public testing::Test {
  protected:
    std::size_t poll() {
        std::array<Event, 4> events;
        const std::size_t count = group_->poll(events);
        for (std::size_t i = 0; i < count; ++i) {
            EXPECT_EQ(events[i].kind, Event::Kind::arrived) << group_->error_text();
        }
        return count;
    }
    std::unique_ptr<PortGroup> group_ = open_group(Port{0});
    std::vector<std::byte> memory_ = std::vector<std::byte>(bytes);
    LocalMemory registered_ = group_->registering()->register_memory(memory_.data(), bytes);
    Sender sender_{group_->address(Port{0}), group_->describe(registered_)};
};

TEST_F(OffersOfProcesses, AreFetchedFromOneThatWasStopped) {
    sender_.signal(SIGSTOP);
    EXPECT_EQ(poll(), 1U);
    EXPECT_EQ(memory_, std::vector<std::byte>(bytes, std::byte{5}));
}

TEST_F(OffersOfProcesses, DoNotLandLaterFromOneThatWasStopped) {
    sender_.signal(SIGSTOP);
    group_->registering()->deregister(registered_);
    EXPECT_EQ(poll(), 0U);
    sender_.signal(SIGCONT);
    usleep(20000);
    EXPECT_EQ(poll(), 0U);
    EXPECT_EQ(memory_, std::vector<std::byte>(bytes));
}

TEST_F(OffersOfProcesses, OfOneThatWasKilledAreDropped) {
    sender_.end();
    EXPECT_EQ(poll(), 0U);
    EXPECT_EQ(poll(), 0U);
}

TEST(OffersToProcesses, FailWhenTheTargetHasGone) {
    const auto group = open_group(Port{0});
    std::vector<std::byte> source(bytes);
    std::array<int, 2> blobs{};
    ASSERT_EQ(pipe(blobs.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
        const auto own = open_group(Port{1});
        std::vector<std::byte> memory(bytes);
        const std::string address = own->address(Port{1});
        const std::string description =
            own->describe(own->registering()->register_memory(memory.data(), bytes));
        std::array<std::uint64_t, 2> sizes{address.size(), description.size()};
        bool written = write(blobs[1], sizes.data(), sizeof sizes) > 0;
        written = write(blobs[1], address.data(), address.size()) > 0 && written;
        written = write(blobs[1], description.data(), description.size()) > 0 && written;
        while (written) {
            pause();
        }
        _exit(1);
    }
    std::array<std::uint64_t, 2> sizes{};
    ASSERT_EQ(read(blobs[0], sizes.data(), sizeof sizes), static_cast<ssize_t>(sizeof sizes));
    std::string address(sizes[0], '\0');
    std::string description(sizes[1], '\0');
    ASSERT_EQ(read(blobs[0], address.data(), sizes[0]), static_cast<ssize_t>(sizes[0]));
    ASSERT_EQ(read(blobs[0], description.data(), sizes[1]), static_cast<ssize_t>(sizes[1]));
    close(blobs[0]);
    close(blobs[1]);
    const Peer peer = group->connect(Port{0}, address);
    const RemoteMemory target = group->import_memory(description);
    ASSERT_EQ(group->put({.port = Port{0},
                          .peer = peer,
                          .source = source.data(),
                          .target = target,
                          .bytes = bytes,
                          .notification = 1,
                          .cookie = 42}),
              PutResult::queued);
    std::array<Event, 2> events;
    for (int i = 0; i < 5000; ++i) {
        ASSERT_EQ(group->poll(events), 0U);
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::size_t count = 0;
    for (int i = 0; i < 5000 && count == 0; ++i) {
        count = group->poll(events);
    }
    ASSERT_EQ(count, 1U);
    EXPECT_EQ(events[0].kind, Event::Kind::failed);
    EXPECT_EQ(events[0].cookie, 42U);
    EXPECT_NE(group->error_text().find("has ended"), std::string::npos) << group->error_text();
}

}  // namespace
}  // namespace trefoil
