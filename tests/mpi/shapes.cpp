// SPDX-License-Identifier: BSD-3-Clause
// Collectives that move data of datatypes drawn at random, another one on each rank and side: with
// gaps, from back to front, permuted, with negative lower bounds, interleaved, with empty parts.
// All of the memory is compared, the gaps, too.
#include "in_flight.hpp"

#include <numeric>
#include <random>

using namespace trefoil::mpi::test;

namespace {

std::mt19937 own_random, shared_random;
constexpr int unit = 12;  // ints: any shape's number of them divides it

/// A datatype of some ints: the i-th of element e lies at e * extent + places[i].
class Shape {
  public:
    /// `most` elements of it may lie in one buffer.
    explicit Shape(int most) {
        constexpr int numbers[] = {1, 2, 3, 4, 6, 12};
        const int n = numbers[own_random() % 6];
        places_.resize(size(n));
        std::iota(places_.begin(), places_.end(), 0);
        extent_ = n;
        switch (own_random() % 7) {
            case 0:
                break;
            case 1:  // from back to front, and permuted
                std::ranges::shuffle(places_, own_random);
                break;
            case 2:  // before its beginning, too, in any order
                places_.resize(size(2 * n + 3));
                std::iota(places_.begin(), places_.end(), -n);
                std::ranges::shuffle(places_, own_random);
                places_.resize(size(n));
                extent_ = 2 * n + 4;
                lower_ = -n - 1;
                break;
            case 3:  // a column of a matrix, whose next one begins beside it
                for (int& place : places_) {
                    place *= most;
                }
                extent_ = 1;
                break;
            case 4:  // away from its beginning
                for (int& place : places_) {
                    place += 3;
                }
                extent_ = n + 4;
                break;
            case 5:  // dense, but the next one does not follow
                extent_ = n + 1;
                break;
            default:  // last first
                std::ranges::reverse(places_);
        }
        make();
    }
    ~Shape() { MPI_Type_free(&type_); }
    Shape(const Shape&) = delete;
    Shape& operator=(const Shape&) = delete;

    MPI_Datatype type() const { return type_; }
    int elements(int ints) const { return ints / static_cast<int>(places_.size()); }
    int place(int element, int i) const {
        const int n = static_cast<int>(places_.size());
        return (element + i / n) * extent_ + places_[size(i % n)];
    }

  private:
    /// Of a struct, with parts that are empty.
    void make() {
        MPI_Datatype none = MPI_DATATYPE_NULL, ints = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(0, MPI_DOUBLE, &none);
        const int n = static_cast<int>(places_.size());
        std::vector<int> lengths(size(n), 1);
        std::vector<MPI_Aint> places;
        for (const int place : places_) {
            places.push_back(place * static_cast<MPI_Aint>(sizeof(int)));
        }
        std::vector<MPI_Datatype> types(size(n), MPI_INT);
        for (const MPI_Datatype empty : {none, MPI_INT}) {
            lengths.push_back(empty == none ? 2 : 0);
            places.push_back(400);
            types.push_back(empty);
        }
        MPI_Type_create_struct(n + 2, lengths.data(), places.data(), types.data(), &ints);
        MPI_Type_create_resized(ints, lower_ * static_cast<MPI_Aint>(sizeof(int)),
                                extent_ * static_cast<MPI_Aint>(sizeof(int)), &type_);
        MPI_Type_commit(&type_);
        MPI_Type_free(&none);
        MPI_Type_free(&ints);
    }

    Ints places_;
    int extent_ = 0, lower_ = 0;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

int value(int from, int to, int i) {
    return 100000 * from + 1000 * to + i;
}

/// A buffer, and what is right in it.
class Side {
  public:
    /// Blocks of so many ints each, one after the other in this order, a little apart.
    Side(const Ints& ints, bool shuffled)
        : shape(std::accumulate(ints.begin(), ints.end(), 0) + 3 * static_cast<int>(ints.size())) {
        Ints order(ints.size());
        std::iota(order.begin(), order.end(), 0);
        if (shuffled) {
            std::ranges::shuffle(order, own_random);
        }
        counts.resize(ints.size());
        places.resize(ints.size());
        int at = 0;
        for (const int block : order) {
            counts[size(block)] = shape.elements(ints[size(block)]);
            places[size(block)] = at;
            at += counts[size(block)] + (shuffled ? static_cast<int>(own_random() % 2) : 0);
        }
        int end = 0;
        for (std::size_t block = 0; block < ints.size(); ++block) {
            for (int i = 0; i < ints[block]; ++i) {
                end = std::max(end, shape.place(places[block], i) + 1);
            }
        }
        memory_ = filled(size(before + end + before));
        right_ = memory_;
    }
    int* data() { return memory_.data() + before; }
    int count() const { return counts[0]; }
    MPI_Datatype type() const { return shape.type(); }
    void put(int block, int i, int number, bool now) {
        const auto at = size(before + shape.place(places[size(block)], i));
        right_[at] = number;
        memory_[at] = now ? number : memory_[at];
    }
    bool good() const { return memory_ == right_; }

    Shape shape;
    Ints counts, places;

  private:
    static constexpr int before = 100;
    Ints memory_, right_;
};

void wait(MPI_Request request) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void check_equal_blocks(int ints, int root, bool in_flight) {
    const Ints blocks(size(ranks), ints), one(1, ints);
    MPI_Request request = MPI_REQUEST_NULL;
    Side mine(one, false), data(one, false), all(blocks, false), sent(blocks, false);
    Side gathered(blocks, false), own(one, false), given(blocks, false);
    for (int i = 0; i < ints; ++i) {
        mine.put(0, i, value(rank, 0, i), true);
        data.put(0, i, value(root, 0, i), rank == root);
        own.put(0, i, value(root, rank, i), false);
        for (int r = 0; r < ranks; ++r) {
            sent.put(r, i, value(rank, r, i), true);
            all.put(r, i, value(r, 0, i), false);
            gathered.put(r, i, rank == root ? value(r, 0, i) : -1, false);
            given.put(r, i, value(r, rank, i), false);
        }
    }
    if (in_flight) {
        MPI_Ibcast(data.data(), data.count(), data.type(), root, MPI_COMM_WORLD, &request);
        wait(request);
        MPI_Iallgather(mine.data(), mine.count(), mine.type(), all.data(), all.count(), all.type(),
                       MPI_COMM_WORLD, &request);
        wait(request);
        MPI_Igather(mine.data(), mine.count(), mine.type(), gathered.data(), gathered.count(),
                    gathered.type(), root, MPI_COMM_WORLD, &request);
        wait(request);
        MPI_Iscatter(sent.data(), sent.count(), sent.type(), own.data(), own.count(), own.type(),
                     root, MPI_COMM_WORLD, &request);
        wait(request);
        MPI_Ialltoall(sent.data(), sent.count(), sent.type(), given.data(), given.count(),
                      given.type(), MPI_COMM_WORLD, &request);
        wait(request);
    } else {
        MPI_Bcast(data.data(), data.count(), data.type(), root, MPI_COMM_WORLD);
        MPI_Allgather(mine.data(), mine.count(), mine.type(), all.data(), all.count(), all.type(),
                      MPI_COMM_WORLD);
        MPI_Gather(mine.data(), mine.count(), mine.type(), gathered.data(), gathered.count(),
                   gathered.type(), root, MPI_COMM_WORLD);
        MPI_Scatter(sent.data(), sent.count(), sent.type(), own.data(), own.count(), own.type(),
                    root, MPI_COMM_WORLD);
        MPI_Alltoall(sent.data(), sent.count(), sent.type(), given.data(), given.count(),
                     given.type(), MPI_COMM_WORLD);
    }
    EXPECT(data.good() && all.good() && gathered.good() && own.good() && given.good());
}

void check_uneven_blocks(int root, bool in_flight) {
    Ints all(size(ranks * ranks));  // from r to s
    for (int& ints : all) {
        ints = unit * static_cast<int>(shared_random() % 4);
    }
    Ints sizes(all.begin(), all.begin() + ranks), to, from;
    for (int r = 0; r < ranks; ++r) {
        to.push_back(all[size(rank * ranks + r)]);
        from.push_back(all[size(r * ranks + rank)]);
    }
    Side mine(Ints(1, sizes[size(rank)]), false), gathered(sizes, true), at_root(sizes, true);
    Side sent(to, true), given(from, true);
    for (int r = 0; r < ranks; ++r) {
        for (int i = 0; i < sizes[size(r)]; ++i) {
            if (r == rank) {
                mine.put(0, i, value(rank, 0, i), true);
            }
            gathered.put(r, i, value(r, 0, i), false);
            at_root.put(r, i, rank == root ? value(r, 0, i) : -1, false);
        }
        for (int i = 0; i < to[size(r)]; ++i) {
            sent.put(r, i, value(rank, r, i), true);
        }
        for (int i = 0; i < from[size(r)]; ++i) {
            given.put(r, i, value(r, rank, i), false);
        }
    }
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Allgatherv(mine.data(), mine.count(), mine.type(), gathered.data(), gathered.counts.data(),
                   gathered.places.data(), gathered.type(), MPI_COMM_WORLD);
    MPI_Gatherv(mine.data(), mine.count(), mine.type(), at_root.data(), at_root.counts.data(),
                at_root.places.data(), at_root.type(), root, MPI_COMM_WORLD);
    if (in_flight) {
        MPI_Ialltoallv(sent.data(), sent.counts.data(), sent.places.data(), sent.type(),
                       given.data(), given.counts.data(), given.places.data(), given.type(),
                       MPI_COMM_WORLD, &request);
        wait(request);
    } else {
        MPI_Alltoallv(sent.data(), sent.counts.data(), sent.places.data(), sent.type(),
                      given.data(), given.counts.data(), given.places.data(), given.type(),
                      MPI_COMM_WORLD);
    }
    EXPECT(gathered.good() && at_root.good() && given.good());
    // And back from the root, to where it came from.
    Side back(Ints(1, sizes[size(rank)]), false);
    for (int i = 0; i < sizes[size(rank)]; ++i) {
        back.put(0, i, value(rank, 0, i), false);
    }
    MPI_Scatterv(at_root.data(), at_root.counts.data(), at_root.places.data(), at_root.type(),
                 back.data(), back.count(), back.type(), root, MPI_COMM_WORLD);
    EXPECT(back.good() && at_root.good());
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    look_at(MPI_COMM_WORLD);
    own_random.seed(static_cast<unsigned>(rank) + 100);
    for (int round = 0; round < 60; ++round) {
        // No layer takes those of MPICH, and its ranks use up the cores while they wait.
        const bool in_flight = !trefoil::mpi::is_mpich() && round % 2 == 1;
        const int ints = unit * (1 + static_cast<int>(shared_random() % (round % 8 == 0 ? 80 : 4)));
        const int root = static_cast<int>(shared_random() % static_cast<unsigned>(ranks));
        check_equal_blocks(ints, root, in_flight);
        check_uneven_blocks(root, in_flight);
    }
    return finish();
}
