// SPDX-License-Identifier: BSD-3-Clause
// What crosses each directed link in a step: shortest ways, dimension after dimension, and half either way where both are
// as short, unless messages go the way of their port. In vectors.

/** From `here` to `there` on a ring: signed, a tie is positive. */
function displacement(here, there, size) {
  const apart = (there - here + size) % size;
  return 2 * apart <= size ? apart : apart - size;
}

class Loads {
  constructor(plan) {
    this.plan = plan;
    this.steps = new Map();
    this.coordinates = Array.from({ length: plan.ranks }, (_, rank) => coordinatesOf(plan.torus, rank));
    this.strides = plan.torus.map((_, j) => plan.torus.slice(j + 1).reduce((a, b) => a * b, 1));
    // The largest load, longest way and number of messages of each step.
    this.largest = new Float64Array(plan.steps);
    this.hops = new Int32Array(plan.steps);
    this.count = new Int32Array(plan.steps);
    for (let s = 0; s < plan.steps; ++s) this.measure(s);
    this.most = Math.max(1e-12, ...this.largest);
  }

  /** Calls visit(message, part) for each message of a step; of one part, or of all: -1. */
  eachMessage(step, only, visit) {
    this.plan.parts.forEach((part, p) => {
      if (step >= part.steps || (only >= 0 && only !== p)) return;
      const end = part.first[(step + 1) * this.plan.ranks];
      for (let i = part.first[step * this.plan.ranks]; i < end; ++i) visit(i, part);
    });
  }

  measure(step) {
    const loads = this.of(step, -1);
    for (const load of loads) this.largest[step] = Math.max(this.largest[step], load);
    this.eachMessage(step, -1, (i) => {
      const m = this.plan.messages;
      const a = this.coordinates[m.from[i]], b = this.coordinates[m.to[i]];
      let hops = 0;
      for (let j = 0; j < a.length; ++j) hops += Math.abs(displacement(a[j], b[j], this.plan.torus[j]));
      this.hops[step] = Math.max(this.hops[step], hops);
      ++this.count[step];
    });
  }

  /** The load of link rank * ports + port. */
  of(step, only) {
    const key = step * 64 + only + 1;
    if (this.steps.has(key)) return this.steps.get(key);
    const { plan } = this;
    const loads = new Float64Array(plan.ranks * 2 * plan.torus.length);
    this.eachMessage(step, only, (i, part) => {
      const bytes = plan.lists.blocks[plan.messages.list[i]] * part.share;
      if (bytes > 0) this.addRoute(loads, i, bytes);
    });
    if (this.steps.size > 400) this.steps.clear();
    this.steps.set(key, loads);
    return loads;
  }

  addRoute(loads, i, bytes) {
    const { plan } = this;
    const m = plan.messages;
    const ports = 2 * plan.torus.length;
    const end = this.coordinates[m.to[i]];
    let here = m.from[i];
    for (let j = 0; j < plan.torus.length; ++j) {
      const size = plan.torus[j];
      const at = this.coordinates[here][j];
      const apart = displacement(at, end[j], size);
      if (apart === 0) continue;
      const tie = 2 * apart === size;
      if (tie && !(plan.steered && m.port[i] >> 1 === j)) {
        this.addRun(loads, here, j, 1, apart, bytes / 2, ports);
        this.addRun(loads, here, j, -1, apart, bytes / 2, ports);
      } else {
        const sign = tie ? (m.port[i] % 2 === 0 ? 1 : -1) : Math.sign(apart);
        this.addRun(loads, here, j, sign, Math.abs(apart), bytes, ports);
      }
      here += (end[j] - at) * this.strides[j];
    }
  }
  addRun(loads, rank, j, sign, count, bytes, ports) {
    const size = this.plan.torus[j], stride = this.strides[j];
    let at = this.coordinates[rank][j];
    const base = rank - at * stride;
    const port = 2 * j + (sign > 0 ? 0 : 1);
    for (; count > 0; --count) {
      loads[(base + at * stride) * ports + port] += bytes;
      at = (at + sign + size) % size;
    }
  }
}
