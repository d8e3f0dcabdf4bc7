// SPDX-License-Identifier: BSD-3-Clause
// The syntax of TREFOIL_LOG and TREFOIL_LOG_FILE.
#include "topo/log/log_request.hpp"

#include <algorithm>
#include <iterator>

#include "topo/error.hpp"
#include "topo/variable.hpp"

namespace trefoil {

namespace {

template <typename Names>
std::string list_of(const Names& names, std::size_t first) {
    std::string text;
    for (std::size_t i = first; i < names.size(); ++i) {
        text += (text.empty() ? "" : ", ") + std::string(names[i]);
    }
    return text;
}

[[noreturn]] void refuse_word(std::string_view word, const std::string& why) {
    throw Error(Status::invalid_argument, "\"" + std::string(word) + "\" " + why);
}

LogLevel level_named(std::string_view name) {
    // "report" cannot be asked for: it is always there.
    const auto* const found =
        std::find(std::next(log_level_names.begin()), log_level_names.end(), name);
    if (found == log_level_names.end()) {
        refuse_word(name, "is not a level of the log; there are " + list_of(log_level_names, 1) +
                              ", and topics may follow: info,choice,transport");
    }
    return static_cast<LogLevel>(found - log_level_names.begin());
}

LogTopic topic_named(std::string_view name) {
    const auto topic = log_topic_named(name);
    if (!topic) {
        refuse_word(name, "is not a topic of the log; there are " + log_topics_text());
    }
    return *topic;
}

/// Adds the variable's name to what `read` throws.
template <typename Read>
void read_variable(const char* name, Read&& read) {
    const auto value = environment_variable(name);
    if (!value) {
        return;
    }
    try {
        read(*value);
    } catch (const Error& error) {
        throw Error(error.status(),
                    std::string(name) + "=" + *value + " is not valid: " + error.what());
    }
}

}  // namespace

std::optional<LogTopic> log_topic_named(std::string_view name) {
    const auto* const found = std::find(log_topic_names.begin(), log_topic_names.end(), name);
    return found == log_topic_names.end()
               ? std::nullopt
               : std::optional(static_cast<LogTopic>(found - log_topic_names.begin()));
}

std::string log_topics_text() {
    return list_of(log_topic_names, 0);
}

LogMask parse_log(std::string_view text) {
    const std::size_t comma = text.find(',');
    const LogLevel level = level_named(text.substr(0, comma));
    if (comma == std::string_view::npos) {
        return LogMask::up_to(level);
    }
    LogMask mask = LogMask::up_to(LogLevel::warning);
    for (std::size_t begin = comma + 1; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        mask.add(level, topic_named(text.substr(begin, end - begin)));
        begin = end + 1;
    }
    return mask;
}

void check_log_file(std::string_view pattern) {
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') {
            continue;
        }
        if (i + 1 == pattern.size() ||
            std::string_view("rph%").find(pattern[i + 1]) == std::string_view::npos) {
            refuse_word(pattern.substr(i, 2),
                        "stands for nothing; give %r (rank), %p (process), %h (host) or %%");
        }
        ++i;
    }
}

LogRequest log_request_from_environment() {
    LogRequest request;
    read_variable("TREFOIL_LOG",
                  [&](const std::string& value) { request.wanted = parse_log(value); });
    read_variable("TREFOIL_LOG_FILE", [&](const std::string& value) {
        check_log_file(value);
        request.file = value;
    });
    return request;
}

}  // namespace trefoil
