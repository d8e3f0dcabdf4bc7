// SPDX-License-Identifier: BSD-3-Clause
// Backend "strict" keeps the contract itself, meets its callers with all that it allows, and finds
// what it forbids.
#include "tests/backend/strict/strict.hpp"

#include <array>
#include <mutex>
#include <thread>

#include "tests/backend/ports/conformance.hpp"

namespace trefoil::conformance {

INSTANTIATE_TEST_SUITE_P(Strict, Conformance, as_threads("strict"), test_name);

namespace {

/// Two connected groups of this thread; complaints are kept instead of failing the test.
class Mistakes : public testing::Test {
  protected:
    void SetUp() override {
        before_ = strict::complain_to([this](const std::string& what) {
            const std::scoped_lock lock(mutex_);
            heard_ += what + "; ";
        });
        BackendConfig config;
        config.groups = {{Port{0}}, {Port{1}}};
        auto groups = open_backend("strict", config);
        from_ = std::move(groups[0]);
        to_ = std::move(groups[1]);
        source_ = from_->allocate(4096);
        landing_ = to_->allocate(4096);
        target_ = from_->import_memory(to_->describe(landing_));
        peer_ = from_->connect(Port{0}, to_->address(Port{1}));
    }
    void TearDown() override { strict::complain_to(before_); }

    PutResult put(const void* source, void* descriptor, std::uint64_t offset, std::size_t bytes,
                  Port port = Port{0}) {
        return put(target_, source, descriptor, offset, bytes, port);
    }
    PutResult put(const RemoteMemory& target, const void* source, void* descriptor,
                  std::uint64_t offset, std::size_t bytes, Port port = Port{0}) {
        PutResult result = PutResult::again;
        while (result == PutResult::again) {
            result = from_->put({.port = port,
                                 .peer = peer_,
                                 .source = source,
                                 .descriptor = descriptor,
                                 .target = target,
                                 .offset = offset,
                                 .bytes = bytes,
                                 .notification = 1,
                                 .cookie = 7});
        }
        return result;
    }
    /// Until the put is sent and has arrived.
    void settle() {
        bool sent = false, arrived = false;
        for (int round = 0; round < 100000 && !(sent && arrived); ++round) {
            std::array<Event, 4> events;
            for (std::size_t i = from_->poll(events); i > 0; --i) {
                sent |= events[i - 1].kind == Event::Kind::sent;
            }
            for (std::size_t i = to_->poll(events); i > 0; --i) {
                arrived |= events[i - 1].kind == Event::Kind::arrived;
            }
        }
        EXPECT_TRUE(sent && arrived);
    }
    bool heard(const char* piece) {
        const std::scoped_lock lock(mutex_);
        const bool found = heard_.find(piece) != std::string::npos;
        EXPECT_TRUE(found) << "\"" << piece << "\" is not in \"" << heard_ << "\"";
        heard_.clear();
        return found;
    }
    bool heard_nothing() {
        const std::scoped_lock lock(mutex_);
        return heard_.empty();
    }

    std::unique_ptr<PortGroup> from_, to_;
    LocalMemory source_, landing_;
    RemoteMemory target_;
    Peer peer_;

  private:
    strict::Complaint before_;
    std::mutex mutex_;
    std::string heard_;
};

TEST_F(Mistakes, NoneAreFoundWhereThereAreNone) {
    EXPECT_EQ(put(source_.data, source_.descriptor, 0, 1000), PutResult::queued);
    settle();
    EXPECT_TRUE(heard_nothing());
}

TEST_F(Mistakes, SourcesThatAreNotRegistered) {
    std::vector<std::byte> plain(100);
    EXPECT_EQ(put(plain.data(), nullptr, 0, 100), PutResult::failed);
    heard("without a descriptor");
    EXPECT_EQ(put(plain.data(), source_.descriptor, 0, 100), PutResult::failed);
    heard("its descriptor does not hold");
    EXPECT_EQ(put(source_.data + 4000, source_.descriptor, 0, 97), PutResult::failed);
    heard("its descriptor does not hold");
    EXPECT_EQ(put(landing_.data, landing_.descriptor, 0, 8), PutResult::failed);
    heard("its descriptor does not hold");
}

TEST_F(Mistakes, MemoryThatIsTakenBackTooEarly) {
    std::vector<std::byte> plain(1000);
    Registering& registering = *from_->registering();
    const LocalMemory registered = registering.register_memory(plain.data(), plain.size());
    EXPECT_EQ(put(plain.data(), registered.descriptor, 0, 1000), PutResult::queued);
    registering.deregister(registered);
    heard("while a put of its own reads it");
    settle();
    EXPECT_TRUE(heard_nothing());
    registering.release(target_);
    EXPECT_TRUE(heard_nothing());
    registering.release(target_);
    heard("was not imported");
}

TEST_F(Mistakes, SourcesThatChangeBeforeTheyAreSent) {
    EXPECT_EQ(put(source_.data, source_.descriptor, 0, 1000), PutResult::queued);
    source_.data[999] = std::byte{1};
    settle();
    heard("changed before it was");
}

TEST_F(Mistakes, TargetsThatAreNotThere) {
    EXPECT_EQ(put(source_.data, source_.descriptor, 4000, 97), PutResult::failed);
    heard("outside the target's memory");
    EXPECT_EQ(put({0, target_.key + 1, 4096}, source_.data, source_.descriptor, 0, 8),
              PutResult::failed);
    heard("was not imported");
    const RemoteMemory own = from_->import_memory(from_->describe(source_));
    EXPECT_EQ(put(own, source_.data, source_.descriptor, 0, 8), PutResult::failed);
    heard("another group than is notified");
}

TEST_F(Mistakes, PortsThatLeadElsewhere) {
    EXPECT_EQ(put(source_.data, source_.descriptor, 0, 8, Port{1}), PutResult::failed);
    heard("another port");
}

TEST_F(Mistakes, PlacesWhereAnotherPutMayStillLand) {
    EXPECT_EQ(put(source_.data, source_.descriptor, 0, 1000), PutResult::queued);
    EXPECT_EQ(put(source_.data, source_.descriptor, 999, 100), PutResult::failed);
    heard("another put may still land");
    settle();
    EXPECT_EQ(put(source_.data, source_.descriptor, 999, 100), PutResult::queued);
    settle();
}

TEST_F(Mistakes, WritingWhereAPutIsLanding) {
    // Not where the bytes land last, in the poll that tells of them: so several times.
    for (int attempt = 0; attempt < 20 && heard_nothing(); ++attempt) {
        EXPECT_EQ(put(source_.data, source_.descriptor, 0, 1000), PutResult::queued);
        bool arrived = false;
        for (int round = 0; round < 100000 && !arrived; ++round) {
            landing_.data[500] = std::byte{9};
            std::array<Event, 1> events;
            from_->poll(events);
            arrived = to_->poll(events) == 1;
        }
    }
    heard("written where a put was landing");
}

TEST_F(Mistakes, TwoThreadsInOneGroup) {
    std::thread sleeper([this] { from_->wait(std::chrono::milliseconds(500)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::array<Event, 1> events;
    for (int round = 0; round < 20; ++round) {
        from_->poll(events);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    from_->wake();
    sleeper.join();
    heard("two threads");
}

TEST(Strict, MeetsItsCallersWithAllThatIsAllowed) {
    const auto count = [] {
        run_ranks({"strict", "strict", "", false}, 2, [](Node& node) {
            const auto drivers =
                wire(node, {"strict", "strict", "", false}, {{Port{0}, Port{1}}}, 1000 * 100);
            const Rank other = 1 - node.rank();
            for (std::uint32_t i = 0; i < 1000; ++i) {
                drivers[0]->put(node, Port{0}, other, i * 100, i * 100, 100, i);
            }
            for (std::uint32_t i = 0; i < 1000; ++i) {
                drivers[0]->next_notification(node);
            }
            finish(node, drivers);
        });
        return strict::encounters();
    };
    strict::Encounters met = count();
    for (int again = 0; again < 20 && met.late_sent == 0;
         ++again) {  // threads take turns by chance
        met = count();
    }
    EXPECT_GE(met.puts, 2000U);
    EXPECT_GT(met.refused, 200U);
    EXPECT_GT(met.overtaken, 200U) << "on the same way";
    EXPECT_GT(met.early_sent, 50U);
    EXPECT_GT(met.late_sent, 0U) << "after the arrival";
    EXPECT_GT(met.pieces, 4000U);
}

}  // namespace
}  // namespace trefoil::conformance
