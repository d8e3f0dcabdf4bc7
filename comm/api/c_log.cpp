// SPDX-License-Identifier: BSD-3-Clause
// The C interface's way to say something.
#include "comm/api/c_log.hpp"

#include <string>

#include "comm/api/c_guard.hpp"

static_assert(static_cast<int>(trefoil::LogLevel::report) == TREFOIL_LOG_REPORT);
static_assert(static_cast<int>(trefoil::LogLevel::debug) == TREFOIL_LOG_DEBUG);

extern "C" trefoil_status_t trefoil_log(trefoil_log_level_t level, const char* topic,
                                        const char* text) {
    using namespace trefoil::c_api;
    return guarded([&] {
        require(level >= TREFOIL_LOG_REPORT && level <= TREFOIL_LOG_DEBUG,
                "the level is none of TREFOIL_LOG_...");
        require(topic != nullptr && text != nullptr, "the topic or the text is NULL");
        const auto about = trefoil::log_topic_named(topic);
        if (!about) {
            refuse("there is no topic \"" + std::string(topic) + "\" of the log; there are " +
                   trefoil::log_topics_text());
        }
        trefoil::log(static_cast<trefoil::LogLevel>(level), *about,
                     [&] { return std::string_view(text); });
    });
}
