// SPDX-License-Identifier: BSD-3-Clause
// How communicators are drawn, and who is in them.
#include "communicators.hpp"

#include <algorithm>
#include <array>

namespace trefoil::mpi::test {

Communicator described(MPI_Comm comm, std::vector<int> members) {
    Communicator made;
    made.where.comm = comm;
    made.members = std::move(members);
    made.where.ranks = static_cast<int>(made.members.size());
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_rank(comm, &made.where.rank);
    }
    return made;
}

namespace {

/// The place of a rank of MPI_COMM_WORLD among `members`, or -1.
int place_of(const std::vector<int>& members, int world_rank) {
    const auto found = std::ranges::find(members, world_rank);
    return found == members.end() ? -1 : static_cast<int>(found - members.begin());
}

void make_copy(Draw& draw, const Communicator& parent, std::vector<Communicator>& all) {
    const int how = draw.below(3);
    MPI_Comm comm = MPI_COMM_NULL;
    if (parent.is_here()) {
        MPI_Request request = MPI_REQUEST_NULL;
        switch (how) {
            case 0:
                MPI_Comm_dup(parent.where.comm, &comm);
                break;
            case 1:
                MPI_Comm_dup_with_info(parent.where.comm, MPI_INFO_NULL, &comm);
                break;
            default:
                MPI_Comm_idup(parent.where.comm, &comm, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    all.push_back(parent);
    all.back().where.comm = comm;
}

void split(Draw& draw, const Communicator& parent, std::vector<Communicator>& all) {
    struct Part {
        int color, key, member;
    };
    const int colors = draw.between(1, 3);
    std::vector<Part> parts;
    for (const int member : parent.members) {
        const int color = draw.chance(12) ? MPI_UNDEFINED : draw.below(colors);
        parts.push_back({color, draw.below(3), member});
    }
    MPI_Comm comm = MPI_COMM_NULL;
    const Part mine =
        parent.is_here() ? parts[static_cast<std::size_t>(parent.where.rank)] : Part{-1, 0, -1};
    if (parent.is_here()) {
        MPI_Comm_split(parent.where.comm, mine.color, mine.key, &comm);
    }
    std::ranges::stable_sort(parts, {}, &Part::key);
    for (int color = 0; color < colors; ++color) {
        std::vector<int> members;
        for (const Part& part : parts) {
            if (part.color == color) {
                members.push_back(part.member);
            }
        }
        if (!members.empty()) {
            all.push_back(described(mine.color == color ? comm : MPI_COMM_NULL, members));
        }
    }
}

void make_of_group(Draw& draw, const Communicator& parent, std::vector<Communicator>& all) {
    std::vector<int> places(parent.members.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
        places[i] = static_cast<int>(i);
    }
    if (draw.chance(50)) {
        draw.shuffle(places);
    }
    places.resize(static_cast<std::size_t>(draw.between(1, static_cast<int>(places.size()))));
    std::vector<int> members;
    for (const int place : places) {
        members.push_back(parent.members[static_cast<std::size_t>(place)]);
    }
    const bool by_members = draw.chance(50);
    MPI_Comm comm = MPI_COMM_NULL;
    if (parent.is_here()) {
        MPI_Group whole = MPI_GROUP_NULL, part = MPI_GROUP_NULL;
        MPI_Comm_group(parent.where.comm, &whole);
        MPI_Group_incl(whole, static_cast<int>(places.size()), places.data(), &part);
        if (!by_members) {
            MPI_Comm_create(parent.where.comm, part, &comm);
        } else if (place_of(places, parent.where.rank) >= 0) {
            MPI_Comm_create_group(parent.where.comm, part, 3, &comm);
        }
        MPI_Group_free(&whole);
        MPI_Group_free(&part);
    }
    all.push_back(described(comm, members));
}

/// MPI tells who the neighbours are: each dimension's lower one, then the upper one.
void find_neighbours(Communicator& cartesian) {
    cartesian.where.neighbours.clear();
    for (int d = 0; d < static_cast<int>(cartesian.sizes.size()); ++d) {
        int before = 0, after = 0;
        MPI_Cart_shift(cartesian.where.comm, d, 1, &before, &after);
        cartesian.where.neighbours.push_back(before);
        cartesian.where.neighbours.push_back(after);
    }
}

void make_cartesian(Draw& draw, const Communicator& parent, std::vector<Communicator>& all) {
    const int ranks = static_cast<int>(parent.members.size()), dimensions = draw.between(1, 2);
    std::array<int, 2> sizes{}, periodic{};
    MPI_Dims_create(ranks, dimensions, sizes.data());
    const bool torus = draw.chance(70);
    for (int& each : periodic) {
        each = torus || draw.chance(50) ? 1 : 0;
    }
    MPI_Comm comm = MPI_COMM_NULL;
    if (parent.is_here()) {
        MPI_Cart_create(parent.where.comm, dimensions, sizes.data(), periodic.data(), 0, &comm);
    }
    Communicator made = described(comm, parent.members);
    made.sizes.assign(sizes.begin(), sizes.begin() + dimensions);
    if (made.is_here()) {
        find_neighbours(made);
    }
    all.push_back(made);
    if (dimensions < 2 || draw.chance(50)) {
        return;
    }
    const int kept = draw.below(2);
    const std::array<int, 2> keeps{kept == 0 ? 1 : 0, kept};
    MPI_Comm row = MPI_COMM_NULL;
    if (made.is_here()) {
        MPI_Cart_sub(made.where.comm, keeps.data(), &row);
    }
    for (int other = 0; other < sizes[static_cast<std::size_t>(1 - kept)]; ++other) {
        std::vector<int> members;
        for (int place = 0; place < ranks; ++place) {
            if ((kept == 0 ? place % sizes[1] : place / sizes[1]) == other) {
                members.push_back(parent.members[static_cast<std::size_t>(place)]);
            }
        }
        const bool is_mine =
            made.is_here() &&
            place_of(members, parent.members[static_cast<std::size_t>(parent.where.rank)]) >= 0;
        Communicator part = described(is_mine ? row : MPI_COMM_NULL, members);
        part.sizes = {sizes[static_cast<std::size_t>(kept)]};
        if (part.is_here()) {
            find_neighbours(part);
        }
        all.push_back(part);
    }
}

void make_graph(const Communicator& parent, std::vector<Communicator>& all) {
    Communicator made = described(MPI_COMM_NULL, parent.members);
    for (int r = 0; r < parent.where.ranks; ++r) {
        if (r != parent.where.rank) {
            made.where.neighbours.push_back(r);
        }
    }
    made.where.rank = parent.where.rank;
    if (parent.is_here()) {
        const std::vector<int>& peers = made.where.neighbours;
        const int count = static_cast<int>(peers.size());
        MPI_Dist_graph_create_adjacent(parent.where.comm, count, peers.data(), MPI_UNWEIGHTED,
                                       count, peers.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                       &made.where.comm);
    }
    all.push_back(made);
}

/// One between two halves, and what it is merged into.
void make_between(Draw& draw, const Communicator& parent, std::vector<Communicator>& all) {
    const int ranks = parent.where.ranks, first = draw.between(1, ranks - 1);
    const bool merges = draw.chance(60), low_first = draw.chance(50);
    const auto middle = parent.members.begin() + first;
    const std::vector<int> low(parent.members.begin(), middle), high(middle, parent.members.end());
    const bool is_low = parent.where.rank < first;
    MPI_Comm half = MPI_COMM_NULL, between = MPI_COMM_NULL, merged = MPI_COMM_NULL;
    if (parent.is_here()) {
        MPI_Comm_split(parent.where.comm, is_low ? 0 : 1, 0, &half);
        MPI_Intercomm_create(half, 0, parent.where.comm, is_low ? first : 0, 5, &between);
        if (merges) {
            MPI_Intercomm_merge(between, is_low == low_first ? 0 : 1, &merged);
        }
        MPI_Comm_free(&half);
    }
    Communicator made = described(between, is_low ? low : high);
    made.others = is_low ? high : low;
    made.where.is_inter = true;
    made.where.ranks = static_cast<int>(made.others.size());
    all.push_back(made);
    if (merges) {
        std::vector<int> members(low_first ? low : high);
        members.insert(members.end(), low_first ? high.begin() : low.begin(),
                       low_first ? high.end() : low.end());
        all.push_back(described(merged, members));
    }
}

}  // namespace

std::string make_communicators(Draw& draw, std::vector<Communicator>& all, int) {
    const Communicator parent = draw.of(all);
    if (parent.where.is_inter) {
        make_copy(draw, parent, all);
        return "copy between";
    }
    switch (draw.below(parent.members.size() > 1 ? 6 : 4)) {
        case 0:
            make_copy(draw, parent, all);
            return "copy";
        case 1:
            split(draw, parent, all);
            return "split";
        case 2:
            make_of_group(draw, parent, all);
            return "group";
        case 3:
            make_cartesian(draw, parent, all);
            return "cartesian";
        case 4:
            make_between(draw, parent, all);
            return "between";
        default:
            make_graph(parent, all);
            return "graph";
    }
}

}  // namespace trefoil::mpi::test
