// SPDX-License-Identifier: BSD-3-Clause
// One plan on the page: its picture, its figures, and the blocks of the rank that was chosen.

function make(tag, parent, properties = {}) {
  const element = document.createElement(tag);
  Object.assign(element, properties);
  parent.append(element);
  return element;
}

class Panel {
  constructor(parent, data, changed) {
    this.plan = decodePlan(data);
    this.values = this.makeValues();
    this.loads = new Loads(this.plan);
    this.changed = changed;
    this.rank = 0;
    this.pinned = 0;
    this.block = null;  // { rank, p, block }
    this.bounds = this.makeBounds();
    this.build(parent);
    this.picture = this.makePicture();
  }
  // What a panel that plays in time has otherwise (timed_panel.js).
  makeValues() {
    return new Values(this.plan);
  }
  makePicture() {
    return new Picture(this.canvas, this.plan, this.values, this.loads);
  }
  makeBounds() {
    return { step: this.boundsBy(() => 1), load: this.boundsByLoad() };
  }

  boundsBy(length) {
    const bounds = [0];
    for (let s = 0; s < this.plan.steps; ++s) bounds.push(bounds[s] + length(s));
    return bounds;
  }
  boundsByLoad() {
    const sum = this.loads.largest.reduce((a, b) => a + b, 0);
    return this.boundsBy((s) => (sum > 0 ? Math.max(this.loads.largest[s], (0.01 * sum) / this.plan.steps) : 1));
  }

  build(parent) {
    const { plan } = this;
    const panel = make("article", parent, { className: "panel" });
    const top = make("div", panel, { className: "top" });
    make("h2", top, { textContent: plan.algorithm });
    this.step = make("span", top, { className: "step" });
    const proof = plan.proved === true ? " Proved." : plan.proved === false ? " The proof failed." : "";
    make("div", panel, { className: "summary", textContent: `${plan.summary} (${plan.paper}).${proof}` });
    const picture = make("div", panel, { className: "picture" });
    this.canvas = make("canvas", picture, { tabIndex: 0 });
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${plan.algorithm} on a torus of ${plan.torus.join(" x ")} ranks`);
    this.figures = make("div", panel, { className: "figures" });
    const blocks = make("div", panel, { className: "blocks" });
    this.grid = make("canvas", blocks, { tabIndex: 0 });
    this.grid.setAttribute("role", "img");
    this.grid.setAttribute("aria-label", "Blocks of the chosen rank");
    this.grid.hidden = !plan.data_moves;
    this.text = make("p", blocks);
    this.text.setAttribute("aria-live", "polite");
    this.listen();
  }

  listen() {
    const place = (event) => [event.offsetX, event.offsetY];
    this.canvas.addEventListener("pointermove", (event) => this.pointAt(...place(event), false));
    this.canvas.addEventListener("pointerdown", (event) => this.pointAt(...place(event), true));
    this.canvas.addEventListener("pointerleave", () => this.choose(this.pinned, null));
    this.canvas.addEventListener("keydown", (event) => this.walk(event));
    for (const name of ["pointermove", "pointerdown"]) {
      this.grid.addEventListener(name, (event) => this.choose(this.rank, this.blockInGrid(...place(event))));
    }
    this.grid.addEventListener("pointerleave", () => this.choose(this.rank, null));
    this.grid.addEventListener("keydown", (event) => this.walkBlocks(event));
  }

  pointAt(x, y, pin) {
    const rank = this.picture.layout.rankNear(x, y);
    if (rank < 0) return this.choose(this.pinned, null);
    if (pin) this.pinned = rank;
    this.choose(rank, this.picture.blockAt(rank, x, y));
  }
  choose(rank, block) {
    if (rank === this.rank && block?.p === this.block?.p && block?.block === this.block?.block) return;
    this.rank = rank;
    this.block = block;
    this.changed();
  }
  walk(event) {
    const { torus } = this.plan;
    const last = torus.length - 1;
    const way = { a: [last, -1], d: [last, 1], w: [Math.max(0, last - 1), -1], s: [Math.max(0, last - 1), 1] }[event.key];
    if (!way) return;
    const at = coordinatesOf(torus, this.rank);
    at[way[0]] = (at[way[0]] + way[1] + torus[way[0]]) % torus[way[0]];
    this.pinned = rankAt(torus, at);
    this.choose(this.pinned, null);
  }
  walkBlocks(event) {
    const by = { a: -1, d: 1, w: -this.columns, s: this.columns }[event.key];
    if (!by) return;
    const cells = this.cells;
    const here = cells.findIndex((c) => c.p === this.block?.p && c.block === this.block?.block);
    const next = cells[Math.max(0, Math.min(cells.length - 1, here < 0 ? 0 : here + by))];
    this.choose(this.rank, { p: next.p, block: next.block });
  }

  /** Where the blocks of the chosen rank are drawn: each part begins a row. */
  layGrid() {
    if (this.cells) return;
    const room = this.grid.parentElement.clientWidth || 320;
    const wide = Math.min(320, window.innerWidth > 640 ? room / 2 : room), high = 110;
    const counts = this.plan.parts.map((part) => part.total);
    const rowsAt = (cell) => counts.reduce((rows, count) => rows + Math.ceil(count / Math.floor(wide / cell)), 0);
    let cell = 20;
    while (cell > 2 && rowsAt(cell) * cell + 4 * counts.length > high) --cell;
    this.cell = cell;
    this.columns = Math.min(Math.floor(wide / cell), Math.max(...counts, 1));
    this.cells = [];
    let y = 0;
    counts.forEach((count, p) => {
      for (let block = 0; block < count; ++block) {
        const row = Math.floor(block / this.columns);
        this.cells.push({ p, block, x: (block % this.columns) * cell, y: y + row * cell });
      }
      y += Math.ceil(count / this.columns) * cell + 4;
    });
    const scale = Math.min(2, window.devicePixelRatio || 1);
    this.grid.width = this.columns * cell * scale;
    this.grid.height = Math.max(1, Math.min(y, 600) * scale);
    this.grid.style.width = `${this.columns * cell}px`;
    this.gridScale = scale;
  }
  blockInGrid(x, y) {
    const found = this.cells.find((c) => x >= c.x && x < c.x + this.cell && y >= c.y && y < c.y + this.cell);
    return found ? { p: found.p, block: found.block } : null;
  }
  drawGrid(colours) {
    this.layGrid();
    const context = this.grid.getContext("2d");
    context.setTransform(this.gridScale, 0, 0, this.gridScale, 0, 0);
    context.clearRect(0, 0, this.grid.width, this.grid.height);
    const gap = this.cell > 5 ? 1 : 0;
    for (const { p, block, x, y } of this.cells) {
      context.fillStyle = blockColour(this.values, this.rank, p, block, colours);
      const scratch = block >= this.plan.parts[p].blocks ? this.cell * 0.18 : 0;
      context.fillRect(x + scratch, y + scratch, this.cell - gap - 2 * scratch, this.cell - gap - 2 * scratch);
      if (this.block && p === this.block.p && block === this.block.block) {
        context.strokeStyle = colours.ink;
        context.lineWidth = 2;
        context.strokeRect(x + 1, y + 1, this.cell - gap - 2, this.cell - gap - 2);
      }
    }
  }

  /** Where a place in time falls: the step, and the share of it that is over. */
  momentAt(time, pace) {
    const bounds = this.bounds[pace];
    let step = -1;
    while (step + 1 < this.plan.steps && bounds[step + 1] < time - 1e-9) ++step;
    if (step < 0) return { step: -1, share: 1 };
    const share = (time - bounds[step]) / (bounds[step + 1] - bounds[step]);
    return { step, share: share > 1 - 1e-6 ? 1 : share };
  }

  /** `view`: time, pace, part, largest load, colours. */
  draw(view) {
    const moment = this.momentAt(view.time, view.pace);
    const done = moment.share >= 1 ? moment.step + 1 : moment.step;
    this.values.go(done);
    const part = view.part < this.plan.parts.length ? view.part : -1;
    const chosen = [done, moment.step, this.rank, this.block?.p, this.block?.block, view.colours.paper].join("|");
    if (chosen !== this.chosen) {
      this.chosen = chosen;
      this.sayStep(moment, done);
      this.sayBlock(view.colours);
    }
    this.picture.draw({ ...moment, part, rank: this.rank, framed: this.framed, largest: view.largest }, view.colours);
  }
  sayStep(moment, done) {
    const { plan } = this;
    this.step.textContent = moment.step < 0 ? `before step 1 of ${plan.steps}`
      : done === plan.steps ? `done: ${plan.steps} of ${plan.steps} steps` : `step ${moment.step + 1} of ${plan.steps}`;
    this.figures.textContent = figuresText(this.loads, moment.step, done);
  }
  /** Of the block or the rank that was chosen. */
  sayBlock(colours) {
    this.framed = [];
    if (this.values.heard) {
      this.framed = this.values.heardBy(this.rank);
      this.text.textContent = blockText(this.values, this.rank, 0, 0, this.framed);
    } else if (this.block) {
      const { p, block } = this.block;
      this.framed = originsOf(this.values, this.rank, p, block, this.values.stepsOf(this.rank, p));
      this.text.textContent = blockText(this.values, this.rank, this.block.p, this.block.block, this.framed);
    } else {
      this.text.textContent = rankText(this.values, this.rank);
    }
    if (this.plan.data_moves) this.drawGrid(colours);
  }
}
