// SPDX-License-Identifier: BSD-3-Clause
// One plan on a page that plays in time.

class TimedPanel extends Panel {
  makeValues() {
    this.timeline = new Timeline(this.plan);
    return new TimedValues(this.plan, this.timeline);
  }
  makePicture() {
    return new TimedPicture(this.canvas, this.plan, this.values, this.loads, this.timeline);
  }
  makeBounds() {
    return { time: this.timeline.bounds() };
  }

  /** `view`: time, part, colours. */
  draw(view) {
    const { timeline } = this;
    timeline.go(Math.min(view.time, timeline.seconds));
    this.sayTime(view.time);
    const chosen = [timeline.version, this.rank, this.block?.p, this.block?.block, view.colours.paper].join("|");
    if (chosen !== this.chosen) {
      this.chosen = chosen;
      this.sayBlock(view.colours);
    }
    const part = view.part < this.plan.parts.length ? view.part : -1;
    this.picture.draw({ part, rank: this.rank, framed: this.framed }, view.colours);
  }
  sayTime(time) {
    const { timeline, plan } = this;
    const all = timeText(timeline.seconds);
    this.step.textContent = time >= timeline.seconds * (1 - 1e-9) ? `done: ${all}` : `${timeText(time)} of ${all}`;
    this.figures.textContent = `${plan.time.words}. ${stateText(timeline)}`;
  }
}

/** "1.234 us" */
function timeText(seconds) {
  for (const [unit, size] of [["s", 1], ["ms", 1e-3], ["us", 1e-6]]) {
    if (seconds >= size) return `${(seconds / size).toPrecision(4)} ${unit}`;
  }
  return `${seconds > 0 ? (seconds / 1e-9).toPrecision(4) : 0} ns`;
}
function stateText(timeline) {
  const state = timeline.loads.at(timeline.now);
  let busiest = 0;
  for (const share of state.shares) busiest = Math.max(busiest, share);
  const wiring = state.name === undefined ? "" : state.changes ? ` The wiring changes to: ${state.name}.` : ` Wiring: ${state.name}.`;
  return `${timeline.flowing.length} messages flow; the busiest link carries ${Math.round((100 * busiest) / state.whole)} % of ` +
    `its rate; ${timeline.ranksDone} of ${timeline.plan.ranks} ranks are done.${wiring}`;
}
