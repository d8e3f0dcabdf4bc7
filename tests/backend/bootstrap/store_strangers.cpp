// SPDX-License-Identifier: BSD-3-Clause
// The TCP store and those who do not belong to the job: they get nothing, and disturb nobody.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/bootstrap/store_admission.hpp"
#include "backend/bootstrap/store_wire.hpp"
#include "store_ranks.hpp"
#include "topo/patience.hpp"

namespace trefoil {
namespace {

using namespace store_ranks;

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/// A client that speaks bytes of its own choice and returns what it was told until the end.
std::string speak(int port, const std::string& words) {
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port);
    std::string answer;
    if (connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        send(file, words.data(), words.size(), MSG_NOSIGNAL) > 0) {
        char piece[4096];
        for (ssize_t n = 1; n > 0;) {
            n = recv(file, piece, sizeof piece, 0);
            answer.append(piece, n > 0 ? static_cast<std::size_t>(n) : 0);
        }
    }
    close(file);
    return answer;
}

/// What opens every conversation.
std::string hello() {
    store::Message message(store::Kind::hello);
    return std::move(message.bytes(std::string(store::Nonces::bytes, 'n')).number32(0)).finish();
}

/// A connection on which nothing is said.
struct Silent {
    explicit Silent(int port) : file(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const sockaddr_in address = loopback(port);
        open = file >= 0 &&
               connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    }
    ~Silent() { close(file); }
    Silent(const Silent&) = delete;
    Silent& operator=(const Silent&) = delete;
    /// The server has ended it.
    bool ends_within(milliseconds time) const {
        pollfd waiting{file, POLLIN, 0};
        char byte = 0;
        return poll(&waiting, 1, static_cast<int>(time.count())) == 1 &&
               recv(file, &byte, 1, 0) <= 0;
    }
    int file;
    bool open = false;
};

TEST(Store, SurvivesStrangers) {
    const StoreServer server;
    const int port = server.port();
    EXPECT_NE(speak(port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").find("store"), std::string::npos);
    EXPECT_NE(speak(port, std::string(100000, '\xff')).size(), 1U);

    store::Message empty(store::Kind::hello);
    EXPECT_NE(speak(port, std::move(empty).finish()).find("makes no sense"), std::string::npos);
    store::Message early(store::Kind::allgather);
    early.number64(1).number64(1);
    EXPECT_NE(speak(port, std::move(early).finish()).find("out of place"), std::string::npos);
    store::Message unasked(store::Kind::join);
    unasked.bytes(std::string(60, 'x'));
    EXPECT_NE(speak(port, std::move(unasked).finish()).find("out of place"), std::string::npos);
    // A nonce that the server has not drawn proves nothing, although there is no token.
    store::Message proof(store::Kind::join);
    proof.bytes(std::string(60, 'x'));
    EXPECT_NE(speak(port, hello() + std::move(proof).finish()).find("token is not"),
              std::string::npos);

    store::Message future(store::Kind::hello);
    std::string text = std::move(future.number32(0).number32(1)).finish();
    text[4] = 99;
    EXPECT_NE(speak(port, text).find("version 99"), std::string::npos);

    store::Message huge(store::Kind::hello);
    text = std::move(huge).finish();
    text[14] = 1;  // 2^48 bytes to come
    EXPECT_NE(speak(port, text).find("longer"), std::string::npos);
    store::Message large(store::Kind::hello);
    large.bytes(std::string(store::stranger_limit + 1, 'x'));
    EXPECT_NE(speak(port, std::move(large).finish()).find("longer"), std::string::npos);
    expect_alive(port, "after all that");
}

TEST(Store, DropsThoseWhoDoNotSayWhoTheyAre) {
    const StoreServer server("127.0.0.1", 0, "a secret", milliseconds(200));
    const Silent silent(server.port());
    ASSERT_TRUE(silent.open);
    EXPECT_TRUE(silent.ends_within(patient));
    // Nor does a greeting without an end keep the place.
    const std::string endless = hello();
    const Silent slow(server.port());
    EXPECT_EQ(send(slow.file, endless.data(), 10, MSG_NOSIGNAL), 10);
    EXPECT_TRUE(slow.ends_within(patient));
    const auto member = join_with("a secret", server.port(), 0, 1);
    std::this_thread::sleep_for(milliseconds(500));
    EXPECT_EQ(error_of([&] { member->barrier(); }).status(), Status::success) << "it is known";
}

/// More connections than this process may have descriptors for at the server's end.
TEST(Store, ACrowdOfStrangersKeepsNobodyOut) {
    const StoreServer server("127.0.0.1", 0, "a secret");
    std::vector<std::unique_ptr<Silent>> crowd;
    for (int i = 0; i < 400; ++i) {
        crowd.push_back(std::make_unique<Silent>(server.port()));
        ASSERT_TRUE(crowd.back()->open) << i;
    }
    const auto begin = std::chrono::steady_clock::now();
    on_ranks(3, [&](Rank r) {
        EXPECT_EQ(join_with("a secret", server.port(), r, 3)->allgather("x"),
                  std::vector<std::string>(3, "x"));
    });
    EXPECT_LT(std::chrono::steady_clock::now() - begin, patience().stranger)
        << "they made room before their time was over";
}

TEST(Store, SaysThatWhatAnswersIsNoStore) {
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof address;
    ASSERT_EQ(bind(file, reinterpret_cast<sockaddr*>(&address), bytes), 0);
    ASSERT_EQ(listen(file, 1), 0);
    ASSERT_EQ(getsockname(file, reinterpret_cast<sockaddr*>(&address), &bytes), 0);
    std::thread impostor([file] {
        const int client = accept(file, nullptr, nullptr);
        const std::string words = "SSH-2.0-OpenSSH_9.2 Debian\r\n";
        EXPECT_GT(send(client, words.data(), words.size(), MSG_NOSIGNAL), 0);
        char rest[4096];
        while (recv(client, rest, sizeof rest, 0) > 0) {
        }
        close(client);
    });
    const Error error = error_of([&] { join(ntohs(address.sin_port), 0, 1); });
    EXPECT_EQ(error.status(), Status::invalid_argument) << error.what();
    impostor.join();
    close(file);
}

}  // namespace
}  // namespace trefoil
