// SPDX-License-Identifier: BSD-3-Clause
// What each block of each rank holds after any number of steps. Sums are kept as numbers of contributions, which never
// overlap; what is only moved is kept as the block that it was. Whose contributions they are is found on demand.

const memoryOfCheckpoints = 96e6;

class Values {
  constructor(plan) {
    this.plan = plan;
    this.done = 0;
    this.parts = plan.parts.map((part) => new Int32Array(plan.ranks * part.total));
    const cells = this.parts.reduce((sum, values) => sum + values.length, 0);
    const kept = Math.max(2, Math.floor(memoryOfCheckpoints / (4 * cells + 1)));
    this.stride = Math.max(1, Math.ceil((plan.steps + 1) / kept));
    this.checkpoints = new Map();
    this.heard = plan.data_moves ? null : heardByStep(plan);
    this.setBeginning();
  }

  begins(rank, p, block) {
    const { plan } = this;
    const part = plan.parts[p];
    if (block >= part.blocks || (plan.in.holders === "root" && rank !== plan.root)) return false;
    if (plan.sent_blocks > 0) return block < plan.sent_blocks;
    return !plan.in.own || this.owner(p, block) === rank;
  }
  ends(rank, p, block) {
    const { plan } = this;
    const part = plan.parts[p];
    if (block >= part.blocks || (plan.out.holders === "root" && rank !== plan.root)) return false;
    if (plan.out.holders === "all but first" && rank === 0) return false;
    if (plan.sent_blocks > 0) return block >= plan.sent_blocks;
    return !plan.out.own || this.owner(p, block) === rank;
  }
  owner(p, block) {
    const owners = this.plan.parts[p].owners;
    return owners ? owners[block] : block;
  }
  /** Of a sum: how many ranks contribute to the result on this rank. */
  wanted(rank) {
    const { prefix, ranks } = this.plan;
    return prefix === "to" ? rank + 1 : prefix === "before" ? rank : ranks;
  }
  /** What set_own of the verifier stands for: a contribution, or the name of a block. */
  own(rank, p, block) {
    return this.plan.reduces ? 1 : rank * this.plan.parts[p].blocks + block + 1;
  }
  setBeginning() {
    this.done = 0;
    this.plan.parts.forEach((part, p) => {
      const values = this.parts[p].fill(0);
      for (let rank = 0; rank < this.plan.ranks && !part.apart; ++rank) {
        for (let block = 0; block < part.blocks; ++block) {
          if (this.begins(rank, p, block)) values[rank * part.total + block] = this.own(rank, p, block);
        }
      }
    });
  }

  /** Goes to the state after `steps` steps. */
  go(steps) {
    if (steps < this.done) {
      const from = steps - (steps % this.stride);
      const kept = this.checkpoints.get(from);
      if (kept) {
        kept.forEach((values, p) => this.parts[p].set(values));
        this.done = from;
      } else {
        this.setBeginning();
      }
    }
    while (this.done < steps) {
      this.run(this.done);
      ++this.done;
      if (this.done % this.stride === 0 && !this.checkpoints.has(this.done)) {
        this.checkpoints.set(this.done, this.parts.map((values) => values.slice()));
      }
    }
  }

  run(step) {
    this.plan.parts.forEach((part, p) => {
      if (step >= part.steps) return;
      this.runMoves(part, p, step);
      this.runMessages(part, p, step);
    });
  }
  runMoves(part, p, step) {
    const { plan } = this;
    const m = plan.messages;
    const values = this.parts[p];
    for (let rank = 0; rank < plan.ranks; ++rank) {
      const place = step * plan.ranks + rank;
      for (let i = part.firstMove[place]; i < part.firstMove[place + 1]; ++i) {
        for (let b = 0; b < m.moveCount[i]; ++b) {
          const from = m.moveFrom[i] + b;
          const value = m.moveInitial[i] ? this.own(m.movePeer[i], p, from)
            : values[m.movePeer[i] * part.total + from];
          const at = rank * part.total + m.moveTo[i] + b;
          values[at] = m.moveAdds[i] ? values[at] + value : value;
        }
      }
    }
  }
  /** All messages of a step leave before any of them is applied. */
  runMessages(part, p, step) {
    const { plan } = this;
    const { messages: m, lists } = plan;
    const values = this.parts[p];
    const first = part.first[step * plan.ranks];
    const end = part.first[(step + 1) * plan.ranks];
    let size = 0;
    for (let i = first; i < end; ++i) size += lists.blocks[m.list[i]];
    const sent = new Int32Array(size);
    let at = 0;
    for (let i = first; i < end; ++i) {
      const base = m.from[i] * part.total;
      for (let e = lists.start[m.list[i]]; e < lists.start[m.list[i] + 1]; e += 2) {
        const from = base + lists.pairs[e];
        sent.set(values.subarray(from, from + lists.pairs[e + 1]), at);
        at += lists.pairs[e + 1];
      }
    }
    at = 0;
    for (let i = first; i < end; ++i) {
      const base = m.to[i] * part.total;
      for (let a = m.applied[i]; a < m.applied[i + 1]; ++a) {
        let read = at;
        const list = m.appliedList[a];
        for (let e = lists.start[list]; e < lists.start[list + 1]; e += 2) {
          const to = base + lists.pairs[e];
          for (let b = 0; b < lists.pairs[e + 1]; ++b, ++read) {
            values[to + b] = m.adds[a] ? values[to + b] + sent[read] : sent[read];
          }
        }
      }
      at += lists.blocks[m.list[i]];
    }
  }

  /** How many steps of a part are behind a rank. Here all ranks keep step. */
  stepsOf(_rank, _p) {
    return this.done;
  }
  value(rank, p, block) {
    return this.parts[p][rank * this.plan.parts[p].total + block];
  }
  /** In a barrier: from whom a rank has heard. */
  heardBy(rank) {
    return this.heard[this.stepsOf(rank, -1)].ranks(rank);
  }
  /** How far a block is on its way to a result: 0 to 1. */
  held(rank, p, block) {
    if (this.heard) return this.heardBy(rank).length / this.plan.ranks;
    const value = this.value(rank, p, block);
    if (!this.plan.reduces) return value > 0 ? 1 : 0;
    return Math.min(1, value / Math.max(1, this.wanted(rank)));
  }
  isResult(rank, p, block) {
    if (this.heard) return this.heardBy(rank).length === this.plan.ranks;
    if (!this.ends(rank, p, block)) return false;
    const value = this.value(rank, p, block);
    if (this.plan.reduces) return value === this.wanted(rank);
    return value === this.expected(rank, p, block);
  }
  /** Where nothing is reduced: the value of a result. */
  expected(rank, p, block) {
    const { plan } = this;
    if (plan.sent_blocks === 0) {
      return this.own(plan.in.holders === "root" ? plan.root : this.owner(p, block), p, block);
    }
    const slot = block - plan.sent_blocks;
    if (!plan.with_neighbours) return this.own(slot, p, rank);
    const from = neighbour(plan, rank, slot ^ 1);
    return this.own(from, p, plan.in.own ? 0 : slot ^ 1);
  }

  /** By rank, the share of its results that it has; -1 where it gets none. */
  progress() {
    if (this.progressOf !== this.done) {
      this.shares = Float32Array.from({ length: this.plan.ranks }, (_, rank) => this.progressOfRank(rank));
      this.progressOf = this.done;
    }
    return this.shares;
  }
  progressOfRank(rank) {
    if (this.heard) return this.held(rank, 0, 0);
    let sum = 0, count = 0;
    this.plan.parts.forEach((_, p) => {
      const [held, wanted] = this.resultsOf(rank, p);
      sum += held;
      count += wanted;
    });
    return count > 0 ? sum / count : -1;
  }
  /** Of one part: how many results the rank has, in shares of them, and how many it is to have. */
  resultsOf(rank, p) {
    const { plan } = this;
    const part = plan.parts[p], values = this.parts[p], base = rank * part.total;
    const wanted = plan.reduces ? Math.max(1, this.wanted(rank)) : 1;
    let sum = 0, count = 0;
    for (let block = 0; block < part.blocks; ++block) {
      if (this.ends(rank, p, block)) {
        const value = values[base + block];
        sum += plan.reduces ? Math.min(1, value / wanted) : value > 0 ? 1 : 0;
        ++count;
      }
    }
    return [sum, count];
  }
}

/** Ports come as +0, -0, +1, ...; slots of neighbours as -0, +0, -1, ...: slot ^ 1 is the port behind which it lies. */
function neighbour(plan, rank, port) {
  const at = coordinatesOf(plan.torus, rank);
  const size = plan.torus[port >> 1];
  at[port >> 1] = (at[port >> 1] + (port % 2 === 0 ? 1 : size - 1)) % size;
  return rankAt(plan.torus, at);
}
function coordinatesOf(torus, rank) {
  const at = new Array(torus.length);
  for (let j = torus.length - 1; j >= 0; --j) {
    at[j] = rank % torus[j];
    rank = (rank - at[j]) / torus[j];
  }
  return at;
}
function rankAt(torus, coordinates) {
  return coordinates.reduce((rank, c, j) => rank * torus[j] + c, 0);
}
