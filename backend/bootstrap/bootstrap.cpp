// SPDX-License-Identifier: BSD-3-Clause
// Bootstraps that need no network of their own: one rank alone, and the caller's callback.
#include "backend/bootstrap/bootstrap.hpp"

#include <algorithm>
#include <cstring>

#include "topo/error.hpp"

namespace trefoil {

namespace {

class SingleBootstrap final : public Bootstrap {
  public:
    Rank rank() const override { return 0; }
    Rank ranks() const override { return 1; }
    std::vector<std::string> allgather(std::string_view mine) override {
        return {std::string(mine)};
    }
};

/// Blobs of any length over an allgather of equal lengths: first all lengths, then all blobs,
/// padded to the longest.
class CallbackBootstrap final : public Bootstrap {
  public:
    CallbackBootstrap(Rank rank, Rank ranks, AllgatherCallback callback, void* context)
        : rank_(rank), ranks_(ranks), callback_(callback), context_(context) {}

    Rank rank() const override { return rank_; }
    Rank ranks() const override { return ranks_; }
    std::vector<std::string> allgather(std::string_view mine) override;

  private:
    void gather_all(const void* mine, void* all, std::size_t bytes, const char* what);

    Rank rank_;
    Rank ranks_;
    AllgatherCallback callback_;
    void* context_;
    std::uint64_t allgathers_ = 0;
};

std::vector<std::string> CallbackBootstrap::allgather(std::string_view mine) {
    ++allgathers_;
    const std::uint64_t length = mine.size();
    std::vector<std::uint64_t> lengths(ranks_);
    gather_all(&length, lengths.data(), sizeof length, "lengths");
    if (lengths[rank_] != length) {
        throw Error(Status::mismatch,
                    "the caller's allgather did not put rank " + std::to_string(rank_) +
                        "'s contribution at its place in the result: check that rank and ranks "
                        "agree with the callback's own");
    }
    const std::uint64_t longest = *std::max_element(lengths.begin(), lengths.end());
    if (longest == 0) {
        return std::vector<std::string>(ranks_);
    }
    if (longest > SIZE_MAX / 2 / static_cast<std::uint64_t>(ranks_)) {
        throw Error(Status::system_error,
                    "the caller's allgather returned a length of " + std::to_string(longest) +
                        " bytes, which cannot be: it must fill all ranks' places");
    }
    std::string padded(mine);
    padded.resize(longest);
    std::string all(longest * ranks_, '\0');
    gather_all(padded.data(), all.data(), longest, "contents");
    std::vector<std::string> blobs;
    blobs.reserve(ranks_);
    for (Rank r = 0; r < ranks_; ++r) {
        blobs.push_back(all.substr(longest * r, lengths[r]));
    }
    return blobs;
}

void CallbackBootstrap::gather_all(const void* mine, void* all, std::size_t bytes,
                                   const char* what) {
    const int code = callback_(mine, all, bytes, context_);
    if (code != 0) {
        throw Error(Status::system_error,
                    "the caller's allgather returned " + std::to_string(code) + " on rank " +
                        std::to_string(rank_) + " (allgather " + std::to_string(allgathers_) +
                        ", " + what + ", " + std::to_string(bytes) + " bytes per rank)");
    }
}

}  // namespace

std::unique_ptr<Bootstrap> make_callback_bootstrap(Rank rank, Rank ranks,
                                                   AllgatherCallback allgather, void* context) {
    if (allgather == nullptr) {
        throw Error(Status::invalid_argument, "the allgather callback is null");
    }
    if (ranks < 1 || rank < 0 || rank >= ranks) {
        throw Error(Status::invalid_argument, "rank " + std::to_string(rank) + " of " +
                                                  std::to_string(ranks) +
                                                  " does not exist: 0 <= rank < ranks");
    }
    return std::make_unique<CallbackBootstrap>(rank, ranks, allgather, context);
}

std::unique_ptr<Bootstrap> make_single_bootstrap() {
    return std::make_unique<SingleBootstrap>();
}

}  // namespace trefoil
