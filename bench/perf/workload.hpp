// SPDX-License-Identifier: BSD-3-Clause
// The buffers of one call on one rank: filled with data whose result is known, and checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <tuple>

#include "bench/perf/pattern.hpp"
#include "bench/perf/role.hpp"
#include "bench/perf/session.hpp"

namespace trefoil::tool {

struct Case {
    Collective collective = Collective::allreduce;
    std::string algorithm;  ///< a name, or "auto"
    DataType type = DataType::float32;
    std::optional<Operation> operation;  ///< nothing: `none`, or where nothing is reduced
    std::size_t count = 0;               ///< elements; of one block where ranks have blocks
    bool in_place = false;
    Rank root = 0;                             ///< of rooted collectives
    std::optional<std::uint64_t> uneven = {};  ///< seed of the counts of alltoallv

    /// Whether a right result is defined: a barrier has no data, and `none` leaves behind whatever
    /// its schedule moves.
    bool has_result() const;
};

/// Exact data of one rank, by type and operation; made once.
class Patterns {
  public:
    struct Data {
        ElementStream input, result, untouched;  ///< exact
        std::optional<ElementStream> mixed;      ///< for types whose results depend on the order
        const ElementStream& of(Content content) const;
    };
    Patterns(Rank rank, Rank ranks) : rank_(rank), ranks_(ranks) {}
    const Data& of(const Case& what);

  private:
    Data make(const Case& what) const;

    Rank rank_, ranks_;
    std::map<std::tuple<DataType, std::optional<Operation>, Prefix>, Data> data_;
};

/// A buffer of zeros between two guards, aligned as the guards are long.
class GuardedBuffer {
  public:
    static constexpr std::size_t guard_bytes = 64;

    explicit GuardedBuffer(std::size_t bytes);
    std::byte* data() { return all_.get() + guard_bytes; }
    std::size_t bytes() const { return bytes_; }
    /// 0 to 2.
    std::int64_t broken_guards() const;

  private:
    struct Free {
        void operator()(std::byte* p) const {
            ::operator delete (p, std::align_val_t{guard_bytes});
        }
    };
    std::size_t bytes_;
    std::unique_ptr<std::byte, Free> all_;
};

/// One rank's part in a case. Keeps references to session and patterns.
class Workload {
  public:
    Workload(const Case& what, Session& session, Patterns& patterns);
    Workload(const Workload&) = delete;
    Workload& operator=(const Workload&) = delete;

    const Case& what() const { return what_; }
    /// The arguments of the call; they point into this. In place either by a pointer or by
    /// TREFOIL_IN_PLACE, where both are allowed.
    CollectiveCall call(bool pointer_in_place);

    /// Data whose result is known; another one for each salt, alike on all ranks.
    void fill(std::uint64_t salt);
    /// After the call: how many elements of this rank are wrong, counting damage to what is only
    /// read or not used, and to the bytes around both buffers.
    std::int64_t wrong(std::uint64_t salt);
    /// Floating-point numbers of many magnitudes, for allreduce; and a hash of what they became.
    void fill_mixed(std::uint64_t salt);
    std::uint64_t hash() { return hash_bytes(recv_.data(), what_.count * element_bytes_); }
    /// In place, results become inputs: zeros stay zeros under every operation, so that nothing
    /// overflows however often it is called.
    void make_repeatable();

  private:
    std::byte* address(const RoleRange& range);
    void overwrite();

    Case what_;
    Session& session_;
    Patterns& patterns_;
    Role role_;
    std::size_t element_bytes_;
    GuardedBuffer send_, recv_;
};

/// What a rank has to do with the case.
RankCall rank_call_of(const Case& what, const Session& session);

}  // namespace trefoil::tool
