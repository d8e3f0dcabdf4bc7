// SPDX-License-Identifier: BSD-3-Clause
// The PMI-1 link: a gather is puts of pieces, a barrier, and gets of the others' pieces.
#include "backend/bootstrap/pmi.hpp"

#include <unistd.h>

#include <algorithm>

#include "backend/bootstrap/pmi_client.hpp"
#include "topo/patience.hpp"

namespace trefoil {

namespace {

class PmiLink final : public LauncherLink {
  public:
    PmiLink(int descriptor, Rank rank, Rank ranks, Clock::time_point until)
        : client_(descriptor), rank_(rank), ranks_(ranks), owner_(getpid()) {
        client_.greet(until);
    }
    ~PmiLink() override;

    Rank rank() const override { return rank_; }
    Rank ranks() const override { return ranks_; }
    std::vector<std::string> gather(std::string_view mine, Clock::time_point until) override;

  private:
    std::string key(Rank rank, std::size_t piece) const;
    std::string get_all(Rank rank, Clock::time_point until);

    pmi::Client client_;
    Rank rank_;
    Rank ranks_;
    pid_t owner_;
    std::uint64_t rounds_ = 0;
};

PmiLink::~PmiLink() {
    if (getpid() != owner_) {
        return;  // a child after fork(): the conversation is its parent's
    }
    try {
        client_.say_good_bye(Clock::now() + patience().pmi_farewell);
    } catch (const std::exception&) {
        return;  // MPI in this process, or the process manager, may have ended it before
    }
}

/// Keys are never used twice: nobody could tell an old value from a new one.
std::string PmiLink::key(Rank rank, std::size_t piece) const {
    std::string text = "trefoil-" + std::to_string(rounds_) + "-" + std::to_string(rank) + "-" +
                       std::to_string(piece);
    if (text.size() > client_.key_limit()) {
        throw Error(Status::system_error, "PMI: keys of at most " +
                                              std::to_string(client_.key_limit()) +
                                              " characters are too short for \"" + text + "\"");
    }
    return text;
}

std::vector<std::string> PmiLink::gather(std::string_view mine, Clock::time_point until) {
    ++rounds_;
    const std::vector<std::string> values = pmi::to_values(mine, client_.value_limit());
    for (std::size_t i = 0; i < values.size(); ++i) {
        client_.put(key(rank_, i), values[i], until);
    }
    client_.barrier(until);
    std::vector<std::string> all(static_cast<std::size_t>(ranks_));
    for (Rank r = 0; r < ranks_; ++r) {
        all[r] = r == rank_ ? std::string(mine) : get_all(r, until);
    }
    return all;
}

std::string PmiLink::get_all(Rank rank, Clock::time_point until) {
    const std::string first = client_.get(key(rank, 0), until);
    const auto count = pmi::announced_values(first);
    std::string digits(pmi::digits_of(first));
    for (std::size_t i = 1; count && i < *count; ++i) {
        digits += client_.get(key(rank, i), until);
    }
    const auto blob = pmi::from_hex(digits);
    if (!count || !blob) {
        throw Error(Status::mismatch,
                    "PMI: rank " + std::to_string(rank) +
                        " has put what this Trefoil does not understand; use the "
                        "same Trefoil everywhere",
                    {rank, Evidence::disagrees});
    }
    return *blob;
}

}  // namespace

std::unique_ptr<LauncherLink> make_pmi_link(int descriptor, Rank rank, Rank ranks,
                                            LauncherLink::Clock::time_point until) {
    return std::make_unique<PmiLink>(descriptor, rank, ranks, until);
}

}  // namespace trefoil
