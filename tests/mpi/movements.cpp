// SPDX-License-Identifier: BSD-3-Clause
// Collectives that move data: every root, in place and not, and datatypes that differ between
// ranks.
#include <algorithm>

#include "check.hpp"

namespace trefoil::mpi::test {

namespace {

const int hidden = -7;

bool is_input(const int* got, int of_rank, int first, int count) {
    for (int i = 0; i < count; ++i) {
        if (got[i] != input(of_rank, first + i)) {
            return false;
        }
    }
    return true;
}

bool all_inputs(const std::vector<int>& got, int count) {
    for (int r = 0; r < ranks; ++r) {
        if (!is_input(&got[static_cast<std::size_t>(r * count)], r, 0, count)) {
            return false;
        }
    }
    return true;
}

void check_root(int root, int count) {
    std::vector<int> data = rank == root ? inputs(root, count) : std::vector<int>(count, hidden);
    MPI_Bcast(data.data(), count, MPI_INT, root, MPI_COMM_WORLD);
    EXPECT(is_input(data.data(), root, 0, count));
    const std::vector<int> mine = inputs(rank, count);
    std::vector<int> all(static_cast<std::size_t>(rank == root ? count * ranks : 0), hidden);
    MPI_Gather(mine.data(), count, MPI_INT, all.data(), count, MPI_INT, root, MPI_COMM_WORLD);
    EXPECT(rank != root || all_inputs(all, count));
    if (rank == root) {
        std::fill(all.begin(), all.end(), hidden);
        std::copy(mine.begin(), mine.end(), all.begin() + root * count);
    }
    MPI_Gather(rank == root ? MPI_IN_PLACE : mine.data(), count, MPI_INT, all.data(), count,
               MPI_INT, root, MPI_COMM_WORLD);
    EXPECT(rank != root || all_inputs(all, count));
    std::vector<int> own(static_cast<std::size_t>(count), hidden);
    MPI_Scatter(all.data(), count, MPI_INT, own.data(), count, MPI_INT, root, MPI_COMM_WORLD);
    EXPECT(is_input(own.data(), rank, 0, count));
    std::fill(own.begin(), own.end(), hidden);
    MPI_Scatter(all.data(), count, MPI_INT, rank == root ? MPI_IN_PLACE : own.data(), count,
                MPI_INT, root, MPI_COMM_WORLD);
    EXPECT(rank == root || is_input(own.data(), rank, 0, count));
}

void check_allgather(int count) {
    const std::vector<int> mine = inputs(rank, count);
    std::vector<int> all(static_cast<std::size_t>(count * ranks), hidden);
    MPI_Allgather(mine.data(), count, MPI_INT, all.data(), count, MPI_INT, MPI_COMM_WORLD);
    EXPECT(all_inputs(all, count));
    std::fill(all.begin(), all.end(), hidden);
    std::copy(mine.begin(), mine.end(), all.begin() + rank * count);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), count, MPI_INT, MPI_COMM_WORLD);
    EXPECT(all_inputs(all, count));
}

/// The same eight ints: plain, in quadruples, with gaps, or from back to front.
struct Eight {
    explicit Eight(int number) : form(number % 4) {
        if (form == 1) {
            MPI_Type_contiguous(4, MPI_INT, &type);
            count = 2;
        } else if (form == 2) {
            MPI_Type_vector(8, 1, 2, MPI_INT, &type);
            count = 1;
            step = 2;
        } else if (form == 3) {
            const int lengths[2] = {4, 4}, places[2] = {4, 0};
            MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
            count = 1;
        }
        if (form != 0) {
            MPI_Type_commit(&type);
        }
    }
    ~Eight() {
        if (form != 0) {
            MPI_Type_free(&type);
        }
    }
    Eight(const Eight&) = delete;
    Eight& operator=(const Eight&) = delete;
    /// Where the i-th int of the signature lies.
    std::size_t place(int i) const {
        return static_cast<std::size_t>(form == 3 ? (i + 4) % 8 : i * step);
    }
    int form, count = 8, step = 1;
    MPI_Datatype type = MPI_INT;
};

void check_forms(int shift) {
    const Eight own(rank + shift);
    std::vector<int> data(16, hidden);
    for (int i = 0; i < 8; ++i) {
        data[own.place(i)] = rank == 0 ? input(0, i) : hidden;
    }
    MPI_Bcast(data.data(), own.count, own.type, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 8; ++i) {
        EXPECT(data[own.place(i)] == input(0, i));
        EXPECT(own.form != 2 || data[own.place(i) + 1] == hidden);  // gaps are left alone
        data[own.place(i)] = input(rank, i);
    }
    std::vector<int> all(static_cast<std::size_t>(8 * ranks), hidden);
    MPI_Allgather(data.data(), own.count, own.type, all.data(), 8, MPI_INT, MPI_COMM_WORLD);
    EXPECT(all_inputs(all, 8));
    MPI_Gather(data.data(), own.count, own.type, all.data(), 4 * 2, MPI_INT, 0, MPI_COMM_WORLD);
    std::fill(data.begin(), data.end(), hidden);
    MPI_Scatter(all.data(), 8, MPI_INT, data.data(), own.count, own.type, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 8; ++i) {
        EXPECT(data[own.place(i)] == input(rank, i));
    }
    // All blocks in a form of this rank's own, with gaps within and between.
    MPI_Datatype spaced = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(own.type, 0, 20 * sizeof(int), &spaced);
    MPI_Type_commit(&spaced);
    if (own.count == 1) {
        std::vector<int> wide(static_cast<std::size_t>(20 * ranks), hidden);
        MPI_Allgather(inputs(rank, 8).data(), 8, MPI_INT, wide.data(), 1, spaced, MPI_COMM_WORLD);
        for (int r = 0; r < ranks; ++r) {
            for (int i = 0; i < 8; ++i) {
                EXPECT(wide[static_cast<std::size_t>(20 * r) + own.place(i)] == input(r, i));
            }
            EXPECT(wide[static_cast<std::size_t>(20 * r + 19)] == hidden);
        }
    } else {
        MPI_Allgather(inputs(rank, 8).data(), 8, MPI_INT, all.data(), own.count, own.type,
                      MPI_COMM_WORLD);
        EXPECT(all_inputs(all, 8));
    }
    MPI_Type_free(&spaced);
}

/// A datatype of absolute addresses, which lie from back to front: buffers are MPI_BOTTOM.
void check_bottom() {
    std::vector<int> data(8, hidden);
    MPI_Aint places[2] = {0, 0};
    MPI_Get_address(&data[4], &places[0]);
    MPI_Get_address(&data[0], &places[1]);
    MPI_Datatype halves = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed_block(2, 4, places, MPI_INT, &halves);
    MPI_Type_commit(&halves);
    const std::vector<int> zeros(static_cast<std::size_t>(ranks), 0);
    std::vector<int> counts(zeros), ones(zeros);
    counts[0] = 1;
    const std::vector<MPI_Datatype> types(zeros.size(), halves);
    for (const bool exchanges : {false, true}) {
        std::fill(data.begin(), data.end(), hidden);
        for (int i = 0; i < 8 && rank == 0; ++i) {
            data[static_cast<std::size_t>((i + 4) % 8)] = input(0, i);
        }
        std::vector<int> got(8, hidden);
        if (!exchanges) {
            MPI_Bcast(MPI_BOTTOM, 1, halves, 0, MPI_COMM_WORLD);
        } else if (rank == 0) {  // rank 0 sends to all, itself among them
            std::fill(ones.begin(), ones.end(), 1);
            std::vector<MPI_Datatype> plain(types);
            plain[0] = MPI_INT;
            std::vector<int> received(zeros);
            received[0] = 8;
            MPI_Alltoallw(MPI_BOTTOM, ones.data(), zeros.data(), types.data(), got.data(),
                          received.data(), zeros.data(), plain.data(), MPI_COMM_WORLD);
            EXPECT(is_input(got.data(), 0, 0, 8));
        } else {
            MPI_Alltoallw(MPI_BOTTOM, zeros.data(), zeros.data(), types.data(), MPI_BOTTOM,
                          counts.data(), zeros.data(), types.data(), MPI_COMM_WORLD);
        }
        for (int i = 0; i < 8; ++i) {
            EXPECT(data[static_cast<std::size_t>((i + 4) % 8)] == input(0, i));
        }
    }
    MPI_Type_free(&halves);
}

/// Block r has r + 1 ints (none for rank 2), at places that every rank chooses for itself.
struct Blocks {
    Blocks() {
        int at = rank % 3;
        for (int r = 0; r < ranks; ++r) {
            counts.push_back(r == 2 ? 0 : r + 1);
            places.push_back(at);
            at += counts.back() + rank % 2;
        }
        if (rank % 3 == 1) {  // from back to front
            std::reverse(places.begin(), places.end());
            at = 0;
            for (int r = ranks - 1; r >= 0; --r) {
                places[static_cast<std::size_t>(r)] = at;
                at += counts[static_cast<std::size_t>(r)];
            }
        }
        room.assign(static_cast<std::size_t>(at + 1), hidden);
    }
    int own() const { return counts[static_cast<std::size_t>(rank)]; }
    bool holds_all() const {
        for (int r = 0; r < ranks; ++r) {
            const auto i = static_cast<std::size_t>(r);
            if (!is_input(room.data() + places[i], r, 0, counts[i])) {
                return false;
            }
        }
        return true;
    }
    void fill_own() {
        for (int i = 0; i < own(); ++i) {
            room[static_cast<std::size_t>(places[static_cast<std::size_t>(rank)] + i)] =
                input(rank, i);
        }
    }
    std::vector<int> counts, places, room;
};

}  // namespace

void check_movements() {
    for (const int count : {1, 5, 3000, 40000}) {
        check_allgather(count);
        check_root(0, count);
    }
    for (int root = 1; root < ranks; ++root) {
        check_root(root, 17);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

void check_signatures() {
    for (int shift = 0; shift < 4; ++shift) {
        check_forms(shift);
    }
    check_bottom();
    // A pair with padding has fewer bytes of data than of memory.
    struct Pair {
        double value;
        int index;
    };
    std::vector<Pair> pairs(3, rank == 0 ? Pair{1.5, 9} : Pair{0, 0});
    MPI_Bcast(pairs.data(), 3, MPI_DOUBLE_INT, 0, MPI_COMM_WORLD);
    EXPECT(pairs[2].value == 1.5 && pairs[2].index == 9);
}

void check_vector_variants() {
    Blocks u;
    const std::vector<int> mine = inputs(rank, u.own());
    MPI_Allgatherv(mine.data(), u.own(), MPI_INT, u.room.data(), u.counts.data(), u.places.data(),
                   MPI_INT, MPI_COMM_WORLD);
    EXPECT(u.holds_all());
    Blocks again;
    again.fill_own();
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, again.room.data(), again.counts.data(),
                   again.places.data(), MPI_INT, MPI_COMM_WORLD);
    EXPECT(again.holds_all());
    for (int root = 0; root < ranks; ++root) {
        const bool here = rank == root;
        Blocks at_root;
        MPI_Gatherv(mine.data(), u.own(), MPI_INT, here ? at_root.room.data() : nullptr,
                    here ? at_root.counts.data() : nullptr, here ? at_root.places.data() : nullptr,
                    MPI_INT, root, MPI_COMM_WORLD);
        EXPECT(!here || at_root.holds_all());
        Blocks in_place;
        in_place.fill_own();
        MPI_Gatherv(here ? MPI_IN_PLACE : mine.data(), u.own(), MPI_INT, in_place.room.data(),
                    in_place.counts.data(), in_place.places.data(), MPI_INT, root, MPI_COMM_WORLD);
        EXPECT(!here || in_place.holds_all());
        std::vector<int> got(static_cast<std::size_t>(u.own() + 1), hidden);
        MPI_Scatterv(here ? at_root.room.data() : nullptr, here ? at_root.counts.data() : nullptr,
                     here ? at_root.places.data() : nullptr, MPI_INT, got.data(), u.own(), MPI_INT,
                     root, MPI_COMM_WORLD);
        EXPECT(is_input(got.data(), rank, 0, u.own()) && got.back() == hidden);
        MPI_Scatterv(at_root.room.data(), at_root.counts.data(), at_root.places.data(), MPI_INT,
                     here ? MPI_IN_PLACE : got.data(), u.own(), MPI_INT, root, MPI_COMM_WORLD);
        EXPECT(is_input(got.data(), rank, 0, u.own()));
    }
}

}  // namespace trefoil::mpi::test
