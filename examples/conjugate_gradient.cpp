// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients whose dot products are on their way while the matrix is applied.
//
//   conjugate_gradient [N]     N x N unknowns, at least one row for each rank; default 96
//
// The equation is Poisson's on a square, -laplace u = f, with five points. Each rank has some rows
// of the square. The method is the pipelined one of Ghysels and Vanroose (Parallel Computing 40,
// 2014): one allreduce of two numbers per iteration, which nothing needs until the matrix has been
// applied. It is the same call each time, so it is made once (a persistent request) and started in
// each iteration. So is the exchange of the rows at the edge with the ranks above and below.
//
// The right side is made from a known solution, so each rank can check its rows.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <trefoil/trefoil.hpp>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

/// Counts what is spent inside Trefoil.
class Collectives {
  public:
    template <typename Call>
    void operator()(Call&& call) {
        const auto begin = Clock::now();
        trefoil::check(call());
        seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
    }
    double seconds() const { return seconds_; }

  private:
    double seconds_ = 0;
};

/// This rank's rows of an N x N square, and the matrix that works on them.
class Rows {
  public:
    Rows(std::size_t n, const trefoil::Comm& comm, Collectives& collectives)
        : n_(n),
          rank_(static_cast<std::size_t>(comm.rank())),
          ranks_(static_cast<std::size_t>(comm.size())),
          first_(n * rank_ / ranks_),
          count_(n * (rank_ + 1) / ranks_ - first_),
          collectives_(collectives),
          counts_(ranks_),
          send_at_(ranks_),
          recv_at_(ranks_),
          edge_(2 * n),
          halo_(2 * n) {
        if (rank_ > 0) {
            counts_[rank_ - 1] = n;
        }
        if (rank_ + 1 < ranks_) {
            counts_[rank_ + 1] = n;
            send_at_[rank_ + 1] = recv_at_[rank_ + 1] = n;
        }
        collectives_([&] {
            return trefoil_alltoallv_init(edge_.data(), counts_.data(), send_at_.data(),
                                          halo_.data(), counts_.data(), recv_at_.data(),
                                          TREFOIL_DOUBLE, comm.handle(), &exchange_);
        });
    }
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;
    ~Rows() { trefoil_request_free(&exchange_); }

    std::size_t size() const { return count_ * n_; }
    std::size_t first() const { return first_; }

    /// to = A from. The edge rows are exchanged while the rows between them are computed.
    void apply(const std::vector<double>& from, std::vector<double>& to) {
        std::copy_n(from.begin(), n_, edge_.begin());
        std::copy_n(from.end() - static_cast<std::ptrdiff_t>(n_), n_,
                    edge_.begin() + static_cast<std::ptrdiff_t>(n_));
        collectives_([&] { return trefoil_start(&exchange_); });
        for (std::size_t row = 1; row + 1 < count_; ++row) {
            apply_row(row, &from[(row - 1) * n_], &from[(row + 1) * n_], from, to);
        }
        collectives_([&] { return trefoil_wait(&exchange_); });
        const double* const above = halo_.data();  // zero at the top of the square
        const double* const below = halo_.data() + n_;
        apply_row(0, above, count_ > 1 ? &from[n_] : below, from, to);
        if (count_ > 1) {
            apply_row(count_ - 1, &from[(count_ - 2) * n_], below, from, to);
        }
    }

  private:
    void apply_row(std::size_t row, const double* above, const double* below,
                   const std::vector<double>& from, std::vector<double>& to) const {
        const double* const here = &from[row * n_];
        double* const out = &to[row * n_];
        for (std::size_t i = 0; i < n_; ++i) {
            const double left = i > 0 ? here[i - 1] : 0;
            const double right = i + 1 < n_ ? here[i + 1] : 0;
            out[i] = 4 * here[i] - left - right - above[i] - below[i];
        }
    }

    std::size_t n_;
    std::size_t rank_, ranks_, first_, count_;
    Collectives& collectives_;
    std::vector<std::size_t> counts_, send_at_, recv_at_;  ///< to and from the rank above and below
    std::vector<double> edge_, halo_;
    trefoil_request_t exchange_ = TREFOIL_REQUEST_NULL;
};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

/// to = from + factor * to
void scale_and_add(const std::vector<double>& from, double factor, std::vector<double>& to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] = from[i] + factor * to[i];
    }
}

/// to = to + factor * from
void add(double factor, const std::vector<double>& from, std::vector<double>& to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] += factor * from[i];
    }
}

/// Solves A x = b from x = 0; returns the iterations that the residual took to shrink to
/// `tolerance` of what it was.
int solve(Rows& matrix, const std::vector<double>& b, double tolerance, std::vector<double>& x,
          const trefoil::Comm& comm, Collectives& collectives) {
    // Ghysels and Vanroose, algorithm 3. r is the residual; w = A r, s = A p, z = A s, q = A w.
    std::vector<double> r = b, w(b.size()), q(b.size()), p(b.size()), s(b.size()), z(b.size());
    matrix.apply(r, w);
    std::array<double, 2> mine{}, sums{};
    trefoil_request_t dots = TREFOIL_REQUEST_NULL;
    collectives([&] {
        return trefoil_allreduce_init(mine.data(), sums.data(), mine.size(), TREFOIL_DOUBLE,
                                      TREFOIL_SUM, comm.handle(), &dots);
    });
    double first = 0, gamma_before = 0, alpha = 0;
    int iteration = 0;
    for (constexpr int most = 10'000; iteration < most; ++iteration) {
        mine = {dot(r, r), dot(w, r)};
        collectives([&] { return trefoil_start(&dots); });
        matrix.apply(w, q);
        collectives([&] { return trefoil_wait(&dots); });
        // All ranks have the same bits here, so all end in the same iteration.
        const auto [gamma, delta] = sums;
        first = iteration == 0 ? gamma : first;
        if (gamma <= tolerance * tolerance * first) {
            break;
        }
        const double beta = iteration == 0 ? 0 : gamma / gamma_before;
        alpha = iteration == 0 ? gamma / delta : gamma / (delta - beta * gamma / alpha);
        gamma_before = gamma;
        scale_and_add(q, beta, z);
        scale_and_add(w, beta, s);
        scale_and_add(r, beta, p);
        add(alpha, p, x);
        add(-alpha, s, r);
        add(-alpha, z, w);
    }
    collectives([&] { return trefoil_request_free(&dots); });
    return iteration;
}

}  // namespace

int main(int count, char** arguments) {
    try {
        trefoil::Comm comm;  // rank, number of ranks and torus: from the launcher
        const std::size_t n = count > 1 ? std::stoul(arguments[1]) : 96;
        if (n < static_cast<std::size_t>(comm.size())) {
            std::fprintf(stderr, "%zu rows are too few for %d ranks\n", n, comm.size());
            return EXIT_FAILURE;
        }
        Collectives collectives;
        Rows matrix(n, comm, collectives);
        std::vector<double> exact(matrix.size()), b(matrix.size()), x(matrix.size());
        const auto place = [n](std::size_t i) {
            return static_cast<double>(i + 1) / static_cast<double>(n + 1);
        };
        for (std::size_t i = 0; i < exact.size(); ++i) {
            const double down = place(matrix.first() + i / n), right = place(i % n);
            exact[i] = down * (1 - down) * std::sin(3 * right) * (1 - right) * std::exp(down);
        }
        matrix.apply(exact, b);
        comm.barrier();
        const auto begin = Clock::now();
        const double before = collectives.seconds();
        const int iterations = solve(matrix, b, 1e-10, x, comm, collectives);
        const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();

        std::array<double, 3> worst{0, (collectives.seconds() - before) / seconds, seconds};
        for (std::size_t i = 0; i < exact.size(); ++i) {
            worst[0] = std::max(worst[0], std::abs(x[i] - exact[i]));
        }
        double share = worst[1];
        comm.allreduce(std::span(worst), TREFOIL_MAX);  // in place
        comm.allreduce(std::span(&share, 1), TREFOIL_AVG);
        const bool right = worst[0] < 1e-8;
        if (comm.rank() == 0) {
            std::printf(
                "%d ranks, %zu x %zu unknowns: %d iterations in %.3f s, error %.1e: %s\n"
                "in collectives: %.0f %% of the ranks' time on average, %.0f %% at most\n",
                comm.size(), n, n, iterations, worst[2], worst[0], right ? "right" : "WRONG",
                100 * share, 100 * worst[1]);
        }
        comm.barrier();  // nobody needs this rank any more
        return right ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return EXIT_FAILURE;
    }
}
