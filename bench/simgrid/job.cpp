// SPDX-License-Identifier: BSD-3-Clause
// Reads a job from lines of words.
#include "bench/simgrid/job.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>

namespace trefoil::simgrid_engine {

namespace {

bool read_way(std::istringstream& words, Job& job) {
    Way way;
    words >> way.from >> way.to;
    for (std::size_t link = 0; words >> link;) {
        way.links.push_back(link);
    }
    const bool known = std::ranges::all_of(
        way.links, [&](const std::size_t link) { return link < job.rates.size(); });
    job.ways.push_back(way);
    return known && !way.links.empty() && std::max(way.from, way.to) < job.ranks &&
           std::min(way.from, way.to) >= 0;
}

bool read_message(std::istringstream& words, Job& job) {
    Message message;
    words >> message.from >> message.to >> message.part >> message.step >> message.delay;
    std::pair<std::size_t, double> way;
    while (words >> way.first >> way.second) {
        message.ways.push_back(way);
    }
    const bool known = std::ranges::all_of(message.ways, [&](const auto& one) {
        return one.first < job.ways.size() && job.ways[one.first].from == message.from &&
               job.ways[one.first].to == message.to && one.second >= 0;
    });
    job.messages.push_back(message);
    return known && !message.ways.empty() && message.part < job.parts && message.step < job.steps &&
           message.delay >= 0;
}

bool read_line(const std::string& line, Job& job) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "job") {
        words >> job.ranks >> job.parts >> job.steps >> job.step_sync;
        return !words.fail() && job.ranks > 0;
    }
    if (kind == "link") {
        job.rates.emplace_back();
        words >> job.rates.back();
        return !words.fail() && job.rates.back() > 0;
    }
    return kind == "way" ? read_way(words, job) : kind == "message" && read_message(words, job);
}

}  // namespace

Job read_job(std::istream& input) {
    Job job;
    for (std::string line; std::getline(input, line);) {
        if (!read_line(line, job)) {
            throw std::invalid_argument("\"" + line + "\" is not a line of a job");
        }
    }
    if (job.ranks == 0) {
        throw std::invalid_argument("the job says nothing of its ranks");
    }
    return job;
}

}  // namespace trefoil::simgrid_engine
