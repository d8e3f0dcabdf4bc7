// SPDX-License-Identifier: BSD-3-Clause
// Whose contributions a block holds: followed backwards through the steps. A barrier has no blocks: from whom ranks have heard.

/** A set of ranks for each rank. */
class RankSets {
  constructor(ranks, from) {
    this.words = Math.ceil(ranks / 32);
    this.bits = from ? from.bits.slice() : new Uint32Array(ranks * this.words);
  }
  add(at, rank) {
    this.bits[at * this.words + (rank >> 5)] |= 1 << (rank & 31);
  }
  unite(at, other, from) {
    for (let w = 0; w < this.words; ++w) this.bits[at * this.words + w] |= other.bits[from * this.words + w];
  }
  ranks(at) {
    const found = [];
    for (let i = 0; i < this.words * 32; ++i) {
      if ((this.bits[at * this.words + (i >> 5)] >>> (i & 31)) & 1) found.push(i);
    }
    return found;
  }
  count(at) {
    return this.ranks(at).length;
  }
}

function heardByStep(plan) {
  let sets = new RankSets(plan.ranks);
  for (let rank = 0; rank < plan.ranks; ++rank) sets.add(rank, rank);
  const all = [sets];
  for (let step = 0; step < plan.steps; ++step) {
    const next = new RankSets(plan.ranks, sets);
    for (const part of plan.parts) {
      if (step >= part.steps) continue;
      for (let i = part.first[step * plan.ranks]; i < part.first[(step + 1) * plan.ranks]; ++i) {
        next.unite(plan.messages.to[i], sets, plan.messages.from[i]);
      }
    }
    sets = next;
    all.push(sets);
  }
  return all;
}

/** The place of a block in a list of extents, or -1. */
function indexIn(lists, list, block) {
  let before = 0;
  for (let e = lists.start[list]; e < lists.start[list + 1]; e += 2) {
    const first = lists.pairs[e], count = lists.pairs[e + 1];
    if (block >= first && block < first + count) return before + block - first;
    before += count;
  }
  return -1;
}
function blockAt(lists, list, index) {
  for (let e = lists.start[list]; e < lists.start[list + 1]; e += 2) {
    if (index < lists.pairs[e + 1]) return lists.pairs[e] + index;
    index -= lists.pairs[e + 1];
  }
  return -1;
}

/** The ranks whose contributions block `block` of part `p` of `rank` holds after `steps` steps, ascending. */
function originsOf(values, rank, p, block, steps) {
  const { plan } = values;
  if (values.heard) return values.heard[steps].ranks(rank);
  const part = plan.parts[p];
  const { messages: m, lists } = plan;
  const found = new Set();
  const movesBefore = (r, s) => (s < 0 ? 0 : part.firstMove[s * plan.ranks + r]);
  const movesAfter = (r, s) => part.firstMove[s * plan.ranks + r + 1];
  // What is open: rank, block, step, and before which of the step's moves; -1: after the step.
  const open = [[rank, block, Math.min(steps, part.steps) - 1, -1]];
  while (open.length > 0) {
    let [r, b, s, move] = open.pop();
    let replaced = false;
    if (s >= 0 && move < 0) {
      const place = s * plan.ranks + r;
      for (let i = part.first[place + 1] - 1; i >= part.first[place] && !replaced; --i) {
        for (let a = m.applied[i + 1] - 1; a >= m.applied[i] && !replaced; --a) {
          const index = indexIn(lists, m.appliedList[a], b);
          if (index < 0) continue;
          const sender = m.from[i];
          open.push([sender, blockAt(lists, m.list[i], index), s, movesAfter(sender, s)]);
          replaced = !m.adds[a];
        }
      }
      move = movesAfter(r, s);
    }
    for (let i = move - 1; s >= 0 && i >= movesBefore(r, s) && !replaced; --i) {
      if (b < m.moveTo[i] || b >= m.moveTo[i] + m.moveCount[i]) continue;
      const source = m.moveFrom[i] + b - m.moveTo[i];
      const peer = m.movePeer[i];
      if (m.moveInitial[i]) found.add(peer);
      else if (peer === r) open.push([r, source, s, i]);
      else if (peer < r) open.push([peer, source, s, movesAfter(peer, s)]);
      else open.push([peer, source, s - 1, -1]);
      replaced = !m.moveAdds[i];
    }
    if (replaced) continue;
    if (s >= 0) open.push([r, b, s - 1, -1]);
    else if (!part.apart && values.begins(r, p, b)) found.add(r);
  }
  return [...found].sort((a, b) => a - b);
}
