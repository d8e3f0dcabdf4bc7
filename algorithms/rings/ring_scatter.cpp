// SPDX-License-Identifier: BSD-3-Clause
// What all rings share: how their digits cut cells, and the ring seen in a mirror.
#include "algorithms/rings/ring_scatter.hpp"

namespace trefoil {

namespace {

/// What is at coordinate c of the mirror is at centre - c of the original.
class MirroredRing final : public RingScatter {
  public:
    MirroredRing(std::shared_ptr<const RingScatter> ring, Rank centre)
        : RingScatter(ring->size(), ring->steps(), ring->digits()),
          ring_(std::move(ring)),
          centre_(centre) {}

    void sends(Rank coordinate, int step, std::vector<RingTransfer>& out) const override {
        const std::size_t before = out.size();
        ring_->sends(reflect(coordinate), step, out);
        reflect_from(before, out);
    }
    void receives(Rank coordinate, int step, std::vector<RingTransfer>& out) const override {
        const std::size_t before = out.size();
        ring_->receives(reflect(coordinate), step, out);
        reflect_from(before, out);
    }
    std::vector<Extent> held(Rank coordinate, int step) const override {
        return ring_->held(reflect(coordinate), step);
    }
    void messages(int step, std::vector<RingMessage>& out) const override {
        const std::size_t before = out.size();
        ring_->messages(step, out);
        for (std::size_t i = before; i < out.size(); ++i) {
            RingMessage& m = out[i];
            m = {reflect(m.from), reflect(m.to), -m.sign, m.units};
        }
    }
    void amounts(int step, std::vector<std::int64_t>& out) const override {
        std::vector<std::int64_t> of_ring;
        ring_->amounts(step, of_ring);
        for (Rank c = 0; c < size(); ++c) {
            out.push_back(of_ring[static_cast<std::size_t>(reflect(c))]);
        }
    }
    void cut(Extent cell, int step, std::vector<Block>& sizes) const override {
        ring_->cut(cell, step, sizes);
    }

  private:
    Rank reflect(Rank coordinate) const {
        const Rank image = centre_ - coordinate;
        return image < 0 ? image + size() : image;
    }
    void reflect_from(std::size_t first, std::vector<RingTransfer>& transfers) const {
        for (std::size_t i = first; i < transfers.size(); ++i) {
            transfers[i].peer = reflect(transfers[i].peer);
            transfers[i].sign = -transfers[i].sign;
        }
    }

    std::shared_ptr<const RingScatter> ring_;
    Rank centre_;
};

}  // namespace

int shorter_way(Rank from, Rank to, Rank size) {
    const std::int64_t apart = static_cast<std::int64_t>(to) - from;
    const std::int64_t ahead = apart < 0 ? apart + size : apart;
    return 2 * ahead <= size ? 1 : -1;
}

void RingScatter::messages(int step, std::vector<RingMessage>& out) const {
    std::vector<RingTransfer> transfers;
    for (Rank c = 0; c < size(); ++c) {
        transfers.clear();
        sends(c, step, transfers);
        for (const RingTransfer& t : transfers) {
            if (const auto units = static_cast<std::int64_t>(block_count(t.positions)); units > 0) {
                out.push_back({c, t.peer, t.sign, units});
            }
        }
    }
}

void RingScatter::amounts(int step, std::vector<std::int64_t>& out) const {
    for (Rank c = 0; c < size(); ++c) {
        out.push_back(static_cast<std::int64_t>(block_count(held(c, step))));
    }
}

void RingScatter::cut(Extent cell, int step, std::vector<Block>& sizes) const {
    Block pieces = 1;
    if (digits_.size() == static_cast<std::size_t>(steps_)) {
        pieces = static_cast<Block>(digits_[step]);
    } else if (step == 0) {
        pieces = cell.count;
    }
    sizes.insert(sizes.end(), pieces, cell.count / pieces);
}

std::shared_ptr<const RingScatter> mirrored(std::shared_ptr<const RingScatter> ring, Rank centre) {
    return std::make_shared<MirroredRing>(std::move(ring), centre);
}

}  // namespace trefoil
