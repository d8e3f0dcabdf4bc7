// SPDX-License-Identifier: BSD-3-Clause
// The files of bench/player/page, which the build puts into the command (embed.cmake).
#pragma once

#include <string_view>

namespace trefoil::tool {

std::string_view page_frame();   ///< player.html
std::string_view page_style();   ///< player.css
std::string_view page_script();  ///< the .js files, one after the other

}  // namespace trefoil::tool
