// SPDX-License-Identifier: BSD-3-Clause
// A 3-D FFT distributed by pencils: FFTW for the lines, Trefoil for the transposes between them.
//
//   fft3d [NX NY NZ [REPETITIONS]]     any sizes, any number of ranks; default 48 40 36 5
//
// The ranks form a grid of rows and columns: a torus of two dimensions as it is, else as square as
// possible. First a rank has whole lines in x, of a share of y (by row) and a share of z (by
// column); then, after a transpose within its column of the grid, whole lines in y; after one
// within its row, whole lines in z. A transpose is one alltoallv in which most blocks are empty.
// Each rank compares its part with a transform of the whole that it computes alone, and transforms
// back.
#include <fftw3.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <trefoil/trefoil.hpp>
#include <vector>

namespace {

using Number = std::complex<double>;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

fftw_complex* fftw(std::vector<Number>& values) {
    return reinterpret_cast<fftw_complex*>(values.data());
}

/// The part of n that share `index` of `shares` has: [first, end).
struct Share {
    Share(std::size_t n, std::size_t index, std::size_t shares)
        : first(n * index / shares), end(n * (index + 1) / shares) {}
    std::size_t size() const { return end - first; }
    std::size_t first, end;
};

/// The ranks as rows and columns.
struct Grid {
    explicit Grid(const trefoil::Comm& comm) : rank(comm.rank()), places(comm.size()) {
        const int ranks = comm.size();
        const std::vector<int> torus = comm.torus();
        const bool as_it_is = torus.size() == 2;
        rows = as_it_is ? torus[0] : static_cast<int>(std::sqrt(ranks));
        while (ranks % rows != 0) {
            --rows;
        }
        columns = ranks / rows;
        for (int r = 0; r < ranks; ++r) {
            const std::vector<int> place =
                as_it_is ? comm.coordinates(r) : std::vector{r / columns, r % columns};
            places[r] = {place[0], place[1]};
        }
        row = places[rank][0];
        column = places[rank][1];
    }

    int rank = 0, rows = 1, columns = 1, row = 0, column = 0;
    std::vector<std::array<int, 2>> places;  ///< row and column of each rank
};

/// Sizes of the whole, and what this rank has of it in each stage.
class Transform {
  public:
    Transform(const trefoil::Comm& comm, std::array<std::size_t, 3> n)
        : comm_(comm.handle()),
          grid_(comm),
          n_(n),
          x_(n[0], grid_.row, grid_.rows),
          y_by_row_(n[1], grid_.row, grid_.rows),
          y_by_column_(n[1], grid_.column, grid_.columns),
          z_(n[2], grid_.column, grid_.columns) {}

    /// Values in [z][y][x] of this rank's shares become spectra in [x][y][z].
    std::vector<Number> forward(std::vector<Number> in_x) {
        lines(in_x, n_[0], FFTW_FORWARD);
        std::vector<Number> in_y = x_to_y(in_x);
        lines(in_y, n_[1], FFTW_FORWARD);
        std::vector<Number> in_z = y_to_z(in_y);
        lines(in_z, n_[2], FFTW_FORWARD);
        return in_z;
    }

    /// The inverse, not scaled: the values times the number of points.
    std::vector<Number> backward(std::vector<Number> in_z) {
        lines(in_z, n_[2], FFTW_BACKWARD);
        std::vector<Number> in_y = z_to_y(in_z);
        lines(in_y, n_[1], FFTW_BACKWARD);
        std::vector<Number> in_x = y_to_x(in_y);
        lines(in_x, n_[0], FFTW_BACKWARD);
        return in_x;
    }

    const Grid& grid() const { return grid_; }
    const Share& x() const { return x_; }
    const Share& y_by_row() const { return y_by_row_; }
    const Share& y_by_column() const { return y_by_column_; }
    const Share& z() const { return z_; }
    double exchange_seconds() const { return exchange_seconds_; }

  private:
    /// All lines of length n, which lie one after the other.
    static void lines(std::vector<Number>& values, std::size_t n, int direction) {
        if (values.empty()) {
            return;
        }
        const int length = static_cast<int>(n);
        const int count = static_cast<int>(values.size() / n);
        fftw_plan plan =
            fftw_plan_many_dft(1, &length, count, fftw(values), nullptr, 1, length, fftw(values),
                               nullptr, 1, length, direction, FFTW_ESTIMATE);
        fftw_execute(plan);
        fftw_destroy_plan(plan);
    }

    /// One transpose. visit_out(q, take) calls take(index) for each element of `from` that goes to
    /// the q-th rank of this row or column, in the order in which visit_in(q, put) calls put(index)
    /// there. `peers` are the ranks of the row or column.
    template <typename VisitOut, typename VisitIn>
    std::vector<Number> transpose(const std::vector<Number>& from, std::size_t size, bool in_column,
                                  VisitOut&& visit_out, VisitIn&& visit_in) {
        const std::size_t ranks = grid_.places.size();
        std::vector<std::size_t> send_counts(ranks), send_at(ranks), recv_counts(ranks),
            recv_at(ranks);
        std::vector<Number> send, recv(size), to(size);
        send.reserve(from.size());
        std::size_t received = 0;
        for (std::size_t r = 0; r < ranks; ++r) {
            const auto [row, column] = grid_.places[r];
            if (in_column ? column != grid_.column : row != grid_.row) {
                continue;
            }
            const std::size_t q = in_column ? row : column;
            send_at[r] = send.size();
            visit_out(q, [&](std::size_t index) { send.push_back(from[index]); });
            send_counts[r] = send.size() - send_at[r];
            recv_at[r] = received;
            visit_in(q, [&](std::size_t) { ++received; });
            recv_counts[r] = received - recv_at[r];
        }
        const auto begin = Clock::now();
        trefoil::check(trefoil_alltoallv(send.data(), send_counts.data(), send_at.data(),
                                         recv.data(), recv_counts.data(), recv_at.data(),
                                         TREFOIL_COMPLEX_DOUBLE, comm_));
        exchange_seconds_ += seconds_since(begin);
        for (std::size_t r = 0; r < ranks; ++r) {
            if (recv_counts[r] > 0) {
                const auto [row, column] = grid_.places[r];
                const Number* next = recv.data() + recv_at[r];
                visit_in(in_column ? row : column, [&](std::size_t index) { to[index] = *next++; });
            }
        }
        return to;
    }

    Share x_of(std::size_t row) const { return {n_[0], row, static_cast<std::size_t>(grid_.rows)}; }
    Share y_of_row(std::size_t row) const {
        return {n_[1], row, static_cast<std::size_t>(grid_.rows)};
    }
    Share y_of_column(std::size_t column) const {
        return {n_[1], column, static_cast<std::size_t>(grid_.columns)};
    }
    Share z_of(std::size_t column) const {
        return {n_[2], column, static_cast<std::size_t>(grid_.columns)};
    }

    // Visits of the elements that stage X, [z][y][x], and stage Y, [z][x][y], share with the rank
    // in row q of this column; and stage Y and stage Z, [x][y][z], with that in column q of this
    // row.
    template <typename Visit>
    void in_x(const Share& x, Visit&& visit) const {
        for (std::size_t z = 0; z < z_.size(); ++z) {
            for (std::size_t y = 0; y < y_by_row_.size(); ++y) {
                for (std::size_t i = x.first; i < x.end; ++i) {
                    visit((z * y_by_row_.size() + y) * n_[0] + i);
                }
            }
        }
    }
    template <typename Visit>
    void in_y_from_x(const Share& y, Visit&& visit) const {
        for (std::size_t z = 0; z < z_.size(); ++z) {
            for (std::size_t j = y.first; j < y.end; ++j) {
                for (std::size_t x = 0; x < x_.size(); ++x) {
                    visit((z * x_.size() + x) * n_[1] + j);
                }
            }
        }
    }
    template <typename Visit>
    void in_y_from_z(const Share& y, Visit&& visit) const {
        for (std::size_t z = 0; z < z_.size(); ++z) {
            for (std::size_t x = 0; x < x_.size(); ++x) {
                for (std::size_t j = y.first; j < y.end; ++j) {
                    visit((z * x_.size() + x) * n_[1] + j);
                }
            }
        }
    }
    template <typename Visit>
    void in_z(const Share& z, Visit&& visit) const {
        for (std::size_t k = z.first; k < z.end; ++k) {
            for (std::size_t x = 0; x < x_.size(); ++x) {
                for (std::size_t y = 0; y < y_by_column_.size(); ++y) {
                    visit((x * y_by_column_.size() + y) * n_[2] + k);
                }
            }
        }
    }

    std::vector<Number> x_to_y(const std::vector<Number>& from) {
        return transpose(
            from, z_.size() * x_.size() * n_[1], true,
            [&](std::size_t q, auto&& take) { in_x(x_of(q), take); },
            [&](std::size_t q, auto&& put) { in_y_from_x(y_of_row(q), put); });
    }
    std::vector<Number> y_to_x(const std::vector<Number>& from) {
        return transpose(
            from, z_.size() * y_by_row_.size() * n_[0], true,
            [&](std::size_t q, auto&& take) { in_y_from_x(y_of_row(q), take); },
            [&](std::size_t q, auto&& put) { in_x(x_of(q), put); });
    }
    std::vector<Number> y_to_z(const std::vector<Number>& from) {
        return transpose(
            from, x_.size() * y_by_column_.size() * n_[2], false,
            [&](std::size_t q, auto&& take) { in_y_from_z(y_of_column(q), take); },
            [&](std::size_t q, auto&& put) { in_z(z_of(q), put); });
    }
    std::vector<Number> z_to_y(const std::vector<Number>& from) {
        return transpose(
            from, z_.size() * x_.size() * n_[1], false,
            [&](std::size_t q, auto&& take) { in_z(z_of(q), take); },
            [&](std::size_t q, auto&& put) { in_y_from_z(y_of_column(q), put); });
    }

    trefoil_comm_t comm_;
    Grid grid_;
    std::array<std::size_t, 3> n_;
    Share x_, y_by_row_, y_by_column_, z_;
    double exchange_seconds_ = 0;
};

/// The input anywhere in the whole: no symmetry that could hide a wrong place.
Number value(std::size_t x, std::size_t y, std::size_t z) {
    const double a = static_cast<double>(x * 7 + y * 131 + z * 1009);
    return {std::sin(a * a * 1e-3), std::cos(a * 0.37)};
}

struct Errors {
    double forward = 0, backward = 0;
};

/// Against a transform of the whole by one process, and against the input.
Errors check(Transform& transform, std::array<std::size_t, 3> n, const std::vector<Number>& input) {
    std::vector<Number> whole(n[0] * n[1] * n[2]);  // [x][y][z]
    for (std::size_t x = 0; x < n[0]; ++x) {
        for (std::size_t y = 0; y < n[1]; ++y) {
            for (std::size_t z = 0; z < n[2]; ++z) {
                whole[(x * n[1] + y) * n[2] + z] = value(x, y, z);
            }
        }
    }
    fftw_plan plan =
        fftw_plan_dft_3d(static_cast<int>(n[0]), static_cast<int>(n[1]), static_cast<int>(n[2]),
                         fftw(whole), fftw(whole), FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    const std::vector<Number> spectrum = transform.forward(input);
    Errors errors;
    std::size_t next = 0;
    for (std::size_t x = transform.x().first; x < transform.x().end; ++x) {
        for (std::size_t y = transform.y_by_column().first; y < transform.y_by_column().end; ++y) {
            for (std::size_t z = 0; z < n[2]; ++z) {
                const Number expected = whole[(x * n[1] + y) * n[2] + z];
                errors.forward = std::max(errors.forward, std::abs(spectrum[next++] - expected));
            }
        }
    }
    const std::vector<Number> back = transform.backward(spectrum);
    const auto points = static_cast<double>(whole.size());
    for (std::size_t i = 0; i < input.size(); ++i) {
        errors.backward = std::max(errors.backward, std::abs(back[i] / points - input[i]));
    }
    errors.forward /= std::sqrt(points);
    return errors;
}

std::size_t number(const char* text) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (*end != '\0' || value < 1 || value > 4096) {
        std::fprintf(stderr,
                     "fft3d: \"%s\" is no number from 1 to 4096\n"
                     "usage: fft3d [NX NY NZ [REPETITIONS]]\n",
                     text);
        std::exit(2);
    }
    return static_cast<std::size_t>(value);
}

int run(std::array<std::size_t, 3> n, std::size_t repetitions) {
    trefoil::Comm comm;
    Transform transform(comm, n);
    std::vector<Number> input;
    for (std::size_t z = transform.z().first; z < transform.z().end; ++z) {
        for (std::size_t y = transform.y_by_row().first; y < transform.y_by_row().end; ++y) {
            for (std::size_t x = 0; x < n[0]; ++x) {
                input.push_back(value(x, y, z));
            }
        }
    }
    const Errors errors = check(transform, n, input);
    std::array<double, 4> worst{errors.forward, errors.backward, 0, 0};
    const double exchanged_before = transform.exchange_seconds();
    comm.barrier();
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < repetitions; ++i) {
        transform.forward(input);
    }
    const auto each = static_cast<double>(repetitions);
    worst[2] = seconds_since(begin) / each;
    worst[3] = (transform.exchange_seconds() - exchanged_before) / each;
    trefoil::check(trefoil_allreduce(TREFOIL_IN_PLACE, worst.data(), worst.size(), TREFOIL_DOUBLE,
                                     TREFOIL_MAX, comm.handle()));
    const bool right = worst[0] < 1e-12 && worst[1] < 1e-12;
    if (comm.rank() == 0) {
        const Grid& grid = transform.grid();
        std::printf(
            "%zux%zux%zu on %dx%d ranks: error %.1e forward, %.1e and back: %s\n"
            "a forward transform takes %.3f ms, its two exchanges %.3f ms of that\n",
            n[0], n[1], n[2], grid.rows, grid.columns, worst[0], worst[1],
            right ? "right" : "WRONG", 1e3 * worst[2], 1e3 * worst[3]);
    }
    comm.barrier();  // nobody needs this rank any more
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
    std::array<std::size_t, 3> n{48, 40, 36};
    std::size_t repetitions = 5;
    for (int i = 1; i < argc; ++i) {
        (i <= 3 ? n[i - 1] : repetitions) = number(argv[i]);
    }
    try {
        return run(n, repetitions);
    } catch (const trefoil::CallFailed& error) {
        std::fprintf(stderr, "%s: %s\n", trefoil_status_string(error.status()), error.what());
        return EXIT_FAILURE;
    }
}
