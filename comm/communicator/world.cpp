// SPDX-License-Identifier: BSD-3-Clause
// How the ranks of a job meet, stage by stage, and how they part.
#include "comm/communicator/world.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "backend/faults/faulty_group.hpp"
#include "backend/registry/transports.hpp"
#include "backend/system/kernel_copies.hpp"
#include "comm/setup/build_identity.hpp"
#include "comm/setup/configuration.hpp"
#include "comm/setup/nodes.hpp"
#include "comm/setup/set_up_text.hpp"
#include "comm/setup/timeline.hpp"
#include "threads/executor/handshake.hpp"
#include "topo/blob.hpp"
#include "topo/fabric.hpp"
#include "topo/host.hpp"
#include "topo/log/log.hpp"
#include "topo/own_thread.hpp"
#include "topo/patience.hpp"

namespace trefoil {

namespace {

/// No wait where ranks met is as long.
constexpr std::chrono::hours longest_together{24};

std::string single_copy_text(bool here, const PeerAccess& access, bool gains) {
    const std::string text =
        gains ? "all ranks read each other's memory: single copy is possible"
        : access.vectors
            ? "single copy by name only: the kernel copies at less than half the speed of "
              "the processor"
        : here ? "no single copy: another rank does not get at all its peers' memory"
               : "no single copy: this rank does not get at all its peers' memory";
    return text + (access.images ? "; they may show images in shared memory" : "");
}

/// What a rank tells of its connections, a letter each: it has them all; it gets at all peers'
/// memory; that is fast, as far as rank 0 knows already; it shows images.
enum Told : std::size_t { told_connected, told_reach, told_fast, told_images, told_letters };
constexpr char yes = 'y', no = 'n', unknown = '?';

char letter(bool is_so) {
    return is_so ? yes : no;
}

std::string told_of_connections(Rank rank, Reach reach, bool shows) {
    const std::optional<bool> fast =
        reach == Reach::addresses ? std::optional(true) : kernel_copies_known();
    std::string told(told_letters, yes);
    told[told_reach] = letter(reach != Reach::none);
    told[told_fast] = rank == 0 && fast ? letter(*fast) : unknown;
    told[told_images] = letter(shows);
    return told;
}

bool all_say_yes(const std::vector<std::string>& told, Told place) {
    return std::ranges::all_of(told, [&](const auto& one) { return one[place] == yes; });
}

/// Threads of one process reach each other's memory by its addresses.
std::vector<bool> ranks_of_this_process(const Job& job) {
    const RankProcess& own = job.process(job.rank());
    std::vector<bool> here;
    for (const RankProcess& process : job.processes()) {
        here.push_back(own.is_same_process(process));
    }
    return here;
}

template <typename T>
std::vector<T> by_position(const TorusMap& map, const std::vector<T>& by_rank) {
    std::vector<T> ordered;
    for (const Rank rank : map.rank_at) {
        ordered.push_back(by_rank[static_cast<std::size_t>(rank)]);
    }
    return ordered;
}

/// Only those who asked for threads can mend it, and one line per process is enough.
void warn_of_oversubscription(const Placement& placement) {
    static std::atomic_flag said;
    if (!placement.oversubscription.empty() && !said.test_and_set()) {
        log_warning(LogTopic::setup, [&] {
            return placement.oversubscription +
                   "; TREFOIL_PORT_THREADS asked for them: threads that wait for a core slow the "
                   "others down";
        });
    }
}

}  // namespace

World::World(Settings settings, std::unique_ptr<Bootstrap> bootstrap,
             const std::optional<Error>& refusal)
    : settings_(std::move(settings)),
      bootstrap_(std::move(bootstrap)),
      log_(std::make_shared<Log>(settings_.log, bootstrap_->rank())),
      agreement_(*bootstrap_),
      gatherings_([this](Rank to, std::uint64_t tag, std::string_view text) {
          engine_->say(to, port_towards(to), tag, as_letter(Topic::gathering, text));
      }) {
    const LogScope scope(log_);
    try {
        set_up(refusal);
        log_set_up();
    } catch (const std::exception& error) {
        const auto* const known = dynamic_cast<const Error*>(&error);
        const Blame blame = (known != nullptr ? known->blame() : Blame()).or_of(rank());
        abandon(Error(known != nullptr ? known->status() : Status::internal,
                      "rank " + std::to_string(rank()) + ": " + error.what(), blame));
        clean_up_after_the_dead();
        if (known != nullptr) {
            throw Error(known->status(), known->what(), blame);
        }
        throw;
    }
}

/// What can fail on one rank alone is done inside the stages.
void World::set_up(const std::optional<Error>& refusal) {
    Introductions introductions = meet(refusal);
    const auto proposals = propose_ports(introductions);
    auto cards = agreement_.allgather("ports", [&] {
        ports_->compare(proposals);
        if (settings_.links != LinksBy::given) {
            describe(with_port_links(fabric(), by_position(geometry_.map, ports_->take_links())),
                     "the NICs");
        }
        open_ports();
        return own_card();
    });
    if (ranks() > 1) {
        shake_hands(std::move(cards));
    }
    publish_address();
}

World::~World() {
    const LogScope scope(log_);
    end_telling();
    user_memory_.reset();
    engine_->end();
    if (timeline_) {
        write_timeline(*timeline_, rank(), settings_.trace_events);
    }
    if (in_disorder_) {
        clean_up_after_the_dead();
    }
}

// What others still need of this rank goes on meanwhile, in a thread of its own: where the ranks
// met is asked in the calling one, as a caller's allgather wants it.
void World::together(const std::string& stage, const std::function<void()>& work) {
    const std::lock_guard lock(bootstrap_mutex_);
    std::atomic<bool> over{false};
    std::jthread driver;
    const struct AtEnd {
        std::atomic<bool>& over;
        ~AtEnd() { over = true; }
    } at_end{over};
    agreement_.for_all(stage, [&] {
        if (!settings_.progress) {
            driver = start_thread<std::jthread>([&] {
                engine_->drive_until([&] { return over.load(); },
                                     std::chrono::steady_clock::now() + longest_together);
            });
        }
        work();
    });
}

void World::abandon(const Error& error) noexcept {
    const std::lock_guard lock(bootstrap_mutex_);
    in_disorder_ = true;
    bootstrap_->abandon(error);
}

/// Nobody else may come to do it.
void World::clean_up_after_the_dead() const noexcept {
    try {
        const Transport* const transport = registered_transport(settings_.backend);
        if (!job_ || transport == nullptr || transport->clean_up_after == nullptr) {
            return;
        }
        for (const ProcessNews& process : job_->look_at_processes()) {
            if (process.state == ProcessNews::State::ended) {
                transport->clean_up_after(job_->process(process.rank).pid);
            }
        }
    } catch (const std::exception&) {  // the next job on this host does it
    }
}

/// Who the ranks are, and that they are configured alike.
World::Introductions World::meet(const std::optional<Error>& refusal) {
    Introductions introductions;
    const auto told = agreement_.allgather("configuration", [&] {
        if (refusal) {
            throw Error(*refusal);
        }
        if (!settings_.hostfile.empty()) {
            introductions.host_file = read_host_file(settings_.hostfile);
        }
        const bool is_to_be_made = settings_.learn && !std::filesystem::exists(settings_.tuning);
        if (!settings_.tuning.empty() && !is_to_be_made) {
            settings_.tuning_file =
                std::make_shared<const TuningFile>(read_tuning_file(settings_.tuning));
        }
        BlobWriter mine;
        mine.text(build_identity());  // first, as only ranks of one build understand the rest
        mine.text(text_to_compare(settings_, introductions.host_file, ranks()));
        RankProcess process = this_process();
        process.coordinates = settings_.coordinates;
        mine.text(encode(process));
        mine.text(Session::contribution());
        const Outcome sample = ranks() > 1 ? take_sample(introductions.own_sample) : Outcome{};
        mine.number(sample.status);
        mine.text(sample.text);
        return mine.bytes();
    });
    std::vector<BlobReader> blobs(told.begin(), told.end());
    std::vector<std::string> builds, texts;
    for (BlobReader& blob : blobs) {
        builds.push_back(blob.text());
    }
    require_same_build(builds);
    for (BlobReader& blob : blobs) {
        texts.push_back(blob.text());
        introductions.processes.push_back(blob.text());
        introductions.contributions += blob.text();
        const auto status = blob.number<Status>();
        introductions.samples.push_back({status, blob.text()});
    }
    require_agreement(texts, "the configuration");
    return introductions;
}

/// Where the ranks are in the torus, and what follows from it for the settings.
void World::take_place(const Introductions& introductions) {
    std::vector<RankProcess> processes;
    for (const std::string& process : introductions.processes) {
        processes.push_back(decode_process(process));
    }
    session_ = Session(introductions.contributions);
    if (asks_for_places(settings_, Job(rank(), processes, introductions.why_no_memory))) {
        const auto told = agreement_.allgather("places in the machine",
                                               [&] { return place_in_machine(settings_); });
        for (std::size_t r = 0; r < told.size(); ++r) {
            processes[r].place = decode_place(told[r]);
        }
    }
    job_.emplace(rank(), std::move(processes), introductions.why_no_memory);
    const std::string text = job_->namesakes_text();
    if (rank() == 0 && !text.empty() && introductions.why_no_memory.empty()) {
        log_warning(LogTopic::setup, [&] { return text; });
    }
    geometry_ = first_geometry(
        make_torus_map(torus_request(settings_, introductions.host_file, *job_), ranks()));
    require_nodes(geometry_.map, *job_);
    if (rank() == 0 && geometry_.map.has_free_places) {
        log_warning(LogTopic::setup, [&] {
            return "the network is " + geometry_.map.torus.name() +
                   ": no rank has the coordinates of the nodes that are missing";
        });
    }
    complete(settings_, *job_, geometry_.map.torus);
    in_this_process_ = ranks_of_this_process(*job_);
}

/// Checks the settings of this rank; returns what follows for its ports.
std::string World::choose_ports() {
    const Torus& torus = geometry_.map.torus;
    settle_port_threads(torus, settings_);
    ports_.emplace(*job_, geometry_.map, settings_);
    timeline_ = begin_timeline(settings_, ports_->groups(), rank());
    return ports_->proposal();
}

void World::open_ports() {
    ports_->place();
    if (rank() == 0) {
        for (const std::string& message : unknown_variables()) {
            log_warning(LogTopic::setup, [&] { return message; });
        }
        if (settings_.port_threads > 0) {
            warn_of_oversubscription(ports_->placement());
        }
    }
    Engine::Groups open;
    if (ranks() > 1) {
        auto groups = open_backend(settings_.backend, ports_->backend_config());
        if (ports_->groups().has_inside) {
            auto inside = open_backend(default_transport(true).name, ports_->inside_config());
            std::ranges::move(inside, std::back_inserter(groups));
        }
        if (settings_.faults) {
            log_warning(LogTopic::setup,
                        [] { return std::string("TREFOIL_FAULTS injects faults, for tests"); });
            groups = with_faults(std::move(groups), *settings_.faults, rank());
        }
        open.assign(std::make_move_iterator(groups.begin()), std::make_move_iterator(groups.end()));
        provider_ = open[0]->traits().provider;
        if (settings_.checksums && open[0]->traits().notification_bits < 64) {
            throw Error(Status::unsupported,
                        "TREFOIL_CHECKSUM=1: provider " + provider_ +
                            " carries 32 bits with a message, too few for a checksum; choose "
                            "another one (`trefoil info` lists them)");
        }
    }
    const int threads = ports_->groups().threads;
    port_threads_ = settings_.port_threads_by == PortThreadsBy::openmp
                        ? PortThreads::openmp(threads)
                        : std::make_unique<PortThreads>(threads, ports_->placement().cores);
    engine_ =
        std::make_unique<Engine>(std::move(open), Engine::Member{rank(), ranks()}, *port_threads_,
                                 ports_->placement().may_spin, settings_.progress);
    user_memory_ = std::make_unique<UserMemory>(*engine_);
    begin_to_tell();
    engine_->on_letter([this](Rank from, Port, std::uint64_t tag, std::string_view text) {
        hear(from, tag, text);
    });
}

/// What the others must know of this rank's ports.
std::string World::own_card() const {
    Card card = engine_->card();
    card.host = host_name();
    return encode(card);
}

/// Whether every cable is in its place, and whether ranks read each other's memory.
void World::shake_hands(std::vector<std::string> cards) {
    std::optional<Handshake> handshake;
    std::vector<std::string> told;  // by rank: told_of_connections()
    std::string found_here;
    bool complete = false;
    const auto go_on = [&](std::chrono::milliseconds longest) {
        if (!handshake) {
            engine_->meet(std::make_shared<const Cards>(std::move(cards)),
                          [this](std::string_view text) { return session_.proof(text); });
            // Half: the verdict is agreed upon within the other half.
            handshake.emplace(
                *engine_, neighbours_of(geometry_, rank()),
                Handshake::Options{ports_->placement().may_spin,
                                   std::min(settings_.timeout / 2, patience().longest_greeting),
                                   settings_.progress,
                                   [this](Rank peer) { return !job_->in_one_network_with(peer); }});
            handshake->begin();
        }
        complete = complete || handshake->greet_for(longest);
        found_here = complete ? std::string() : handshake->missing_text();
        return complete;
    };
    try {
        auto longest = patience().first_ask;
        for (bool connected = false; !connected;) {
            told = agreement_.allgather("connections", [&] {
                try {
                    const bool shows = std::ranges::all_of(
                        engine_->groups(),
                        [](const auto& group) { return group->images() != nullptr; });
                    return go_on(longest) ? told_of_connections(rank(), handshake->reach(), shows)
                                          : std::string(told_letters, no);
                } catch (const Error& error) {
                    found_here = error.what();
                    throw;
                }
            });
            connected = all_say_yes(told, told_connected);
            longest = std::min(2 * longest, patience().longest_ask);
        }
    } catch (const Error& error) {
        if (found_here.empty() || error.blame().finder == rank()) {
            throw;
        }
        throw Error(error.status(),
                    std::string(error.what()) + "; this rank has found: " + found_here,
                    error.blame());
    }
    if (offers_single_copy(settings_)) {
        const bool here = handshake->reach() != Reach::none;
        const bool all = all_say_yes(told, told_reach);
        peer_access_ = {all, all_say_yes(told, told_images)};
        if (peer_access_.any()) {
            read_places_.open();
        }
        // All are on one host, so rank 0 measures for all, undisturbed by the others, which wait.
        const char fast = told[0][told_fast];
        single_copy_gains_ =
            all && (fast != unknown ? fast == yes
                                    : agreement_.all_say_yes("the speed of single copy", [&] {
                                          return rank() != 0 || kernel_copies_are_fast();
                                      }));
        log_info(LogTopic::choice,
                 [&] { return single_copy_text(here, peer_access_, single_copy_gains_); });
    }
}

void World::reserve_landing(std::size_t bytes_each,
                            const std::vector<std::pair<Rank, Port>>& neighbours) {
    const Engine::Exclusive held(*engine_);
    for (std::size_t g = 0; g < engine_->groups().size(); ++g) {
        const std::vector<Port>& ports = engine_->groups()[g]->ports();
        const auto channels =
            static_cast<std::size_t>(std::ranges::count_if(neighbours, [&](const auto& neighbour) {
                return neighbour.first != rank() &&
                       std::ranges::find(ports, neighbour.second) != ports.end();
            }));
        if (channels > 0) {
            LandingArena& arena = engine_->links(g).arena();
            arena.give_back(arena.take(channels * LandingArena::aligned(bytes_each)));
        }
    }
}

/// What people ask first when a job is slower than they had thought.
void World::log_set_up() const {
    log_info(LogTopic::setup, [&] {
        return "Trefoil " + build_identity() + ", rank " + std::to_string(rank()) + " of " +
               std::to_string(ranks()) + ", process " + std::to_string(getpid()) + " on host " +
               host_name();
    });
    log_info(LogTopic::setup, [&] { return place_text(geometry_.map, rank()); });
    if (const std::string why = why_no_nodes(geometry_.map, *job_); !why.empty()) {
        log_info(LogTopic::setup, [&] { return why; });
    }
    log_info(LogTopic::transport, [&] {
        return "backend " + settings_.backend + (provider_.empty() ? "" : ", provider ") +
               provider_ + nics_text(geometry_.map.torus, *ports_);
    });
    log_info(LogTopic::setup, [&] { return threads_text(settings_, *ports_); });
    log_info(LogTopic::setup, [&] {
        const Agreement::Traffic& traffic = agreement_.traffic();
        const auto& cards = engine_->cards();
        return "sent the other ranks " + std::to_string(traffic.told) + " bytes in " +
               std::to_string(traffic.allgathers) + " allgathers and received " +
               std::to_string(traffic.heard) + " bytes from all; keeps cards of " +
               std::to_string(cards != nullptr ? cards->bytes() : 0) + " bytes";
    });
}

}  // namespace trefoil
