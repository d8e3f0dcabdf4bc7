// SPDX-License-Identifier: BSD-3-Clause
// Draws one plan at one time: links by the share of their rate, circuits where the wiring changes, messages as they flow.

const shareColours = 32;

class TimedPicture extends Picture {
  constructor(canvas, plan, values, loads, timeline) {
    super(canvas, plan, values, loads);
    this.timeline = timeline;
    this.kept = new Map();  // by message: its dots
    this.ways = new Map();  // by wiring and message: the ranks on its way
  }

  /** `moment`: part or -1, the rank chosen, ranks framed. */
  draw(moment, colours) {
    const { timeline } = this;
    this.resize();
    this.state = timeline.loads.at(timeline.now);
    const key = [this.state.key, timeline.version, moment.rank, moment.framed.join(), colours.paper].join("|");
    if (key !== this.key) {
      this.key = key;
      this.drawStill(moment, colours);
    }
    const context = this.canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.still, 0, 0);
    context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    this.drawFlowing(context, moment, colours);
  }

  /** Lines of one colour are drawn as one. */
  drawLinks(context, moment, colours) {
    const lines = this.linesOf(this.state.wiring);
    const { shares, whole } = this.state;
    const groups = Array.from({ length: shareColours + 1 }, () => []);
    for (let i = 0; i < lines.length; ++i) {
      if (lines[i]) groups[shares[i] > 0 ? Math.max(1, Math.round((shares[i] / whole) * shareColours)) : 0].push(lines[i]);
    }
    const thick = this.thickness();
    context.lineCap = "round";
    groups.forEach((group, level) => {
      if (group.length === 0) return;
      const share = level / shareColours;
      context.strokeStyle = level > 0 ? colourAt(colours.load, share) : colours.idle;
      context.lineWidth = level > 0 ? thick * (0.6 + 0.7 * share) : thick * 0.5;
      context.setLineDash(this.state.changes ? [4, 5] : []);
      context.beginPath();
      for (const line of group) {
        context.moveTo(line[0], line[1]);
        if (line.length === 4) context.lineTo(line[2], line[3]);
        else context.quadraticCurveTo(line[4], line[5], line[2], line[3]);
      }
      context.stroke();
    });
    context.setLineDash([]);
  }

  /** By link, or by circuit of a wiring: [x, y, x, y], and for a bow the point that pulls it. */
  linesOf(wiring) {
    const key = [wiring, this.width, this.height].join("|");
    if (this.linesKey !== key) {
      this.linesKey = key;
      this.lines = wiring === undefined ? this.linkLines() : this.circuitLines(this.plan.time.wirings[wiring].circuits);
    }
    return this.lines;
  }
  linkLines() {
    const ports = 2 * this.plan.torus.length;
    return Array.from({ length: this.plan.ranks * ports }, (_, place) => {
      const port = place % ports;
      return this.plan.torus[port >> 1] < 2 ? null : this.layout.link(Math.floor(place / ports), port);
    });
  }
  circuitLines(circuits) {
    const lines = [];
    for (let c = 0; c < circuits.length; c += 3) {
      const from = circuits[c], to = circuits[c + 1];
      const port = this.portTo(from, to);
      lines.push(port >= 0 ? this.layout.link(from, port) : this.bow(this.layout.points[from], this.layout.points[to]));
    }
    return lines;
  }
  /** The port behind which a neighbour of the torus lies, or -1. */
  portTo(from, to) {
    const ports = 2 * this.plan.torus.length;
    for (let port = 0; port < ports; ++port) if (neighbour(this.plan, from, port) === to) return port;
    return -1;
  }
  /** To the right of the straight way, so that both directions are seen. */
  bow([x, y], [u, v]) {
    const length = Math.hypot(u - x, v - y) || 1;
    const away = Math.min(40, length * 0.16) / length;
    return [x, y, u, v, (x + u) / 2 - (v - y) * away, (y + v) / 2 + (u - x) * away];
  }

  drawFlowing(context, moment, colours) {
    const { timeline } = this;
    const every = Math.max(1, timeline.flowing.length / mostDots);
    const dots = [];
    for (let n = 0; n < timeline.flowing.length; n += every) {
      const i = timeline.flowing[Math.floor(n)];
      if (moment.part < 0 || timeline.part[i] === moment.part) dots.push(...this.dotsOfMessage(i));
    }
    const shareOf = (i) => (timeline.now - timeline.begin[i]) / (timeline.end[i] - timeline.begin[i]);
    this.drawDotsAt(context, dots, (dot) => this.flowingPoint(dot, shareOf(dot.i)), colours);
  }
  dotsOfMessage(i) {
    let dots = this.kept.get(i);
    if (!dots) {
      const { lists, messages, parts } = this.plan;
      dots = [];
      this.addDots(dots, i, lists.blocks[messages.list[i]] * parts[this.timeline.part[i]].share);
      if (this.plan.time.wirings) dots.length = 1;
      this.kept.set(i, dots);
    }
    return dots;
  }
  flowingPoint(dot, share) {
    const { wiring } = this.state;
    if (wiring === undefined) return this.dotPoint(dot, share);
    const way = this.wayOf(wiring, dot.i);
    const at = share * (way.length - 1);
    const leg = Math.min(way.length - 2, Math.floor(at));
    const port = this.portTo(way[leg], way[leg + 1]);
    if (port >= 0) {  // along the links of the torus, also over its seams
      const hop = this.plan.torus.map((_, j) => (j === port >> 1 ? (port % 2 === 0 ? 1 : -1) : 0));
      return this.dotPoint({ from: this.loads.coordinates[way[leg]], way: hop }, at - leg);
    }
    const [x, y, u, v, pullX, pullY] = this.bow(this.layout.points[way[leg]], this.layout.points[way[leg + 1]]);
    const t = at - leg, s = 1 - t;
    return [s * s * x + 2 * s * t * pullX + t * t * u, s * s * y + 2 * s * t * pullY + t * t * v];
  }
  /** The ranks on a shortest way over circuits, dimension after dimension. */
  wayOf(wiring, i) {
    const key = wiring * this.timeline.begin.length + i;
    let way = this.ways.get(key);
    if (!way) {
      const { messages: m, torus } = this.plan;
      way = [m.from[i]];
      const to = this.loads.coordinates[m.to[i]];
      torus.forEach((_, j) => {
        const target = [...this.loads.coordinates[way.at(-1)]];
        target[j] = to[j];
        way.push(...this.leg(wiring, way.at(-1), rankAt(torus, target)));
      });
      this.ways.set(key, way);
    }
    return way;
  }
  /** What comes behind `from`. A circuit stays in its row, so a search finds the row's way. */
  leg(wiring, from, to) {
    this.next ??= this.plan.time.wirings.map((one) => {
      const next = Array.from({ length: this.plan.ranks }, () => []);
      for (let c = 0; c < one.circuits.length; c += 3) next[one.circuits[c]].push(one.circuits[c + 1]);
      return next;
    });
    const row = this.loads.coordinates[from].findIndex((c, j) => c !== this.loads.coordinates[to][j]);
    const before = new Map([[from, -1]]);
    const open = [from];
    for (let n = 0; n < open.length && !before.has(to); ++n) {
      for (const rank of this.next[wiring][open[n]]) {
        const stays = this.loads.coordinates[rank].every((c, j) => j === row || c === this.loads.coordinates[from][j]);
        if (!stays || before.has(rank)) continue;
        before.set(rank, open[n]);
        open.push(rank);
      }
    }
    const way = [];
    for (let at = to; at !== from && at !== undefined; at = before.get(at)) way.unshift(at);
    return way;
  }
}
