// SPDX-License-Identifier: BSD-3-Clause
// Draws one plan at one moment. What stands still for a whole step is kept as an image, so that a frame is that image and
// the dots under way.

const mostDots = 3000;
const headShare = 0.14;  // of a box, for its name

/** Colours between stops; light and dark readers get their own. Orange for loads, blue for what is held: apart for all eyes. */
function ramp(stops) {
  return Array.from({ length: 65 }, (_, i) => {
    const at = (i / 64) * (stops.length - 1);
    const low = Math.min(stops.length - 2, Math.floor(at));
    const mix = stops[low].map((c, k) => Math.round(c + (stops[low + 1][k] - c) * (at - low)));
    return `rgb(${mix.join(",")})`;
  });
}
function coloursOf(dark) {
  return dark
    ? { paper: "#1b1f27", ink: "#e8e6e1", idle: "#2f3641", box: "#3a4350", done: "#4ec27a", frame: "#f07ccf", dot: "#ffffff",
        edge: "#6d7787", load: ramp([[92, 64, 32], [214, 128, 34], [255, 224, 130]]), held: ramp([[44, 54, 68], [52, 104, 150], [128, 196, 246]]) }
    : { paper: "#ffffff", ink: "#1f2430", idle: "#e6e3da", box: "#eef0f2", done: "#15803d", frame: "#b4248c", dot: "#8a2d04",
        edge: "#8b92a0", load: ramp([[253, 224, 170], [238, 130, 38], [127, 34, 6]]), held: ramp([[235, 240, 245], [118, 174, 214], [22, 78, 140]]) };
}
function colourAt(scale, share) {
  return scale[Math.max(0, Math.min(64, Math.round(share * 64)))];
}

class Picture {
  constructor(canvas, plan, values, loads) {
    Object.assign(this, { canvas, plan, values, loads });
    this.still = document.createElement("canvas");
    this.key = "";
    this.dotsKey = "";
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const scale = Math.min(2, window.devicePixelRatio || 1);
    if (width === this.width && height === this.height && scale === this.scale) return;
    Object.assign(this, { width, height, scale });
    for (const canvas of [this.canvas, this.still]) {
      canvas.width = Math.max(1, Math.round(width * scale));
      canvas.height = Math.max(1, Math.round(height * scale));
    }
    this.layout = new Layout(this.plan.torus, width, height);
    this.key = "";
  }

  /** `moment`: step (-1: none yet), share of it that is over, part or -1, the rank chosen, ranks framed, largest load. */
  draw(moment, colours) {
    this.resize();
    const over = moment.share >= 1;
    const key = [moment.step, over, moment.part, moment.rank, moment.framed.join(), colours.paper, moment.largest].join("|");
    if (key !== this.key) {
      this.key = key;
      this.drawStill(moment, colours);
    }
    const context = this.canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.still, 0, 0);
    if (!over && moment.step >= 0) {
      context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
      this.drawDots(context, moment, colours);
    }
  }

  drawStill(moment, colours) {
    const context = this.still.getContext("2d");
    context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, this.width, this.height);
    this.drawLinks(context, moment, colours);
    const progress = this.values.progress();
    for (let rank = 0; rank < this.plan.ranks; ++rank) this.drawRank(context, rank, progress[rank], moment, colours);
  }

  drawLinks(context, moment, colours) {
    const ports = 2 * this.plan.torus.length;
    const loads = moment.step >= 0 ? this.loads.of(moment.step, moment.part) : null;
    const thick = this.thickness();
    context.lineCap = "round";
    for (const loaded of [false, true]) {
      for (let place = 0; place < this.plan.ranks * ports; ++place) {
        const port = place % ports;
        const load = loads ? loads[place] : 0;
        if (load > 0 !== loaded || this.plan.torus[port >> 1] < 2) continue;
        const [x, y, u, v] = this.layout.link(Math.floor(place / ports), port);
        const share = load / moment.largest;
        context.strokeStyle = loaded ? colourAt(colours.load, share) : colours.idle;
        context.lineWidth = loaded ? thick * (0.6 + 0.7 * share) : thick * 0.5;
        context.beginPath();
        context.moveTo(x, y);
        context.lineTo(u, v);
        context.stroke();
      }
    }
  }

  /** Of a link, in pixels. */
  thickness() {
    return Math.max(0.8, Math.min(6, this.layout.cell * (this.layout.circle ? 0.13 : 0.07)));
  }

  /** Whether the boxes are large enough for blocks of their own. */
  showsBlocks() {
    const { box } = this.layout;
    const most = Math.max(...this.plan.parts.map((part) => part.blocks));
    return this.plan.data_moves && box >= 34 && most <= box * 0.9 && this.plan.parts.length <= box / 4;
  }
  /** The block that is drawn at a place in the box of a rank, or null. */
  blockAt(rank, x, y) {
    const { box } = this.layout;
    const [u, v] = this.layout.points[rank];
    const across = (x - u) / box + 0.5, down = ((y - v) / box + 0.5 - headShare) / (1 - headShare);
    if (!this.showsBlocks() || across < 0 || across >= 1 || down < 0 || down >= 1) return null;
    const p = Math.floor(down * this.plan.parts.length);
    return { p, block: Math.floor(across * this.plan.parts[p].blocks) };
  }

  drawRank(context, rank, progress, moment, colours) {
    const { box } = this.layout;
    const [x, y] = this.layout.points[rank];
    const left = x - box / 2, top = y - box / 2;
    context.fillStyle = colours.box;
    context.fillRect(left, top, box, box);
    if (this.showsBlocks()) {
      this.drawBlocks(context, rank, left, top, box, colours);
    } else if (progress >= 0) {
      context.fillStyle = progress >= 1 - 1e-6 ? colours.done : colourAt(colours.held, progress);
      context.fillRect(left, top, box, box);
    }
    const framed = moment.framed.includes(rank);
    context.strokeStyle = framed ? colours.frame : rank === moment.rank ? colours.ink : colours.edge;
    context.lineWidth = framed ? Math.max(1.5, Math.min(4, box * 0.1)) : rank === moment.rank ? 2.5 : 0.7;
    if (box > 5 || framed || rank === moment.rank) context.strokeRect(left, top, box, box);
    if (framed && rank === moment.rank) {
      context.strokeStyle = colours.ink;
      context.lineWidth = 1.5;
      context.strokeRect(left - 3, top - 3, box + 6, box + 6);
    }
    if (box >= 34) this.drawName(context, rank, x, top, box, colours);
    else this.drawSmallName(context, rank, x, y, box, colours);
  }
  /** In the middle of a small box, if it fits in there. */
  drawSmallName(context, rank, x, y, box, colours) {
    const text = String(rank);
    const size = Math.min(12, box * 0.62, (box * 1.5) / text.length);
    if (size < 7) return;
    context.font = `600 ${size}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 2.5;
    context.strokeStyle = colours.paper;
    context.strokeText(text, x, y + 0.5);
    context.fillStyle = colours.ink;
    context.fillText(text, x, y + 0.5);
  }
  drawName(context, rank, x, top, box, colours) {
    const size = Math.min(13, box * 0.24);
    context.font = `600 ${size}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    const text = String(rank);
    context.fillStyle = colours.paper;
    const wide = context.measureText(text).width + 7;
    context.beginPath();
    context.arc(x - wide / 2 + 5, top, size * 0.72, Math.PI / 2, -Math.PI / 2);
    context.arc(x + wide / 2 - 5, top, size * 0.72, -Math.PI / 2, Math.PI / 2);
    context.fill();
    context.fillStyle = colours.ink;
    context.fillText(text, x, top + 0.5);
  }
  /** A row for each part, a column for each block. */
  drawBlocks(context, rank, left, top, box, colours) {
    const rows = this.plan.parts.length;
    const head = box * headShare;
    const high = (box - head) / rows;
    this.plan.parts.forEach((part, p) => {
      const wide = box / part.blocks;
      const gap = wide > 5 && high > 5 ? 1 : 0;
      for (let block = 0; block < part.blocks; ++block) {
        context.fillStyle = blockColour(this.values, rank, p, block, colours);
        context.fillRect(left + block * wide + gap / 2, top + head + p * high + gap / 2, wide - gap, high - gap);
      }
    });
  }

  /** Of the messages of a step: where they begin, how far they go in each dimension, and how large they are. */
  dotsOf(moment) {
    const key = moment.step + "|" + moment.part;
    if (key === this.dotsKey) return this.dots;
    this.dotsKey = key;
    const all = [];
    const { messages: m, lists } = this.plan;
    const every = Math.max(1, this.loads.count[moment.step] / mostDots);
    let number = 0, next = 0;
    this.loads.eachMessage(moment.step, moment.part, (i, part) => {
      if (number++ < next) return;
      next += every;
      this.addDots(all, i, lists.blocks[m.list[i]] * part.share);
    });
    this.dots = all;
    return all;
  }
  /** A dot for each way of message i. */
  addDots(all, i, bytes) {
    const { messages: m, torus } = this.plan;
    const from = this.loads.coordinates[m.from[i]], to = this.loads.coordinates[m.to[i]];
    const way = from.map((c, j) => displacement(c, to[j], torus[j]));
    const tie = way.findIndex((apart, j) => apart !== 0 && 2 * apart === torus[j]);
    const steered = this.plan.steered && tie === m.port[i] >> 1;
    if (tie < 0 || !steered || m.port[i] % 2 === 0) all.push({ i, from, way, bytes });
    if (tie >= 0 && (!steered || m.port[i] % 2 === 1)) {
      all.push({ i, from, way: way.map((apart, j) => (j === tie ? -apart : apart)), bytes });
    }
  }
  drawDots(context, moment, colours) {
    const ease = moment.share * moment.share * (3 - 2 * moment.share);
    this.drawDotsAt(context, this.dotsOf(moment), (dot) => this.dotPoint(dot, ease), colours);
  }
  /** Where a dot is when `share` of its way lies behind it. */
  dotPoint(dot, share) {
    const at = new Array(this.plan.torus.length);
    let ahead = -1;
    let left = share * dot.way.reduce((sum, apart) => sum + Math.abs(apart), 0);
    for (let j = 0; j < at.length; ++j) {
      const go = Math.min(left, Math.abs(dot.way[j]));
      left -= go;
      at[j] = dot.from[j] + Math.sign(dot.way[j]) * go;
      const size = this.plan.torus[j];
      at[j] = ((at[j] % size) + size) % size;
      if (go > 0 || (ahead < 0 && dot.way[j] !== 0)) ahead = j;
    }
    const [x, y] = this.layout.point(at);
    if (!this.layout.unit || ahead < 0) return [x, y];
    const sign = Math.sign(dot.way[ahead]), [dx, dy] = this.layout.unit[ahead];
    return [x - Math.sign(dy) * sign * this.layout.shift, y + Math.sign(dx) * sign * this.layout.shift];
  }
  drawDotsAt(context, dots, pointOf, colours) {
    const { box, cell } = this.layout;
    context.fillStyle = colours.dot;
    context.strokeStyle = colours.paper;
    context.lineWidth = 1;
    const simple = dots.length > 400;
    const base = Math.max(1, Math.min(6, Math.min(box, cell) * 0.13, (cell - box) * 0.16));
    for (const dot of dots) {
      const [x, y] = pointOf(dot);
      const radius = base * (0.75 + 1.1 * Math.sqrt(Math.min(1, dot.bytes)));
      if (simple) {
        context.fillRect(x - radius * 0.8, y - radius * 0.8, radius * 1.6, radius * 1.6);
        continue;
      }
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    }
  }
}

function blockColour(values, rank, p, block, colours) {
  if (values.isResult(rank, p, block)) return colours.done;
  const held = values.held(rank, p, block);
  return held > 0 ? colourAt(colours.held, values.plan.reduces ? Math.max(0.12, held) : 0.55) : colours.box;
}
