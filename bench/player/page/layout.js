// SPDX-License-Identifier: BSD-3-Clause
// Where ranks and links lie in a picture: a ring as a circle, two dimensions as a grid, more as slices beside each other.

class Layout {
  constructor(torus, width, height) {
    this.torus = torus;
    this.dimensions = torus.length;
    this.circle = torus.length === 1 && torus[0] > 2;
    if (this.circle) {
      this.radius = Math.min(width, height) / 2 / (1 + 2.2 / Math.max(8, torus[0])) - 14;
      this.centre = [width / 2, height / 2];
      this.cell = Math.min(this.radius * 0.55, (2 * Math.PI * this.radius) / torus[0]);
    } else {
      const ways = [this.steps(true), this.steps(false)].map((steps) => {
        const extent = this.extent(steps);
        return { steps, extent, cell: Math.min((width - 8) / (extent[0] + 1.1), (height - 8) / (extent[1] + 1.1)) };
      });
      const best = ways[1].cell > ways[0].cell ? ways[1] : ways[0];
      this.cell = Math.min(best.cell, 170);
      this.unit = best.steps;
      this.origin = [(width - best.extent[0] * this.cell) / 2, (height - best.extent[1] * this.cell) / 2];
    }
    this.box = Math.max(1.6, this.cell * (this.cell > 40 ? 0.62 : 0.5));
    this.shift = Math.max(0.7, Math.min(7, this.cell * 0.055));  // of a link to the right of its way
    const ranks = torus.reduce((a, b) => a * b, 1);
    this.points = Array.from({ length: ranks }, (_, rank) => this.point(coordinatesOf(torus, rank)));
  }

  /** By dimension: what one step of it is in x and y, in cells. */
  steps(acrossFirst) {
    const unit = new Array(this.dimensions);
    let wide = this.torus[this.dimensions - 1], high = this.torus[this.dimensions - 2] ?? 1;
    unit[this.dimensions - 1] = [1, 0];
    if (this.dimensions > 1) unit[this.dimensions - 2] = [0, 1];
    for (let j = this.dimensions - 3, across = acrossFirst; j >= 0; --j, across = !across) {
      unit[j] = across ? [wide + 0.9, 0] : [0, high + 0.9];
      if (across) wide += (this.torus[j] - 1) * (wide + 0.9);
      else high += (this.torus[j] - 1) * (high + 0.9);
    }
    return unit;
  }
  extent(steps) {
    return [0, 1].map((axis) => steps.reduce((sum, step, j) => sum + step[axis] * (this.torus[j] - 1), 0));
  }

  /** Of coordinates that need not be whole; halfway over a ring's seam one side of the picture becomes the other. */
  point(coordinates) {
    if (this.circle) {
      const angle = (2 * Math.PI * coordinates[0]) / this.torus[0] - Math.PI / 2;
      return [this.centre[0] + this.radius * Math.cos(angle), this.centre[1] + this.radius * Math.sin(angle)];
    }
    let [x, y] = this.origin;
    coordinates.forEach((c, j) => {
      const size = this.torus[j];
      const at = c > size - 0.5 ? c - size : c < -0.5 ? c + size : c;
      x += this.unit[j][0] * at * this.cell;
      y += this.unit[j][1] * at * this.cell;
    });
    return [x, y];
  }

  /** The line that stands for the link behind `port`: [x, y, x, y]. Both directions of a pair run beside each other. */
  link(rank, port) {
    const j = port >> 1;
    const sign = port % 2 === 0 ? 1 : -1;
    const [x, y] = this.points[rank];
    const { shift } = this;
    const half = this.box / 2;
    if (this.circle) {
      const at = coordinatesOf(this.torus, rank)[0];
      const [u, v] = this.point([at + sign]);
      const length = Math.hypot(u - x, v - y) || 1;
      const dx = (u - x) / length, dy = (v - y) / length;
      const from = Math.min(half, length * 0.3);
      return [x + dx * from - dy * shift, y + dy * from + dx * shift,
        u - dx * from - dy * shift, v - dy * from + dx * shift];
    }
    if (j < this.dimensions - 2) {  // to another slice: a tick at a corner
      const long = Math.min(this.cell - this.box, this.box) * 0.5;
      return [x + sign * half, y - sign * half, x + sign * (half + long), y - sign * (half + long)];
    }
    const [dx, dy] = [this.unit[j][0] * sign, this.unit[j][1] * sign];
    const at = coordinatesOf(this.torus, rank)[j];
    const leaves = sign > 0 ? at === this.torus[j] - 1 : at === 0;
    const length = leaves ? half + (this.cell - this.box) * 0.85 : this.cell - half;
    return [x + dx * half - dy * shift, y + dy * half + dx * shift,
      x + dx * length - dy * shift, y + dy * length + dx * shift];
  }

  /** The rank whose box is nearest, if the place is in or near it; else -1. */
  rankNear(x, y) {
    let best = -1, least = Math.max(14, this.cell * 0.62);
    this.points.forEach(([u, v], rank) => {
      const apart = Math.max(Math.abs(u - x), Math.abs(v - y));
      if (apart < least) {
        least = apart;
        best = rank;
      }
    });
    return best;
  }
}
