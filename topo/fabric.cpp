// SPDX-License-Identifier: BSD-3-Clause
// Fabrics as text, and their links.
#include "topo/fabric.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "topo/error.hpp"

namespace trefoil {

namespace {

[[noreturn]] void refuse(std::string_view clause, const std::string& why) {
    throw Error(Status::invalid_argument, "\"" + std::string(clause) + "\": " + why);
}

std::optional<Rank> number(std::string_view text) {
    Rank value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    return read.ec == std::errc() && read.ptr == end ? std::optional(value) : std::nullopt;
}

/// "0.5": 500; nothing: it is no rate from 0 to 1 in thousandths.
std::optional<int> thousandths(std::string_view text) {
    const std::size_t point = text.find('.');
    const std::optional<Rank> before = number(text.substr(0, point));
    std::string_view after = point == std::string_view::npos ? "" : text.substr(point + 1);
    if (!before || *before < 0 || *before > 1 || after.size() > 3 ||
        (point != std::string_view::npos && after.empty())) {
        return std::nullopt;
    }
    int value = *before * Fabric::whole;
    int unit = Fabric::whole / 10;
    for (const char digit : after) {
        if (digit < '0' || digit > '9') {
            return std::nullopt;
        }
        value += (digit - '0') * unit;
        unit /= 10;
    }
    return value <= Fabric::whole ? std::optional(value) : std::nullopt;
}

std::size_t to_size(Rank place) {
    return static_cast<std::size_t>(place);
}

std::string link_text(Link link) {
    return to_string(link.port) + "@" + std::to_string(link.from);
}

}  // namespace

std::string rate_text(int thousandths) {
    std::string text = std::to_string(thousandths / Fabric::whole);
    if (thousandths % Fabric::whole != 0) {
        text += "." + std::to_string(Fabric::whole + thousandths % Fabric::whole).substr(1);
        text.erase(text.find_last_not_of('0') + 1);
    }
    return text;
}

Fabric::Fabric(Torus torus) : torus_(std::move(torus)) {
    if (torus_.fabric() != nullptr) {
        *this = Fabric(*torus_.fabric());
        return;
    }
    if (torus_.has_nodes()) {
        throw Error(Status::unsupported,
                    "the fabric " + torus_.name() +
                        " has nodes of several ranks; describe the torus of its nodes, " +
                        torus_.nodes().name());
    }
    if (torus_.ranks() > most_places) {
        throw Error(Status::unsupported, "the torus " + torus_.name() + " has more than " +
                                             std::to_string(most_places) + " places");
    }
    number_ranks();
}

Fabric Fabric::parse(std::string_view text) {
    std::size_t colon = text.find(':');
    Fabric fabric(Torus::parse(text.substr(0, colon)));
    while (colon != std::string_view::npos) {
        const std::size_t next = text.find(':', colon + 1);
        fabric.parse_clause(text.substr(
            colon + 1, next == std::string_view::npos ? std::string_view::npos : next - colon - 1));
        colon = next;
    }
    fabric.number_ranks();
    return fabric;
}

void Fabric::parse_clause(std::string_view clause) {
    const std::size_t equals = clause.find('=');
    const std::string_view kind = clause.substr(0, equals);
    std::string_view what = equals == std::string_view::npos ? "" : clause.substr(equals + 1);
    if (kind == "twist") {
        const std::size_t second = what.find('=');
        const std::size_t plus = what.find('+');
        const bool both =
            second != std::string_view::npos && plus != std::string_view::npos && second < plus;
        const auto dimension = both ? number(what.substr(0, second)) : std::nullopt;
        const auto along = both ? number(what.substr(second + 1, plus - second - 1)) : std::nullopt;
        const auto shift = both ? number(what.substr(plus + 1)) : std::nullopt;
        if (!dimension || !along || !shift) {
            refuse(clause,
                   "write a twist as twist=0=2+4: the rows of dimension 0 close 4 further "
                   "along dimension 2");
        }
        set_twist(*dimension, *along, *shift);
        return;
    }
    if (kind != "node" && kind != "cable" && kind != "link") {
        refuse(clause,
               "what a network has unlike its torus is node=5, cable=+0@4, link=+0@4 or "
               "twist=0=2+4; a rate may follow the first three: node=5=0.5");
    }
    int rate = 0;
    if (const std::size_t second = what.find('='); second != std::string_view::npos) {
        const std::optional<int> read = thousandths(what.substr(second + 1));
        if (!read) {
            refuse(clause, "a rate goes from 0 to 1, with at most three digits behind the point");
        }
        rate = *read;
        what = what.substr(0, second);
    }
    if (kind == "node") {
        const std::optional<Rank> place = number(what);
        if (!place) {
            refuse(clause, "write a node as the number of its place, such as node=5");
        }
        note_node(*place, rate);
    } else if (kind == "cable") {
        set_cable(parse_link(what, clause), rate);
    } else {
        set_link(parse_link(what, clause), rate);
    }
}

Link Fabric::parse_link(std::string_view text, std::string_view clause) const {
    const std::size_t at = text.find('@');
    const std::optional<Rank> place =
        at == std::string_view::npos ? std::nullopt : number(text.substr(at + 1));
    for (int p = 0; place && p < torus_.ports(); ++p) {
        if (to_string(Port{p}) == text.substr(0, at)) {
            return {*place, Port{p}};
        }
    }
    refuse(clause, "write a link as a direction and the place that it leaves, such as +0@4");
}

std::string Fabric::name() const {
    std::string name = torus_.name();
    for (const auto& [dimension, twist] : twists_) {
        name += ":twist=" + std::to_string(dimension) + "=" + std::to_string(twist.along) + "+" +
                std::to_string(twist.shift);
    }
    for (const auto& [place, rate] : node_rates_) {
        name += ":node=" + std::to_string(place) + (rate == 0 ? "" : "=" + rate_text(rate));
    }
    for (const SlowLink& slow : slow_links()) {
        name += (slow.is_cable ? ":cable=" : ":link=") + link_text(slow.link) +
                (slow.rate == 0 ? "" : "=" + rate_text(slow.rate));
    }
    return name;
}

std::vector<Fabric::SlowLink> Fabric::slow_links() const {
    std::vector<SlowLink> slow;
    for (const auto& [place_and_port, rate] : link_rates_) {
        const Link link{place_and_port.first, Port{place_and_port.second}};
        const Link back{neighbour(link), link.port.opposite()};
        const auto other = link_rates_.find({back.from, back.port.index});
        const bool is_cable = other != link_rates_.end() && other->second == rate;
        if (!is_cable || link.port.sign() > 0) {  // else the other end says it
            slow.push_back({link, rate, is_cable});
        }
    }
    return slow;
}

void Fabric::note_node(Rank place, int rate) {
    if (place < 0 || place >= torus_.ranks()) {
        throw Error(Status::invalid_argument, "there is no node " + std::to_string(place) + " in " +
                                                  torus_.name() + "; its places are 0 to " +
                                                  std::to_string(torus_.ranks() - 1));
    }
    node_rates_.erase(place);
    if (rate < whole) {
        node_rates_[place] = rate;
    }
}

void Fabric::set_node(Rank place, int rate) {
    note_node(place, rate);
    number_ranks();
}

void Fabric::remove_nodes(const std::vector<bool>& places) {
    for (std::size_t place = 0; place < places.size(); ++place) {
        if (places[place]) {
            note_node(static_cast<Rank>(place), 0);
        }
    }
    number_ranks();
}

void Fabric::set_link(Link link, int rate) {
    require_link(link);
    link_rates_.erase({link.from, link.port.index});
    if (rate < whole) {
        link_rates_[{link.from, link.port.index}] = rate;
    }
}

void Fabric::set_cable(Link link, int rate) {
    set_link(link, rate);
    set_link({neighbour(link), link.port.opposite()}, rate);
}

void Fabric::set_twist(int dimension, int along, Rank shift) {
    const auto exists = [&](int d) { return d >= 0 && d < torus_.dimensions(); };
    if (!exists(dimension) || !exists(along) || dimension == along || torus_.is_line(dimension) ||
        torus_.is_line(along) || shift < 0 || shift >= torus_.size(along) ||
        torus_.size(dimension) == 1 || !link_rates_.empty()) {
        throw Error(Status::invalid_argument,
                    "a twist of " + torus_.name() +
                        " names two of its dimensions that are rings, the one whose rows close "
                        "elsewhere and the one along which, with a shift below that one's size; it "
                        "stands before cables and links");
    }
    twists_.erase(dimension);
    if (shift > 0) {
        twists_[dimension] = {along, shift};
    }
}

bool Fabric::has_link(Link link) const {
    const int j = link.port.dimension();
    const Rank at = torus_.coordinate(link.from, j);
    return torus_.size(j) > 1 &&
           !(torus_.is_line(j) && at == (link.port.sign() > 0 ? torus_.size(j) - 1 : 0));
}

Rank Fabric::neighbour(Link link) const {
    const int j = link.port.dimension();
    const Rank there = torus_.neighbour(link.from, link.port);
    const auto twist = twists_.find(j);
    const bool closes =
        torus_.coordinate(link.from, j) == (link.port.sign() > 0 ? torus_.size(j) - 1 : 0);
    return twist == twists_.end() || !closes
               ? there
               : torus_.shifted(there, twist->second.along,
                                std::int64_t{link.port.sign()} * twist->second.shift);
}

int Fabric::rate_of_node(Rank place) const {
    const auto found = node_rates_.find(place);
    return found == node_rates_.end() ? whole : found->second;
}

int Fabric::rate(Link link) const {
    if (!has_link(link)) {
        return 0;
    }
    const auto found = link_rates_.find({link.from, link.port.index});
    const int own = found == link_rates_.end() ? whole : found->second;
    return std::min({own, rate_of_node(link.from), rate_of_node(neighbour(link))});
}

std::vector<FabricLink> Fabric::links() const {
    std::vector<FabricLink> links;
    for (Rank r = 0; r < ranks(); ++r) {
        for (int p = 0; p < torus_.ports(); ++p) {
            const Link link{place_of(r), Port{p}};
            if (const int works = rate(link); works > 0) {
                links.push_back({r, rank_of(neighbour(link)), Port{p}, works});
            }
        }
    }
    return links;
}

/// Over so many links of one direction; false: one of them does not work.
bool Fabric::walk(Rank& here, Port port, std::int64_t count, std::vector<Link>& links) const {
    for (std::int64_t i = 0; i < count; ++i) {
        if (rate({here, port}) == 0) {
            return false;
        }
        links.push_back({here, port});
        here = neighbour({here, port});
    }
    return true;
}

bool Fabric::walk_rows(Rank from, Rank to, std::optional<Port> port,
                       std::vector<Link>& links) const {
    Rank here = from;
    for (int j = 0; j < torus_.dimensions(); ++j) {
        const std::int64_t apart = torus_.way(here, to, j);
        if (apart == 0) {
            continue;
        }
        const bool tie = !torus_.is_line(j) && torus_.is_tie(here, to, j);
        const bool steered = tie && port && port->dimension() == j;
        Port first = steered ? *port : Port::towards(j, apart > 0 ? 1 : -1);
        const std::int64_t count = std::abs(apart);
        const std::size_t before = links.size();
        const Rank start = here;
        if (walk(here, first, count, links)) {
            continue;
        }
        links.resize(before);
        here = start;
        if (torus_.is_line(j) || !walk(here, first.opposite(), torus_.size(j) - count, links)) {
            return false;
        }
    }
    return true;
}

std::vector<Link> Fabric::fewest_links(Rank from, Rank to) const {
    std::vector<int> via(to_size(torus_.ranks()), -1);
    std::vector<Rank> queue{from};
    for (std::size_t i = 0; i < queue.size() && queue[i] != to; ++i) {
        for (int p = 0; p < torus_.ports(); ++p) {
            const Link link{queue[i], Port{p}};
            if (rate(link) == 0) {
                continue;
            }
            const Rank there = neighbour(link);
            if (there != from && via[to_size(there)] < 0) {
                via[to_size(there)] = p;
                queue.push_back(there);
            }
        }
    }
    std::vector<Link> links;
    for (Rank here = to; here != from && via[to_size(here)] >= 0;) {
        const Port port{via[to_size(here)]};
        here = neighbour({here, port.opposite()});
        links.push_back({here, port});
    }
    std::reverse(links.begin(), links.end());
    return links;
}

std::vector<Link> Fabric::route(Rank from, Rank to, std::optional<Port> port) const {
    const Rank here = place_of(from);
    if (port && joins(from, to, *port)) {
        return {{here, *port}};
    }
    std::vector<Link> links;
    if (!has_twists() && walk_rows(here, place_of(to), is_torus() ? port : std::nullopt, links)) {
        return links;
    }
    links = fewest_links(here, place_of(to));
    if (links.empty() && from != to) {
        throw Error(Status::unsupported, "links that are down leave no way from rank " +
                                             std::to_string(from) + " to rank " +
                                             std::to_string(to) + " of " + name());
    }
    return links;
}

bool Fabric::is_connected() const {
    const std::vector<FabricLink> all = links();
    for (const bool forward : {true, false}) {
        std::vector<bool> reached(places_.size());
        reached[0] = true;
        std::size_t count = 0;
        for (std::size_t now = 1; now > count;) {
            count = now;
            for (const FabricLink& link : all) {
                const auto from = static_cast<std::size_t>(forward ? link.from : link.to);
                const auto to = static_cast<std::size_t>(forward ? link.to : link.from);
                now += reached[from] && !reached[to] ? 1 : 0;
                reached[to] = reached[to] || reached[from];
            }
        }
        if (count < places_.size()) {
            return false;
        }
    }
    return true;
}

std::vector<int> hops_along(const std::vector<FabricLink>& links, Rank ranks, Rank from) {
    std::vector<std::vector<Rank>> next(to_size(ranks));
    for (const FabricLink& link : links) {
        next[to_size(link.from)].push_back(link.to);
    }
    std::vector<int> hops(next.size(), -1);
    std::vector<Rank> queue{from};
    hops[to_size(from)] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
        for (const Rank to : next[to_size(queue[i])]) {
            if (hops[to_size(to)] < 0) {
                hops[to_size(to)] = hops[to_size(queue[i])] + 1;
                queue.push_back(to);
            }
        }
    }
    return hops;
}

void Fabric::require_link(Link link) const {
    if (link.from < 0 || link.from >= torus_.ranks() || !has_link(link)) {
        throw Error(Status::invalid_argument,
                    link_text(link) + " is not a link of " + torus_.name() +
                        "; its places are 0 to " + std::to_string(torus_.ranks() - 1) +
                        ", and a row that does not close ends at its last place");
    }
}

void Fabric::number_ranks() {
    places_.clear();
    ranks_.assign(static_cast<std::size_t>(torus_.ranks()), -1);
    for (Rank place = 0; place < torus_.ranks(); ++place) {
        if (rate_of_node(place) > 0) {
            ranks_[static_cast<std::size_t>(place)] = ranks();
            places_.push_back(place);
        }
    }
    if (places_.empty()) {
        throw Error(Status::invalid_argument, "no node of " + torus_.name() + " is left");
    }
}

}  // namespace trefoil
