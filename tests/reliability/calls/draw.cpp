// SPDX-License-Identifier: BSD-3-Clause
// What is drawn how often.
#include "tests/reliability/calls/draw.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace trefoil::calls {

namespace {

constexpr std::size_t largest_log = 20;

std::size_t below(std::mt19937& shared, std::size_t end) {
    return shared() % end;
}

/// Every type, every operation that suits it, and now and then an operation of our own. A third of
/// all reductions are sums whose bits show the order.
Elements draw_elements(std::mt19937& shared, const Traits& traits) {
    constexpr std::size_t first_floating = 8, floating = 6;  // of `types`
    Elements drawn{types[below(shared, types.size())].type, Operation::sum};
    const std::size_t kind = below(shared, 9), any = shared(), which = below(shared, floating);
    if (!traits.reduces) {  // values that any type has
        const bool pair = suits(Operation::minloc, drawn.type);
        drawn.operation = pair ? Operation::minloc : Operation::sum;
        return drawn;
    }
    if (kind < 3) {
        return {types[first_floating + which].type, Operation::sum};
    }
    const bool scans = traits.base == std::string("scan") || traits.base == std::string("exscan");
    std::vector<Operation> allowed;
    for (std::size_t o = 0; o < operations; ++o) {
        const auto one = static_cast<Operation>(o);
        if (is_created(one) == (kind == 3) && suits(one, drawn.type) &&
            (one != Operation::avg || !scans)) {
            allowed.push_back(one);
        }
    }
    drawn.operation = allowed[any % allowed.size()];
    return drawn;
}

}  // namespace

const Traits& traits_of(Collective collective) {
    static constexpr std::array<Traits, collectives> all{{
        {.name = "allreduce", .base = "allreduce", .reduces = true, .in_place = true},
        {.name = "reduce", .base = "reduce", .reduces = true, .rooted = true, .in_place = true},
        {.name = "scan", .base = "scan", .reduces = true, .in_place = true},
        {.name = "exscan", .base = "exscan", .reduces = true, .in_place = true},
        {.name = "reduce_scatter_block",
         .base = "reduce_scatter",
         .reduces = true,
         .blocks = true,
         .in_place = true},
        {.name = "reduce_scatter",
         .base = "reduce_scatter",
         .reduces = true,
         .blocks = true,
         .vector = true,
         .in_place = true},
        {.name = "allgather", .base = "allgather", .blocks = true, .in_place = true},
        {.name = "allgatherv",
         .base = "allgather",
         .blocks = true,
         .vector = true,
         .in_place = true},
        {.name = "bcast", .base = "bcast", .rooted = true},
        {.name = "gather", .base = "gather", .rooted = true, .blocks = true, .in_place = true},
        {.name = "gatherv",
         .base = "gather",
         .rooted = true,
         .blocks = true,
         .vector = true,
         .in_place = true},
        {.name = "scatter", .base = "scatter", .rooted = true, .blocks = true, .in_place = true},
        {.name = "scatterv",
         .base = "scatter",
         .rooted = true,
         .blocks = true,
         .vector = true,
         .in_place = true},
        {.name = "alltoall", .base = "alltoall", .blocks = true, .in_place = true},
        {.name = "alltoallv", .base = "alltoall", .blocks = true, .vector = true, .in_place = true},
        {.name = "neighbor_allgather",
         .base = "neighbor_allgather",
         .blocks = true,
         .neighbours = true},
        {.name = "neighbor_allgatherv",
         .base = "neighbor_allgather",
         .blocks = true,
         .vector = true,
         .neighbours = true},
        {.name = "neighbor_alltoall",
         .base = "neighbor_alltoall",
         .blocks = true,
         .neighbours = true},
        {.name = "neighbor_alltoallv",
         .base = "neighbor_alltoall",
         .blocks = true,
         .vector = true,
         .neighbours = true},
        {.name = "barrier", .base = "barrier"},
    }};
    return all[static_cast<std::size_t>(collective)];
}

const char* name_of(Mistake mistake) {
    constexpr std::array<const char*, mistakes> names{"no mistake",
                                                      "an unknown type",
                                                      "an unknown operation",
                                                      "an unsuitable operation",
                                                      "an average",
                                                      "root -1",
                                                      "a root too high",
                                                      "no send buffer",
                                                      "both in place",
                                                      "overlapping buffers",
                                                      "no counts",
                                                      "no operation for own elements",
                                                      "an own operation for floats",
                                                      "a huge count",
                                                      "no communicator"};
    return names[static_cast<std::size_t>(mistake)];
}

std::size_t draw_bytes(std::mt19937& shared) {
    const std::size_t log =
        std::min(below(shared, largest_log + 1), below(shared, largest_log + 1));
    const std::size_t power = std::size_t{1} << log;
    const std::size_t inside = below(shared, 2 * power), beside = below(shared, 33);
    // Slots, segments, parts and blocks end at powers of two.
    return below(shared, 2) == 0 ? inside : power + beside - std::min<std::size_t>(power, 16);
}

Call draw_call(std::mt19937& shared) {
    Call call;
    call.collective = static_cast<Collective>(below(shared, collectives));
    call.elements = draw_elements(shared, traits_of(call.collective));
    const std::size_t scan = below(shared, 3);
    if (call.elements.operation == Operation::compose && scan > 0) {
        // Few algorithms of other collectives keep the order.
        call.collective = scan == 1 ? Collective::scan : Collective::exscan;
    }
    const Traits& traits = traits_of(call.collective);
    call.root = static_cast<std::uint32_t>(shared());
    call.in_place = below(shared, 3) == 0 && traits.in_place;
    call.same_pointer = below(shared, 2) == 0;
    call.gap = below(shared, 3) == 0 ? 1 + below(shared, 3) : 0;
    call.base_name = below(shared, 8) == 0;
    call.algorithm = static_cast<std::uint32_t>(shared());
    draw_again(shared, call);
    return call;
}

void draw_again(std::mt19937& shared, Call& call) {
    call.bytes = draw_bytes(shared);
    call.salt = mix(shared());
}

Call draw_mistake(std::mt19937& shared) {
    using C = Collective;
    static constexpr std::array reducing{C::allreduce, C::reduce, C::scan, C::reduce_scatter_block};
    static constexpr std::array rooted{C::bcast, C::reduce, C::gather, C::scatter};
    static constexpr std::array simple{C::allreduce, C::allgather, C::scan, C::alltoall};
    static constexpr std::array listed{C::reduce_scatter, C::allgatherv, C::alltoallv,
                                       C::allgatherv};
    static constexpr std::array scans{C::scan, C::exscan, C::scan, C::exscan};
    Call call = draw_call(shared);
    call.mistake = static_cast<Mistake>(1 + below(shared, mistakes - 1));
    const std::size_t which = below(shared, 4);
    switch (call.mistake) {
        case Mistake::operation:
        case Mistake::unsuitable:
        case Mistake::no_operation:
        case Mistake::wrong_type:
            call.collective = reducing[which];
            break;
        case Mistake::average:
            call.collective = scans[which];
            break;
        case Mistake::low_root:
        case Mistake::high_root:
            call.collective = rooted[which];
            break;
        case Mistake::no_counts:
            call.collective = listed[which];
            break;
        default:
            call.collective = simple[which];
    }
    // An own operation takes any type that is as long as its elements.
    const bool shorter = call.mistake == Mistake::wrong_type;
    call.elements = {shorter ? TREFOIL_FLOAT : TREFOIL_DOUBLE, Operation::sum};
    call.in_place = false;
    call.base_name = false;
    call.gap = 0;
    call.bytes = 1024 + call.bytes % 4096;
    return call;
}

std::string text_of(const Call& call, const std::string& algorithm, std::size_t count, int ranks) {
    const Traits& traits = traits_of(call.collective);
    std::string text = call.form == Form::nonblocking  ? "nonblocking "
                       : call.form == Form::persistent ? "persistent "
                                                       : "";
    text += std::string(traits.name) + " by " + algorithm;
    if (call.collective != Collective::barrier) {
        const auto* type = std::find_if(types.begin(), types.end(), [&](const TypeName& one) {
            return one.type == call.elements.type;
        });
        const bool own = call.elements.are_created();
        text += ", " + std::string(traits.vector ? "up to " : "") + std::to_string(count) + " " +
                (own ? "own elements" : type->name) + (traits.blocks ? " per block" : "");
        text += traits.reduces ? std::string(", ") + name_of(call.elements.operation) : "";
        text += traits.rooted
                    ? ", root " + std::to_string(call.root % static_cast<std::uint32_t>(ranks))
                    : "";
        text +=
            call.in_place ? call.same_pointer ? ", in place by equal pointers" : ", in place" : "";
        text += traits.vector && call.gap > 0 ? ", gaps of " + std::to_string(call.gap) : "";
    }
    return call.mistake == Mistake::none ? text
                                         : text + ", with a mistake: " + name_of(call.mistake);
}

}  // namespace trefoil::calls
