// SPDX-License-Identifier: BSD-3-Clause
// Asks the launchers that are in PATH what they are, and looks for the component and the layers.
#include "bench/info/mpi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "bench/common/own_program.hpp"

namespace trefoil::tool {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view component_name = "mca_coll_trefoil.so";

/// What a command prints, with an end after a few seconds; empty if there is no such command.
std::string output_of(const std::string& command) {
    std::string text;
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
        popen(("timeout 10 " + command + " 2>/dev/null").c_str(), "r"), pclose);
    std::array<char, 4096> chunk{};
    for (std::size_t got = 0;
         pipe && (got = std::fread(chunk.data(), 1, chunk.size(), pipe.get())) > 0;) {
        text.append(chunk.data(), got);
    }
    return text;
}

/// The word after the first `before`.
std::string word_after(const std::string& text, std::string_view before) {
    const std::size_t at = text.find(before);
    if (at == std::string::npos) {
        return {};
    }
    const std::size_t first = text.find_first_not_of(' ', at + before.size());
    return first == std::string::npos
               ? std::string()
               : text.substr(first, text.find_first_of(" \n", first) - first);
}

std::optional<fs::path> in_path(std::string_view name) {
    const char* const path = std::getenv("PATH");
    std::string_view rest = path == nullptr ? "" : path;
    while (!rest.empty()) {
        const std::string_view folder = rest.substr(0, rest.find(':'));
        rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
        std::error_code error;
        if (!folder.empty() && fs::exists(fs::path(folder) / name, error)) {
            return fs::path(folder) / name;
        }
    }
    return std::nullopt;
}

std::optional<fs::path> first_with(const std::vector<fs::path>& folders, const std::string& name) {
    for (const fs::path& folder : folders) {
        std::error_code error;
        if (fs::exists(folder / name, error)) {
            return fs::canonical(folder / name, error);
        }
    }
    return std::nullopt;
}

struct Launcher {
    std::string name, version;
    bool openmpi = false;
};

/// Debian names them apart; elsewhere there is one.
std::vector<Launcher> launchers() {
    std::vector<Launcher> found;
    for (const char* const name : {"mpirun.openmpi", "mpiexec.hydra", "mpirun", "mpiexec"}) {
        if (!in_path(name)) {
            continue;
        }
        const std::string said = output_of(std::string(name) + " --version");
        const bool openmpi =
            said.find("Open MPI") != std::string::npos || said.find("OpenRTE") != std::string::npos;
        const bool hydra = said.find("HYDRA") != std::string::npos;
        const std::string version = openmpi ? word_after(said, ")") : word_after(said, "Version:");
        const bool known = std::any_of(found.begin(), found.end(), [&](const Launcher& one) {
            return one.openmpi == openmpi && one.version == version;
        });
        if ((openmpi || hydra) && !known) {
            found.push_back({name, version, openmpi});
        }
    }
    return found;
}

nlohmann::ordered_json entry(const Launcher& launcher, const char* kind) {
    return {{"kind", kind},
            {"version", launcher.version},
            {"launcher", launcher.name},
            {"what", ""},
            {"path", ""},
            {"use", ""},
            {"problem", ""}};
}

/// How a job is told where the component lies. Open MPI 5's ranks are told themselves, and always:
/// Debian 13's mpirun gives them a path of its own, in which Open MPI's usual folders are not.
std::string way_to(const fs::path& folder, bool is_5) {
    return (is_5 ? "env OMPI_MCA_mca_base_component_path=" : "--mca mca_base_component_path ") +
           folder.string() + ":SYSTEM_DEFAULT ";
}

nlohmann::ordered_json of_openmpi(const Launcher& launcher, const MpiPlaces& places) {
    nlohmann::ordered_json all = entry(launcher, "Open MPI");
    const std::string run = launcher.name + " -n RANKS ";
    const bool is_5 = launcher.version.starts_with("5.0.");
    const auto usual = first_with(places.found_by_openmpi, std::string(component_name));
    const auto found = usual ? usual : first_with(places.components, std::string(component_name));
    if (!is_5 && !launcher.version.starts_with("4.1.")) {
        all["problem"] = "Trefoil's component is for Open MPI 4.1 and 5.0";
    } else if (usual && !is_5) {
        all["what"] = "component, which every job has";
        all["path"] = found->string();
        all["use"] = run;
    } else if (found) {
        all["what"] = "component";
        all["path"] = found->string();
        all["use"] = run + way_to(found->parent_path(), is_5);
    } else if (const auto layer = first_with(places.layers, "libtrefoil_mpi_openmpi.so")) {
        all["what"] = "layer, which sees C programs alone";
        all["path"] = layer->string();
        all["use"] = run + "-x LD_PRELOAD=" + layer->string() + " ";
    } else {
        all["problem"] = std::string(component_name) + " is not installed";
    }
    return all;
}

nlohmann::ordered_json of_mpich(const Launcher& launcher, const MpiPlaces& places) {
    nlohmann::ordered_json all = entry(launcher, "MPICH");
    if (const auto layer = first_with(places.layers, "libtrefoil_mpi_mpich.so")) {
        all["what"] = "layer";
        all["path"] = layer->string();
        all["use"] = launcher.name + " -n RANKS -genv LD_PRELOAD " + layer->string() + " ";
    } else {
        all["problem"] = "libtrefoil_mpi_mpich.so is not installed";
    }
    return all;
}

/// Programs that were compiled by `mpicc_abi`, of whichever MPI that is.
nlohmann::ordered_json of_abi(const fs::path& compiler, const MpiPlaces& places) {
    const std::string launcher = (compiler.parent_path() / "mpiexec").string();
    nlohmann::ordered_json all = entry({launcher, "1"}, "MPI's standard ABI");
    std::error_code error;
    if (!fs::exists(launcher, error)) {
        all["problem"] = "there is no such launcher";
    } else if (const auto layer = first_with(places.layers, "libtrefoil_mpi_abi.so")) {
        all["what"] = "layer";
        all["path"] = layer->string();
        all["use"] = launcher + " -n RANKS env LD_PRELOAD=" + layer->string() + " ";
    } else {
        all["problem"] = "libtrefoil_mpi_abi.so is not installed";
    }
    return all;
}

}  // namespace

MpiPlaces mpi_places() {
    MpiPlaces places;
    if (const char* const home = std::getenv("HOME")) {
        places.found_by_openmpi.push_back(fs::path(home) / ".openmpi/components");
    }
    std::string own = output_of("ompi_info --path pkglibdir --parsable");
    own = own.substr(own.rfind(':') + 1);
    if (!own.empty()) {
        places.found_by_openmpi.emplace_back(own.substr(0, own.find('\n')));
    }
    // In a build's folder the command lies beside mpi/.
    const fs::path here = own_program().parent_path();
    const fs::path libraries = here.parent_path() / TREFOIL_TOOL_LIBDIR;
    places.layers = {libraries, here.parent_path() / "mpi"};
    places.components = {libraries / "openmpi", here.parent_path() / "mpi/component"};
    return places;
}

nlohmann::ordered_json found_mpis(const MpiPlaces& places) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Launcher& launcher : launchers()) {
        all.push_back(launcher.openmpi ? of_openmpi(launcher, places) : of_mpich(launcher, places));
    }
    if (const auto compiler = in_path("mpicc_abi")) {
        all.push_back(of_abi(*compiler, places));
    }
    return all;
}

void print_mpis(const nlohmann::ordered_json& mpis) {
    if (mpis.empty()) {
        fmt::print("No launcher of Open MPI or MPICH is in PATH.\n");
    }
    for (const auto& one : mpis) {
        const auto text = [&one](const char* key) { return one[key].get<std::string>(); };
        fmt::print("{} {}, by {}\n", text("kind"), text("version"), text("launcher"));
        if (text("use").empty()) {
            fmt::print("  not by Trefoil: {}\n", text("problem"));
        } else {
            fmt::print("  {}: {}\n  {}./app\n", text("what"), text("path"), text("use"));
        }
    }
}

}  // namespace trefoil::tool
