// SPDX-License-Identifier: BSD-3-Clause
// Reports in words and as JSON.
#include "comm/status/report.hpp"

#include "topo/decimals.hpp"

namespace trefoil {

namespace {

std::string seconds_idle(std::chrono::milliseconds time) {
    return fixed_decimal(std::chrono::duration<double>(time).count(), 1);
}

std::string text_of(const CallReport& call) {
    std::string text = "  call " + std::to_string(call.number) + ", " + call.text + ": ";
    const bool moves = call.segments > 0;
    if (moves && call.started == 0) {
        return text + "waits for the calls before it\n";
    }
    text += moves
                ? "segment " + std::to_string(call.started) + " of " + std::to_string(call.segments)
                : "";
    const char* separator = moves ? "; waits for " : "waits for ";
    for (const Missing& missing : call.missing) {
        text += separator + trefoil::text_of(missing);
        separator = ", ";
    }
    const char* const own =
        moves ? "; waits for its own puts to leave\n" : "waits for its own words to leave\n";
    return text + (call.missing.empty() ? own : "\n");
}

// JSON, by hand: the library links nothing for it.

std::string in_quotes(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            result += '\\';
        }
        result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return result + '"';
}

template <typename Value>
std::string field(const char* name, const Value& value) {
    std::string text = "\"" + std::string(name) + "\":";
    if constexpr (std::is_same_v<Value, bool>) {
        return text + (value ? "true" : "false");
    } else if constexpr (std::is_arithmetic_v<Value>) {
        return text + std::to_string(value);
    } else {
        return text + in_quotes(value);
    }
}

template <typename Values, typename ToText>
std::string list(const char* name, const Values& values, ToText&& to_text) {
    std::string text = "\"" + std::string(name) + "\":[";
    const char* separator = "";
    for (const auto& value : values) {
        text += separator + to_text(value);
        separator = ",";
    }
    return text + "]";
}

std::string json_of(const Missing& missing) {
    const char* const kinds[] = {"message", "room", "connection", "word"};
    return "{" + field("for", std::string(kinds[static_cast<int>(missing.kind)])) + "," +
           field("rank", missing.peer) + "," + field("port", to_string(missing.port)) + "," +
           field("part", missing.part) + "," + field("step", missing.step) + "," +
           field("bytes", missing.bytes) + "}";
}

std::string json_of(const CallReport& call) {
    return "{" + field("call", call.number) + "," +
           field("signature", std::to_string(call.signature)) + "," + field("what", call.text) +
           "," + field("by_some", call.by_some) + "," + field("segments", call.segments) + "," +
           field("started", call.started) + "," +
           list("waits", call.missing, [](const Missing& missing) { return json_of(missing); }) +
           "}";
}

std::string json_of(const CommunicatorReport& report) {
    return "{" + field("number", std::to_string(report.number)) + "," + field("rank", report.rank) +
           "," + field("torus", report.torus) + "," +
           list("members", report.members, [](Rank rank) { return std::to_string(rank); }) + "," +
           field("calls_made", report.made) + "," + field("failure", report.failure) + "," +
           field("idle_ms", report.idle.count()) + "," +
           list("calls", report.calls, [](const CallReport& call) { return json_of(call); }) + "}";
}

}  // namespace

std::string text_of(const CommunicatorReport& report) {
    std::string text = "communicator of " + std::to_string(report.members.size()) + " ranks (" +
                       report.torus + "), rank " + std::to_string(report.rank) + ": " +
                       std::to_string(report.made) + " calls made, " +
                       std::to_string(report.calls.size()) + " in flight";
    if (report.idle.count() >= 0 && !report.calls.empty()) {
        text += "; nothing has moved for " + seconds_idle(report.idle) + " s";
    }
    text += "\n";
    if (!report.failure.empty()) {
        text += "  it has failed: " + report.failure + "\n";
    }
    for (const CallReport& call : report.calls) {
        text += text_of(call);
    }
    return text;
}

std::string text_of(const RankReport& report) {
    std::string text = "rank " + std::to_string(report.rank) + " of " +
                       std::to_string(report.ranks) + ", process " +
                       std::to_string(report.process) + " on host " + report.host + ": " +
                       (report.inside ? "inside Trefoil" : "not inside Trefoil") + "\n";
    if (!report.looked) {
        text +=
            "what its calls wait for is unknown: the thread that works for them is held up, "
            "perhaps in a function of the program\n";
    }
    for (const CommunicatorReport& communicator : report.communicators) {
        text += text_of(communicator);
    }
    return text;
}

std::string json_of(const RankReport& report) {
    return "{" + field("rank", report.rank) + "," + field("ranks", report.ranks) + "," +
           field("host", report.host) + "," + field("process", report.process) + "," +
           field("inside", report.inside) + "," + field("looked", report.looked) + "," +
           list("communicators", report.communicators,
                [](const CommunicatorReport& one) { return json_of(one); }) +
           "," + list("addresses", report.addresses, in_quotes) + "}";
}

}  // namespace trefoil
