// SPDX-License-Identifier: BSD-3-Clause
// Settles on a real node what could only be inferred about uTofu. See docs/fugaku.md.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace trefoil::utofu {

/// Tells question and answer, one by one, so that an end of the process loses only what follows:
/// the questions that might end it come last. Uses two network interfaces of this node, or the one
/// that there is, and no other process; takes some seconds. Throws what the library refuses.
void probe(const std::function<void(std::string_view, const std::string&)>& tell);

}  // namespace trefoil::utofu
