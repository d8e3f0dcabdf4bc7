// SPDX-License-Identifier: BSD-3-Clause
// A neural network trained by several ranks, with the gradients of several layers in flight.
//
//   data_parallel [WIDTH [STEPS]]     default 64 40
//
// Every rank has the whole network and its own share of each batch. The gradients of the layers are
// known one after the other, the last layer's first. Each is a bucket, whose average over the ranks
// begins at once (an allreduce in flight) while the gradient of the layer below is computed. The
// step ends when all buckets have come.
//
// The network is trained twice: so, and with a blocking allreduce per layer. Both must give the
// same bits, on all ranks. The first steps are compared with a training on one rank with the whole
// batch, and the loss must have shrunk at the end.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <trefoil/trefoil.hpp>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Vector = std::vector<double>;

constexpr std::size_t samples_per_rank = 16, inputs = 8, outputs = 4, layers = 5;
constexpr double rate = 0.05;
constexpr int compared_steps = 3;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// A layer's weights, row by row, each row followed by its bias.
struct Layer {
    Layer(std::size_t from, std::size_t to) : in(from), out(to), weights(out * (in + 1)) {}
    std::size_t in, out;
    Vector weights;
};

std::vector<Layer> network(std::size_t width, unsigned seed) {
    std::vector<Layer> made;
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < layers; ++i) {
        made.emplace_back(i == 0 ? inputs : width, i + 1 == layers ? outputs : width);
        const double scale = 1 / std::sqrt(static_cast<double>(made.back().in));
        for (double& weight : made.back().weights) {
            // Not std::normal_distribution, which libraries may draw differently.
            weight = scale * (static_cast<double>(random() % 20001) / 10000 - 1);
        }
    }
    return made;
}

/// Samples, and what each layer makes of them: activations[l] is what goes into layer l.
struct Batch {
    std::size_t samples = 0;
    std::array<Vector, layers + 1> activations;
};

void forward(const std::vector<Layer>& net, Batch& batch) {
    for (std::size_t l = 0; l < layers; ++l) {
        const Layer& layer = net[l];
        Vector& to = batch.activations[l + 1];
        to.resize(batch.samples * layer.out);
        for (std::size_t s = 0; s < batch.samples; ++s) {
            const double* const from = &batch.activations[l][s * layer.in];
            for (std::size_t o = 0; o < layer.out; ++o) {
                const double* const row = &layer.weights[o * (layer.in + 1)];
                double sum = row[layer.in];
                for (std::size_t i = 0; i < layer.in; ++i) {
                    sum += row[i] * from[i];
                }
                to[s * layer.out + o] = l + 1 < layers ? std::tanh(sum) : sum;
            }
        }
    }
}

/// The samples of the ranks [first, end) in one step, and the answers of the teacher, which is a
/// network too.
Batch draw(const std::vector<Layer>& teacher, int step, int first, int end, Vector& answers) {
    Batch batch;
    batch.samples = samples_per_rank * static_cast<std::size_t>(end - first);
    for (int rank = first; rank < end; ++rank) {
        std::mt19937 random(static_cast<unsigned>(1000 * step + rank));
        for (std::size_t i = 0; i < samples_per_rank * inputs; ++i) {
            batch.activations[0].push_back(static_cast<double>(random() % 20001) / 10000 - 1);
        }
    }
    forward(teacher, batch);
    answers = batch.activations[layers];
    return batch;
}

double loss_of(const Batch& batch, const Vector& answers) {
    double sum = 0;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const double difference = batch.activations[layers][i] - answers[i];
        sum += difference * difference;
    }
    return sum / static_cast<double>(batch.samples);
}

/// Calls ready(l) as soon as gradients[l] is complete: the last layer's first.
template <typename Ready>
void backward(const std::vector<Layer>& net, const Batch& batch, const Vector& answers,
              std::vector<Vector>& gradients, Ready&& ready) {
    const double share = 2 / static_cast<double>(batch.samples);
    Vector error(answers.size());  // of what layer l gives, before tanh
    for (std::size_t i = 0; i < error.size(); ++i) {
        error[i] = share * (batch.activations[layers][i] - answers[i]);
    }
    for (std::size_t l = layers; l-- > 0;) {
        const Layer& layer = net[l];
        const Vector& input = batch.activations[l];
        std::fill(gradients[l].begin(), gradients[l].end(), 0.0);
        for (std::size_t s = 0; s < batch.samples; ++s) {
            for (std::size_t o = 0; o < layer.out; ++o) {
                const double e = error[s * layer.out + o];
                double* const row = &gradients[l][o * (layer.in + 1)];
                for (std::size_t i = 0; i < layer.in; ++i) {
                    row[i] += e * input[s * layer.in + i];
                }
                row[layer.in] += e;
            }
        }
        ready(l);
        Vector below(l > 0 ? batch.samples * layer.in : 0);
        for (std::size_t s = 0; l > 0 && s < batch.samples; ++s) {
            for (std::size_t o = 0; o < layer.out; ++o) {
                const double e = error[s * layer.out + o];
                for (std::size_t i = 0; i < layer.in; ++i) {
                    below[s * layer.in + i] += e * layer.weights[o * (layer.in + 1) + i];
                }
            }
            for (std::size_t i = 0; i < layer.in; ++i) {
                const double a = input[s * layer.in + i];
                below[s * layer.in + i] *= 1 - a * a;
            }
        }
        error = std::move(below);
    }
}

/// How the gradients of a step become the averages over all ranks.
enum class Way { in_flight, blocking, alone };

struct Result {
    std::vector<Layer> net;
    double first_loss = 0, last_loss = 0;
    double seconds = 0, in_collectives = 0;
};

/// With Way::alone this rank has the batches of all ranks, and speaks to nobody.
Result train(const trefoil::Comm& comm, std::size_t width, int steps, Way way) {
    const std::vector<Layer> teacher = network(width, 7);
    Result result{network(width, 1)};
    std::vector<Vector> gradients;
    for (const Layer& layer : result.net) {
        gradients.emplace_back(layer.weights.size());
    }
    const auto begin = Clock::now();
    const auto timed = [&](auto&& call) {
        const auto start = Clock::now();
        trefoil::check(call());
        result.in_collectives += seconds_since(start);
    };
    for (int step = 0; step < steps; ++step) {
        Vector answers;
        Batch batch = way == Way::alone
                          ? draw(teacher, step, 0, comm.size(), answers)
                          : draw(teacher, step, comm.rank(), comm.rank() + 1, answers);
        forward(result.net, batch);
        result.last_loss = loss_of(batch, answers);
        result.first_loss = step == 0 ? result.last_loss : result.first_loss;
        std::array<trefoil_request_t, layers> buckets{};
        backward(result.net, batch, answers, gradients, [&](std::size_t l) {
            Vector& bucket = gradients[l];
            if (way == Way::in_flight) {
                timed([&] {
                    return trefoil_iallreduce(TREFOIL_IN_PLACE, bucket.data(), bucket.size(),
                                              TREFOIL_DOUBLE, TREFOIL_AVG, comm.handle(),
                                              &buckets[l]);
                });
            } else if (way == Way::blocking) {
                timed([&] {
                    return trefoil_allreduce(TREFOIL_IN_PLACE, bucket.data(), bucket.size(),
                                             TREFOIL_DOUBLE, TREFOIL_AVG, comm.handle());
                });
            }
        });
        if (way == Way::in_flight) {
            timed([&] { return trefoil_waitall(static_cast<int>(layers), buckets.data()); });
        }
        for (std::size_t l = 0; l < layers; ++l) {
            for (std::size_t i = 0; i < gradients[l].size(); ++i) {
                result.net[l].weights[i] -= rate * gradients[l][i];
            }
        }
    }
    result.seconds = seconds_since(begin);
    return result;
}

double difference(const std::vector<Layer>& a, const std::vector<Layer>& b) {
    double most = 0;
    for (std::size_t l = 0; l < layers; ++l) {
        for (std::size_t i = 0; i < a[l].weights.size(); ++i) {
            most = std::max(most, std::abs(a[l].weights[i] - b[l].weights[i]));
        }
    }
    return most;
}

/// FNV-1a over the bits of all weights.
std::uint64_t fingerprint(const std::vector<Layer>& net) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const Layer& layer : net) {
        for (const double weight : layer.weights) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &weight, sizeof bits);
            hash = (hash ^ bits) * 0x100000001b3U;
        }
    }
    return hash;
}

bool all_alike(trefoil::Comm& comm, std::uint64_t mine) {
    std::array<std::uint64_t, 2> both{mine, ~mine};
    comm.allreduce(std::span(both), TREFOIL_MAX);
    return both[0] == mine && both[1] == ~mine;
}

}  // namespace

int main(int count, char** arguments) {
    try {
        trefoil::Comm comm;  // rank, number of ranks and torus: from the launcher
        const std::size_t width = count > 1 ? std::stoul(arguments[1]) : 64;
        const int steps = count > 2 ? std::stoi(arguments[2]) : 40;
        train(comm, width, 1, Way::blocking);  // the first calls connect the ranks
        comm.barrier();
        const Result flying = train(comm, width, steps, Way::in_flight);
        comm.barrier();
        const Result blocking = train(comm, width, steps, Way::blocking);
        const double error = difference(train(comm, width, compared_steps, Way::alone).net,
                                        train(comm, width, compared_steps, Way::in_flight).net);

        // All ranks make all these calls, whatever they have found.
        const bool same_everywhere = all_alike(comm, fingerprint(flying.net));
        const bool same_both_ways = all_alike(comm, fingerprint(blocking.net)) &&
                                    fingerprint(flying.net) == fingerprint(blocking.net);
        std::array<double, 5> worst{error, flying.last_loss / flying.first_loss, flying.seconds,
                                    blocking.seconds,
                                    same_everywhere && same_both_ways ? 0.0 : 1.0};
        std::array<double, 2> shares{flying.in_collectives / flying.seconds,
                                     blocking.in_collectives / blocking.seconds};
        comm.allreduce(std::span(worst), TREFOIL_MAX);
        comm.allreduce(std::span(shares), TREFOIL_AVG);
        const bool right = worst[0] < 1e-12 && worst[1] < 0.5 && worst[4] == 0;
        if (comm.rank() == 0) {
            std::printf(
                "%d ranks, %zu layers of width %zu, %d steps: loss shrinks to %.2f of what "
                "it was,\nerror against one rank %.1e, the same bits everywhere: %s\n"
                "buckets in flight: %.3f s, %.0f %% of it in collectives\n"
                "one after another: %.3f s, %.0f %%\n",
                comm.size(), layers, width, steps, worst[1], worst[0], right ? "right" : "WRONG",
                worst[2], 100 * shares[0], worst[3], 100 * shares[1]);
        }
        comm.barrier();  // nobody needs this rank any more
        return right ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return EXIT_FAILURE;
    }
}
