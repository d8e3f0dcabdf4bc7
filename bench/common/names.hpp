// SPDX-License-Identifier: BSD-3-Clause
// Names that users type: types, operations, backends, byte counts; and lists of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "algorithms/schedule/algorithm.hpp"
#include "threads/kernels/reduce.hpp"

namespace trefoil::tool {

// Each throws Error(not_found or invalid_argument) that offers the nearest names.
DataType parse_datatype(std::string_view name);
Operation parse_operation(std::string_view name);
void check_backend(std::string_view name);

/// "memory, utofu, ofi, ucx": all that there are, for help texts.
std::string backend_names();

/// "8", "4K", "1M", "1Mi", "2G": suffixes are powers of 1024. Throws Error(invalid_argument).
std::size_t parse_size(std::string_view text);

/// "1M" for 1048576, "1000" for 1000: what parse_size reads.
std::string size_text(std::size_t size);

/// "a,b,c" -> a, b, c. Throws Error(invalid_argument) on an empty entry.
std::vector<std::string> split_list(std::string_view text);

/// "latency, identical results, ..."
std::string traits_text(const Algorithm& algorithm);

}  // namespace trefoil::tool
