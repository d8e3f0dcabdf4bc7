// SPDX-License-Identifier: BSD-3-Clause
// When messages flow, when ranks complete their steps, and how busy links are: of one plan, at any time.
"use strict";

class Timeline {
  constructor(plan) {
    const { time, ranks, parts } = plan;
    this.plan = plan;
    this.seconds = time.seconds;
    const scale = time.seconds / time.ticks;
    this.readMessages(new Reader(time.messages), scale);
    this.readCompleted(new Reader(time.completed), scale);
    this.counts = new Int32Array(ranks * parts.length);  // steps that are behind a rank, by rank and part
    this.loads = time.wirings ? new WiredShares(time) : new LinkShares(plan);
    this.rewind();
  }
  readMessages(reader, scale) {
    const count = this.plan.messages.to.length;
    this.begin = new Float64Array(count);
    this.end = new Float64Array(count);
    for (let i = 0, tick = 0; i < count; ++i) {
      tick += reader.signed();
      this.begin[i] = tick * scale;
      this.end[i] = (tick + reader.number()) * scale;
    }
    this.order = Uint32Array.from(this.begin.keys()).sort((a, b) => this.begin[a] - this.begin[b]);
    this.part = new Uint8Array(count);
    this.plan.parts.forEach((part, p) => this.part.fill(p, part.first[0], part.first.at(-1)));
  }
  readCompleted(reader, scale) {
    const { parts, ranks } = this.plan;
    let tick = 0;
    this.completed = parts.map((part) => Float64Array.from({ length: part.steps * ranks }, () => (tick += reader.signed()) * scale));
    const all = [];
    this.completed.forEach((times, p) => times.forEach((time, place) => {
      all.push({ time, place: (place % ranks) * parts.length + p, steps: Math.floor(place / ranks) + 1 });
    }));
    this.events = all.sort((a, b) => a.time - b.time || a.steps - b.steps);
  }
  /** By step: when all ranks have completed it; and the beginning and the end. */
  bounds() {
    const ends = new Array(this.plan.steps).fill(0);
    this.completed.forEach((times) => times.forEach((time, place) => {
      const step = Math.floor(place / this.plan.ranks);
      ends[step] = Math.max(ends[step], time);
    }));
    return [...new Set([0, ...ends, this.seconds])].sort((a, b) => a - b);
  }

  rewind() {
    this.now = 0;
    this.next = 0;     // of the messages by their beginnings
    this.flowing = [];
    this.nextEvent = 0;
    this.partsDone = new Uint8Array(this.plan.ranks);
    this.ranksDone = 0;
    this.counts.fill(0);
    this.version = (this.version ?? 0) + 1;
  }
  /** Afterwards `flowing` has the messages under way, `counts` the steps that are over. */
  go(time) {
    if (time < this.now) this.rewind();
    this.now = time;
    while (this.next < this.order.length && this.begin[this.order[this.next]] <= time) this.flowing.push(this.order[this.next++]);
    this.flowing = this.flowing.filter((i) => this.end[i] > time);
    const soon = time + 1e-9 * this.seconds;
    for (; this.nextEvent < this.events.length && this.events[this.nextEvent].time <= soon; ++this.nextEvent) {
      const { place, steps } = this.events[this.nextEvent];
      this.counts[place] = steps;
      const { parts } = this.plan;
      if (steps === parts[place % parts.length].steps && ++this.partsDone[Math.floor(place / parts.length)] === parts.length) {
        ++this.ranksDone;
      }
      ++this.version;
    }
  }
}

/** Of the links of a torus: which share of its rate each one carries, by slices of time. */
class LinkShares {
  constructor(plan) {
    const { time } = plan;
    this.links = plan.ranks * 2 * plan.torus.length;
    this.slices = time.slices;
    this.seconds = time.seconds;
    this.whole = time.whole_share;
    this.shares = new Uint8Array(this.links * this.slices);  // by slice and link
    const reader = new Reader(time.shares);
    for (let link = 0; link < this.links; ++link) {
      for (let slice = 0; slice < this.slices; ) {
        const run = reader.number();
        const value = run % (this.whole + 1);
        for (let n = Math.floor(run / (this.whole + 1)); n >= 0; --n, ++slice) this.shares[slice * this.links + link] = value;
      }
    }
  }
  /** Shares are of `whole`. Equal keys: equal shares. */
  at(time) {
    const slice = Math.min(this.slices - 1, Math.floor((time / this.seconds) * this.slices));
    return { key: slice, whole: this.whole, shares: this.shares.subarray(slice * this.links, (slice + 1) * this.links) };
  }
}

/** Of circuits, while their wiring stands and the bytes of a step flow. */
class WiredShares {
  constructor(time) {
    this.time = time;
    this.idle = time.wirings.map((wiring) => new Float64Array(wiring.circuits.length / 3));
  }
  at(time) {
    const { steps, wirings } = this.time;
    let index = steps.findIndex((step) => time < step.end);
    if (index < 0) index = steps.length - 1;
    const step = steps[index];
    const flows = step && time >= step.flows && time < step.end;
    const changes = Boolean(step) && time < step.begin;
    const wiring = step ? step.wiring : 0;
    return { key: `${index}${flows}${changes}`, whole: 1, wiring, changes, name: wirings[wiring].name,
      shares: flows ? step.shares : this.idle[wiring] };
  }
}

/** Values where each rank is at a step of its own. */
class TimedValues extends Values {
  constructor(plan, timeline) {
    super(plan);
    this.timeline = timeline;
    this.results = plan.parts.map(() => []);  // by part and step: shares of results, by rank
    this.wantedOf = plan.parts.map(() => new Float32Array(plan.ranks));
    for (let step = 0; step <= plan.steps; ++step) {
      this.go(step);
      plan.parts.forEach((part, p) => {
        if (step > part.steps || this.heard) return;
        this.results[p].push(Float32Array.from({ length: plan.ranks }, (_, rank) => {
          const [held, wanted] = this.resultsOf(rank, p);
          this.wantedOf[p][rank] = wanted;
          return held;
        }));
      });
    }
  }
  stepsOf(rank, p) {
    const { parts } = this.plan;
    if (p >= 0) return this.timeline.counts[rank * parts.length + p];
    return Math.min(...parts.map((_, part) => this.timeline.counts[rank * parts.length + part]));
  }
  /** The parts after so many steps. */
  stateAt(step) {
    if (step === this.done) return this.parts;
    const kept = this.checkpoints.get(step);
    if (kept) return kept;
    this.go(step);
    return this.parts;
  }
  value(rank, p, block) {
    return this.stateAt(this.stepsOf(rank, p))[p][rank * this.plan.parts[p].total + block];
  }
  progress() {
    if (this.progressOf !== this.timeline.version) {
      this.progressOf = this.timeline.version;
      this.shares = Float32Array.from({ length: this.plan.ranks }, (_, rank) => this.progressOfRank(rank));
    }
    return this.shares;
  }
  progressOfRank(rank) {
    if (this.heard) return this.held(rank, 0, 0);
    let sum = 0, count = 0;
    this.plan.parts.forEach((_, p) => {
      sum += this.results[p][this.stepsOf(rank, p)][rank];
      count += this.wantedOf[p][rank];
    });
    return count > 0 ? sum / count : -1;
  }
}
