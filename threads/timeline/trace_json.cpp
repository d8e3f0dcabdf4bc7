// SPDX-License-Identifier: BSD-3-Clause
// A trace as the array of trace events that Perfetto and chrome://tracing read. A process of the
// timeline is a rank; its tracks are the workers, then the segments in flight and their parts.
#include <algorithm>
#include <cstdio>
#include <fstream>

#include "topo/decimals.hpp"

#include "threads/timeline/trace.hpp"

namespace trefoil {

namespace {

using Kind = TraceEvent::Kind;

/// Tracks: workers count from 1; each place for a segment has a thousand, for its parts.
constexpr std::uint32_t tracks_per_lane = 1000;

bool is_of_worker(Kind kind) {
    return kind != Kind::segment && kind != Kind::step;
}

std::uint32_t lane_track(const TraceEvent& e) {
    return (e.lane + 1U) * tracks_per_lane + (e.kind == Kind::step ? 1 + e.part : 0);
}

std::string in_quotes(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            result += '\\';
        }
        result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return result + '"';
}

/// "64 KiB", "1.5 MiB", "7 B".
std::string bytes_text(std::size_t bytes) {
    const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1024 && unit < 4; ++unit) {
        value /= 1024;
    }
    return short_decimal(value, 4) + " " + units[unit];
}

std::string step_text(const TraceEvent& e) {
    return "step " + std::to_string(e.step) + " of part " + std::to_string(e.part);
}

std::string port_text(const TraceEvent& e) {
    return to_string(Port{e.port});
}

std::string name_of(const TraceEvent& e) {
    const std::string peer = "rank " + std::to_string(e.peer);
    switch (e.kind) {
        case Kind::prepare:
            return std::string("prepare ") + e.text;
        case Kind::call:
            return e.text;
        case Kind::wait:
            return "wait";
        case Kind::put:
            return "put " + bytes_text(e.bytes) + " to " + peer + " through " + port_text(e);
        case Kind::arrival:
            return "arrival from " + peer + " through " + port_text(e);
        case Kind::copy:
            return "copy " + bytes_text(e.bytes);
        case Kind::reduce:
            return "reduce " + bytes_text(e.bytes);
        case Kind::joint:
            return "reduce two inputs of " + bytes_text(e.bytes);
        case Kind::pull:
            return "pull " + bytes_text(e.bytes) + " from " + peer;
        case Kind::segment:
            return "segment " + std::to_string(e.segment);
        case Kind::step:
            return step_text(e);
    }
    return "";
}

std::string_view category(Kind kind) {
    constexpr std::string_view names[] = {"prepare", "call",   "wait", "put",     "arrival", "copy",
                                          "reduce",  "reduce", "copy", "segment", "step"};
    return names[static_cast<std::size_t>(kind)];
}

std::string arguments(const TraceEvent& e) {
    const auto number = [](const char* name, auto value) {
        return std::string("\"") + name + "\":" + std::to_string(value);
    };
    std::string text;
    if (e.kind >= Kind::put && e.kind <= Kind::arrival) {
        text = number("peer", e.peer) + ",\"port\":" + in_quotes(port_text(e)) + "," +
               number("segment", e.segment) + ",\"step\":" + in_quotes(step_text(e));
    } else if (e.kind == Kind::step) {
        text = number("segment", e.segment);
    }
    if (e.kind != Kind::arrival && e.kind >= Kind::put && e.kind <= Kind::pull) {
        text += (text.empty() ? "" : ",") + number("bytes", e.bytes);
    }
    return text;
}

/// Alike at both ends of a message, and below 2^53 so that readers keep every digit.
std::uint64_t flow_number(Rank from, Rank to, Port leaves, const TraceEvent& e) {
    std::uint64_t hash = 0;
    for (const std::uint64_t part :
         {static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to),
          static_cast<std::uint64_t>(leaves.index), std::uint64_t{e.of}, e.segment,
          static_cast<std::uint64_t>(e.message)}) {
        hash = (hash ^ part) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 29;
    }
    return hash >> 12;
}

class Writer {
  public:
    Writer(std::ostream& out, Rank rank) : out_(out), rank_(std::to_string(rank)), own_(rank) {}

    void name(const std::string& what, std::uint32_t track, const std::string& text) {
        line("{\"ph\":\"M\",\"pid\":" + rank_ + ",\"tid\":" + std::to_string(track) +
             ",\"name\":" + in_quotes(what) + ",\"args\":{\"name\":" + in_quotes(text) + "}}");
    }
    void order(const std::string& what, std::uint32_t track, std::int64_t place) {
        line("{\"ph\":\"M\",\"pid\":" + rank_ + ",\"tid\":" + std::to_string(track) + ",\"name\":" +
             in_quotes(what) + ",\"args\":{\"sort_index\":" + std::to_string(place) + "}}");
    }
    void event(const TraceEvent& e, std::uint32_t track) {
        line("{\"ph\":\"X\"," + place(track, e.begin) +
             ",\"dur\":" + microseconds(e.end - e.begin) + ",\"name\":" + in_quotes(name_of(e)) +
             ",\"cat\":" + in_quotes(category(e.kind)) + ",\"args\":{" + arguments(e) + "}}");
        if (e.kind == Kind::put) {
            flow("\"ph\":\"s\"", flow_number(own_, e.peer, Port{e.port}, e), track, e.begin);
        } else if (e.kind == Kind::arrival) {
            const Port leaves = Port{e.port}.opposite();
            flow("\"ph\":\"f\",\"bp\":\"e\"", flow_number(e.peer, own_, leaves, e), track, e.begin);
        }
    }
    void dropped(std::uint64_t events, std::uint32_t track, std::int64_t when) {
        line("{\"ph\":\"i\",\"s\":\"t\"," + place(track, when) +
             ",\"name\":" + in_quotes(std::to_string(events) + " earlier events were dropped") +
             ",\"cat\":\"dropped\",\"args\":{\"events\":" + std::to_string(events) + "}}");
    }
    void end() { out_ << (first_ ? "[" : "") << "\n]\n"; }

  private:
    static std::string microseconds(std::int64_t nanoseconds) {
        char text[32];
        std::snprintf(text, sizeof text, "%lld.%03d", static_cast<long long>(nanoseconds / 1000),
                      static_cast<int>(nanoseconds % 1000));
        return text;
    }
    std::string place(std::uint32_t track, std::int64_t when) const {
        return "\"pid\":" + rank_ + ",\"tid\":" + std::to_string(track) +
               ",\"ts\":" + microseconds(when);
    }
    void flow(const char* end, std::uint64_t number, std::uint32_t track, std::int64_t when) {
        line(std::string("{") + end + "," + place(track, when) +
             ",\"name\":\"message\",\"cat\":\"message\",\"id\":" + std::to_string(number) + "}");
    }
    void line(const std::string& text) {
        out_ << (first_ ? "[\n" : ",\n") << text;
        first_ = false;
    }

    std::ostream& out_;
    std::string rank_;
    Rank own_;
    bool first_ = true;
};

/// In the order in which readers nest them: by beginning, what contains another one first.
std::vector<const TraceEvent*> ordered(const TraceRing& ring) {
    std::vector<const TraceEvent*> events(ring.kept());
    for (std::size_t i = 0; i < events.size(); ++i) {
        events[i] = &ring[i];
    }
    std::sort(events.begin(), events.end(), [](const TraceEvent* a, const TraceEvent* b) {
        return a->begin != b->begin ? a->begin < b->begin : a->end > b->end;
    });
    return events;
}

}  // namespace

bool Trace::write() const {
    std::ofstream out(file_);
    Writer writer(out, options_.rank);
    writer.name("process_name", 0,
                "rank " + std::to_string(options_.rank) + " on " + options_.host);
    writer.order("process_sort_index", 0, options_.rank);
    std::set<std::uint32_t> lanes;
    for (std::size_t w = 0; w < rings_.size(); ++w) {
        const auto track = static_cast<std::uint32_t>(w + 1);
        writer.name("thread_name", track, options_.workers[w]);
        writer.order("thread_sort_index", track, track);
        const std::vector<const TraceEvent*> events = ordered(rings_[w]);
        if (rings_[w].dropped() > 0) {
            writer.dropped(rings_[w].dropped(), track, events.front()->begin);
        }
        for (const TraceEvent* e : events) {
            writer.event(*e, is_of_worker(e->kind) ? track : lane_track(*e));
            if (!is_of_worker(e->kind) && lanes.insert(lane_track(*e)).second) {
                const std::string place = ", place " + std::to_string(e->lane);
                writer.name(
                    "thread_name", lane_track(*e),
                    (e->kind == Kind::segment ? "segments" : "part " + std::to_string(e->part)) +
                        place);
                writer.order("thread_sort_index", lane_track(*e), lane_track(*e));
            }
        }
    }
    writer.end();
    return static_cast<bool>(out.flush());
}

}  // namespace trefoil
