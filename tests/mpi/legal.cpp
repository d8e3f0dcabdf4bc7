// SPDX-License-Identifier: BSD-3-Clause
// Legal programs that are easy to make wrong from within MPI's collectives: results and ends must
// be as without Trefoil.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <thread>

#include "check.hpp"

using namespace trefoil::mpi::test;

namespace {

int sum_on(MPI_Comm comm, int mine) {
    int sum = -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

/// Of the ranks whose `part` is this one's; made without a collective.
MPI_Comm part_of_world(int (*part)(int)) {
    std::vector<int> members;
    for (int r = 0; r < ranks; ++r) {
        if (part(r) == part(rank)) {
            members.push_back(r);
        }
    }
    MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, static_cast<int>(members.size()), members.data(), &group);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 1, &made);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return made;
}

int parity(int of_rank) {
    return of_rank % 2;
}
int half(int of_rank) {
    return of_rank / 2;
}

/// Of the members of `comm`, told without a collective on it.
int sum_of_members(MPI_Comm comm) {
    MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
    int size = 0, sum = 0;
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(group, &size);
    for (int i = 0; i < size; ++i) {
        int there = 0;
        MPI_Group_translate_ranks(group, 1, &i, world, &there);
        sum += there;
    }
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return sum;
}

int calls_at_the_end = 0;

int call_on_dying(MPI_Comm comm, int, void*, void*) {
    for (int i = 0; i < calls_at_the_end; ++i) {
        EXPECT(sum_on(comm, rank) == sum_of_members(comm));
        MPI_Barrier(comm);
    }
    return MPI_SUCCESS;
}

/// A delete function of an attribute makes collectives on its communicator, which is going. The
/// next communicator, of other ranks, may get its handle.
void check_calls_in_delete_functions() {
    int first = 0, second = 0;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, call_on_dying, &first, nullptr);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, call_on_dying, &second, nullptr);
    for (int round = 0; round < 24; ++round) {
        calls_at_the_end = 1 + round % 3;
        MPI_Comm comm = part_of_world(round % 2 == 0 ? parity : half);
        MPI_Comm_set_attr(comm, first, nullptr);
        const int calls = round % 4 == 3 ? 0 : 5;
        for (int i = 0; i < calls; ++i) {
            EXPECT(sum_on(comm, rank) == sum_of_members(comm));
        }
        MPI_Comm_set_attr(comm, second, nullptr);
        round % 5 == 4 ? MPI_Comm_disconnect(&comm) : MPI_Comm_free(&comm);
        MPI_Comm next = part_of_world(round % 2 == 0 ? half : parity);
        for (int i = 0; i < calls; ++i) {
            EXPECT(sum_on(next, rank) == sum_of_members(next));
        }
        MPI_Comm_free(&next);
    }
    MPI_Comm_free_keyval(&first);
    MPI_Comm_free_keyval(&second);
}

/// Lets MPI go on for a while.
void look_at_messages(std::chrono::microseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
        int flag = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
}

/// Calls that Trefoil does not run among those that it does, while a communicator is set up on some
/// ranks and has been on others.
void check_order_of_calls() {
    for (int round = 0; round < 60; ++round) {
        MPI_Comm comm = MPI_COMM_NULL, copy = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        std::array<MPI_Request, 4> requests{};
        const double one = 1;
        const long double small = 2;
        double sum = 0;
        long double product = 0;
        std::array<long double, 100> many{}, sums{};
        many.fill(3);
        int most = -1;
        MPI_Iallreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm, &requests[0]);
        look_at_messages(std::chrono::microseconds(100 * ((round * 7 + rank * 11) % 40)));
        MPI_Iallreduce(&small, &product, 1, MPI_LONG_DOUBLE, MPI_PROD, comm, &requests[1]);
        MPI_Iallreduce(&rank, &most, 1, MPI_INT, MPI_MAX, comm, &requests[2]);
        MPI_Iallreduce(many.data(), sums.data(), 100, MPI_LONG_DOUBLE, MPI_SUM, comm, &requests[3]);
        if (round % 2 == 0) {
            MPI_Comm_dup(comm, &copy);
            MPI_Comm_free(&copy);
        }
        MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
        long double expected = 1;
        for (int r = 0; r < ranks; ++r) {
            expected *= 2;
        }
        EXPECT(sum == ranks && product == expected && most == ranks - 1 &&
               sums[99] == 3.0L * ranks);
        MPI_Comm_free(&comm);
    }
}

/// A window on which each rank reads its neighbour's number.
void check_window(MPI_Comm comm, int round) {
    int *mine = nullptr, read = -1;
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &mine, &window);
    *mine = input(rank, round);
    MPI_Win_fence(0, window);
    MPI_Get(&read, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    EXPECT(read == input((rank + 1) % ranks, round));
    MPI_Win_free(&window);
}

/// The ranks have asked for different levels of threads.
void check_windows_of_levels() {
    for (int round = 0; round < 5; ++round) {
        check_window(MPI_COMM_WORLD, round);
        EXPECT(sum_on(MPI_COMM_WORLD, 1) == ranks);
    }
}

/// A copy is under way while windows are made: ranks work at it in different calls.
void check_copies_beside_windows() {
    for (int round = 0; round < 10; ++round) {
        MPI_Comm copy = MPI_COMM_NULL;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
        check_window(MPI_COMM_WORLD, round);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EXPECT(sum_on(copy, 1) == ranks);
        MPI_Comm_free(&copy);
    }
}

/// Each rank frees a communicator only after the one before it has.
void check_frees_in_turn() {
    for (int round = 0; round < 10; ++round) {
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        EXPECT(sum_on(comm, 1) == ranks);
        int turn = 0;
        if (rank > 0) {
            MPI_Recv(&turn, 1, MPI_INT, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Comm_free(&comm);
        if (rank + 1 < ranks) {
            MPI_Send(&turn, 1, MPI_INT, rank + 1, 3, MPI_COMM_WORLD);
        }
    }
}

/// Messages that nobody waits for keep their communicators, which were freed, until a barrier.
void check_messages_that_outlive() {
    const std::vector<int> sent(1 << 18, rank);
    std::vector<int> received(sent.size(), -1);
    for (int round = 0; round < 10; ++round) {
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Request sending = MPI_REQUEST_NULL, receiving = MPI_REQUEST_NULL;
        const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        EXPECT(sum_on(comm, 1) == ranks);
        MPI_Isend(sent.data(), 1 << 18, MPI_INT, next, 1, comm, &sending);
        MPI_Request_free(&sending);
        if (rank == ranks - 1) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        MPI_Irecv(received.data(), 1 << 18, MPI_INT, before, 1, comm, &receiving);
        MPI_Comm_free(&comm);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&receiving, MPI_STATUS_IGNORE);
        EXPECT(received.back() == before);
        MPI_Barrier(MPI_COMM_WORLD);  // all that was sent has been received
    }
}

/// Receivers give more room than is sent, which MPI forbids and delivers.
void check_more_room() {
    constexpr int sent = 1000, room = 3000;
    std::vector<int> data(room);
    for (int i = 0; i < 12; ++i) {
        data.assign(room, -1);
        if (rank == 0) {
            data = inputs(i, room);
        }
        MPI_Bcast(data.data(), rank == 0 ? sent : room, MPI_INT, 0, MPI_COMM_WORLD);
        EXPECT(data[sent - 1] == input(i, sent - 1) && (rank == 0 || data[sent] == -1));
    }
}

/// Open MPI's collectives between two groups call those of a communicator of its own inside a
/// group, some ranks of it by a jump from MPI's function of that name.
void check_between_groups() {
    constexpr int count = 10;
    MPI_Comm half = MPI_COMM_NULL, between = MPI_COMM_NULL;
    const int mine = rank % 2;
    int own = 0, others = 0, me = 0;
    MPI_Comm_split(MPI_COMM_WORLD, mine, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - mine, 3, &between);
    MPI_Comm_rank(half, &me);
    MPI_Comm_size(half, &own);
    MPI_Comm_remote_size(between, &others);
    for (int round = 0; round < 8; ++round) {
        const bool sends = round % 2 == mine;
        const int root = sends ? (me == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
        const std::vector<int> blocks = inputs(round, others * count);
        std::vector<int> block(count, -1), gathered(static_cast<std::size_t>(others), -1);
        MPI_Scatter(blocks.data(), count, MPI_INT, block.data(), count, MPI_INT, root, between);
        EXPECT(block.back() == (sends ? -1 : input(round, me * count + count - 1)));
        block = inputs(round + (sends && me == 0 ? 0 : 100), count);
        MPI_Bcast(block.data(), count, MPI_INT, root, between);
        EXPECT(sends || block.back() == input(round, count - 1));
        MPI_Gather(&rank, 1, MPI_INT, gathered.data(), 1, MPI_INT, root, between);
        EXPECT(gathered.back() == (root == MPI_ROOT ? 2 * others - 1 - mine : -1));
        MPI_Allgather(&me, 1, MPI_INT, gathered.data(), 1, MPI_INT, between);
        EXPECT(gathered.back() == others - 1);
        EXPECT(sum_on(between, me + 1) == others * (others + 1) / 2);
        MPI_Barrier(between);
        EXPECT(sum_on(half, 1) == own);
    }
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

int send_to_first(MPI_Comm, int, void*, void*) {
    MPI_Send(&rank, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
    return MPI_SUCCESS;
}

/// Rank 0 receives, before it ends MPI, what the others send while they do.
int finish_with_messages() {
    int key = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(sum_on(MPI_COMM_WORLD, 1) == ranks);
    if (rank != 0) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, send_to_first, &key, nullptr);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    }
    for (int r = 1; rank == 0 && r < ranks; ++r) {
        int from = 0;
        MPI_Recv(&from, 1, MPI_INT, r, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT(from == r);
    }
    if (rank == 0) {
        std::printf("%d failure(s)\n", failures);
    }
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}

/// Before MPI can tell.
int rank_by_launcher() {
    const char* const text = std::getenv("OMPI_COMM_WORLD_RANK") != nullptr
                                 ? std::getenv("OMPI_COMM_WORLD_RANK")
                                 : std::getenv("PMI_RANK");
    return text == nullptr ? 0 : std::atoi(text);
}

struct Part {
    std::string_view name;
    void (*check)();
};
constexpr Part parts[] = {{"barrier", [] {}},  // what all parts begin with
                          {"delete-functions", check_calls_in_delete_functions},
                          {"order", check_order_of_calls},
                          {"levels", check_windows_of_levels},
                          {"copies", check_copies_beside_windows},
                          {"frees", check_frees_in_turn},
                          {"outlive", check_messages_that_outlive},
                          {"between", check_between_groups},
                          {"room", check_more_room}};

}  // namespace

int main(int argc, char** argv) {
    const std::string_view part(argc > 1 ? argv[1] : "");
    if (part == "levels") {
        const int level = rank_by_launcher() % 2 == 0 ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
        int provided = 0;
        MPI_Init_thread(&argc, &argv, level, &provided);
    } else {
        MPI_Init(&argc, &argv);
    }
    look_at(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (part == "ends") {
        return finish_with_messages();
    }
    const auto* const chosen = std::ranges::find(parts, part, &Part::name);
    EXPECT(chosen != std::end(parts));
    if (chosen != std::end(parts)) {
        chosen->check();
    }
    return finish();
}
