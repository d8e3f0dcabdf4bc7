// SPDX-License-Identifier: BSD-3-Clause
// The syntax of TREFOIL_MPI.
#include "mpi/switches.hpp"

#include <optional>
#include <stdexcept>

namespace trefoil::mpi {

namespace {

std::string names() {
    std::string text;
    for (const KindTraits& row : kind_rows) {
        text += (text.empty() ? "" : ", ") + std::string(row.name);
    }
    return text;
}

[[noreturn]] void refuse(std::string_view item, const std::string& why) {
    throw std::invalid_argument("'" + std::string(item) + "' " + why);
}

SizeRange range_of(std::string_view item, std::string_view text) {
    const std::optional<SizeRange> range = parse_size_range(text);
    if (!range || range->is_reversed()) {
        refuse(item, "has no valid range of bytes: give " + std::string(size_range_syntax));
    }
    return *range;
}

}  // namespace

Switches::Switches(std::string_view text) {
    if (text.empty() || text == "on") {
        take_all();
        return;
    }
    if (text == "off") {
        return;
    }
    const bool negated = text.front() == '^';
    if (negated) {
        text.remove_prefix(1);
        take_all();
    }
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        add(text.substr(begin, end - begin), negated);
        begin = end + 1;
    }
}

void Switches::take_all() {
    for (Sizes& sizes : sizes_) {
        sizes.taken = {SizeRange{}};
    }
}

void Switches::add(std::string_view item, bool negated) {
    const std::size_t colon = item.find(':');
    const std::string_view name = item.substr(0, colon);
    const auto found = std::ranges::find(kind_rows, name, &KindTraits::name);
    if (found == kind_rows.end()) {
        refuse(item, item.starts_with('^')
                         ? "has a '^' inside the list; one at the front negates all of it"
                         : "names no collective; give on, off, or some of: " + names());
    }
    SizeRange range;
    if (colon != std::string_view::npos) {
        if (!found->size_is_shared) {
            refuse(item, "cannot have a range of bytes: not all ranks know the size of a " +
                             std::string(name));
        }
        range = range_of(item, item.substr(colon + 1));
    }
    Sizes& sizes = sizes_[index(found->kind)];
    if (!negated) {
        sizes.taken.push_back(range);
    } else if (range == SizeRange{}) {
        sizes.taken.clear();
    } else {
        sizes.left.push_back(range);
    }
}

}  // namespace trefoil::mpi
