// SPDX-License-Identifier: BSD-3-Clause
// Who asks what this rank does, and what it says.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "comm/communicator/world.hpp"
#include "topo/host.hpp"
#include "topo/log/log.hpp"
#include "topo/patience.hpp"

namespace trefoil {

namespace {

constexpr std::string_view to_the_log = "log";

std::string hex(std::uint64_t number) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
    return text;
}

/// Readable by this user alone: who has the address may ask.
void write_address(const std::string& file, const std::string& address) {
    const Descriptor out(
        open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    const std::string line = address + "\n";
    if (!out.is_open() || fchmod(out.number(), S_IRUSR | S_IWUSR) != 0 ||
        write(out.number(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        throw Error(Status::system_error,
                    "TREFOIL_TELL: cannot write '" + file + "': " + std::strerror(errno));
    }
}

}  // namespace

void World::begin_to_tell() {
    if (settings_.dump.empty() && settings_.tell.empty()) {
        return;
    }
    Teller::Options options;
    options.signal = settings_.dump.empty() ? 0 : signal_named(settings_.dump);
    options.listens = !settings_.tell.empty();
    options.to_all_hosts = !job_->on_one_host();
    options.host = host_name();
    options.key = hex(session_.proof("status"));
    teller_ = std::make_unique<Teller>(
        std::move(options), [this] { return report(); }, log_);
}

/// Each rank knows all addresses: whoever is asked says where the others are.
void World::publish_address() {
    if (settings_.tell.empty()) {
        return;
    }
    std::vector<std::string> all =
        agreement_.allgather("status", [this] { return teller_->address(); });
    {
        const std::lock_guard lock(addresses_mutex_);
        addresses_ = std::move(all);
    }
    agreement_.for_all("the address of the status", [this] {
        if (rank() != 0) {
            return;
        }
        if (settings_.tell == to_the_log) {
            log_->write(LogLevel::warning, LogTopic::setup,
                        "`trefoil info --job " + teller_->address() + "` shows what this job does");
        } else {
            write_address(settings_.tell, teller_->address());
            wrote_address_ = true;
        }
    });
}

void World::end_telling() noexcept {
    teller_.reset();
    if (wrote_address_) {
        (void)unlink(settings_.tell.c_str());
    }
}

RankReport World::report() {
    RankReport report;
    report.rank = rank();
    report.ranks = ranks();
    report.host = host_name();
    report.process = static_cast<int>(getpid());
    report.inside = has_somebody_inside();
    {
        const std::lock_guard lock(addresses_mutex_);
        report.addresses = addresses_;
    }
    registry_.look([&](const auto& look) {
        const Engine::Exclusive held(*engine_,
                                     std::chrono::steady_clock::now() + patience().longest_look);
        report.looked = held.holds();
        if (report.looked) {
            report.communicators = look();
        }
    });
    return report;
}

}  // namespace trefoil
