// SPDX-License-Identifier: BSD-3-Clause
// Time, buttons and keys: one clock for all pictures.

const speeds = [0.25, 0.5, 1, 2, 4, 8];
const stepsPerSecond = 0.7;
const secondsOfTimed = 12;

class Player {
  constructor(plans) {
    this.find = (id) => document.getElementById(id);
    this.time = 0;
    this.playing = false;
    this.pace = "step";
    this.speed = 1;
    this.part = -1;
    this.dirty = true;
    this.timed = Boolean(plans[0].time);
    const Kind = this.timed ? TimedPanel : Panel;
    this.panels = plans.map((plan) => new Kind(this.find("panels"), plan, () => this.refresh()));
    if (this.timed) this.pace = "time";
    this.largest = Math.max(...this.panels.map((panel) => panel.loads.most));
    this.spent = 0;  // milliseconds of drawing
    this.shown = new Set();  // times that were drawn
    this.head(plans[0]);
    this.controls();
    this.calm = window.matchMedia("(prefers-reduced-motion: reduce)");
    this.calm.addEventListener("change", () => this.refresh());
    this.dark = window.matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", () => this.recolour());
    window.addEventListener("resize", () => {
      for (const panel of this.panels) panel.cells = panel.chosen = null;
      this.refresh();
    });
    this.recolour();
    this.tick = this.tick.bind(this);
    requestAnimationFrame(this.tick);
  }

  head(plan) {
    const names = this.panels.map((panel) => panel.plan.algorithm).join(" and ");
    const title = `${plan.collective} by ${names} on a torus of ${plan.torus.join("x")}`;
    this.find("title").textContent = title;
    document.title = `${title} - Trefoil`;
    document.body.classList.toggle("timed", this.timed);
    this.find("largest-load").textContent = this.timed ? "100 % of its rate"
      : `${shortNumber(plan.data_moves ? this.largest : 0)} vectors`;
    this.find("held-name").textContent = !plan.data_moves ? "ranks heard from" : plan.reduces ? "contributions held" : "blocks held";
    this.find("pace-label").hidden = this.panels.length < 2 || this.timed;
  }

  controls() {
    const click = (id, action) => this.find(id).addEventListener("click", action);
    click("first", () => this.go(0));
    click("last", () => this.go(this.end()));
    click("back", () => this.back());
    click("forward", () => this.forward());
    click("play", () => this.toggle());
    this.find("place").addEventListener("input", (event) => this.go(Number(event.target.value)));
    for (const speed of speeds) make("option", this.find("speed"), { value: speed, textContent: `${speed}x` });
    this.find("speed").value = 1;
    this.find("speed").addEventListener("change", (event) => this.setSpeed(Number(event.target.value)));
    const parts = Math.max(...this.panels.map((panel) => panel.plan.parts.length));
    make("option", this.find("part"), { value: -1, textContent: "all" });
    for (let p = 0; p < parts && parts > 1; ++p) make("option", this.find("part"), { value: p, textContent: p });
    this.find("part").addEventListener("change", (event) => {
      this.part = Number(event.target.value);
      this.refresh();
    });
    this.find("pace").addEventListener("change", (event) => this.setPace(event.target.value));
    document.addEventListener("keydown", (event) => this.key(event));
  }
  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const tag = event.target.tagName;
    if (tag === "SELECT" || (tag === "INPUT" && event.key.startsWith("Arrow"))) return;
    if (event.key === " " && (tag === "BUTTON" || tag === "SUMMARY")) return;
    const faster = speeds.indexOf(this.speed);
    const action = {
      " ": () => this.toggle(), ArrowRight: () => this.forward(), ArrowLeft: () => this.back(),
      Home: () => this.go(0), End: () => this.go(this.end()),
      "+": () => this.setSpeed(speeds[Math.min(speeds.length - 1, faster + 1)]),
      "-": () => this.setSpeed(speeds[Math.max(0, faster - 1)]),
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  bounds() {
    const all = this.panels.flatMap((panel) => panel.bounds[this.pace]);
    return [...new Set(all)].sort((a, b) => a - b);
  }
  end() {
    return Math.max(...this.panels.map((panel) => panel.bounds[this.pace].at(-1)));
  }
  atEnd() {
    return this.time > 0 && this.time >= this.end() * (1 - 1e-9);
  }
  forward() {
    this.pause();
    this.go(this.bounds().find((bound) => bound > this.time + 1e-7 * this.end()) ?? this.end());
  }
  back() {
    this.pause();
    this.go(this.bounds().filter((bound) => bound < this.time - 1e-7 * this.end()).at(-1) ?? 0);
  }
  go(time) {
    this.time = Math.max(0, Math.min(this.end(), time));
    this.refresh();
  }
  toggle() {
    if (this.playing) return this.pause();
    if (this.atEnd()) this.time = 0;
    this.playing = true;
    this.last = undefined;
    this.refresh();
  }
  pause() {
    this.time = this.shownTime();
    this.playing = false;
    this.refresh();
  }
  setSpeed(speed) {
    this.speed = speed;
    this.find("speed").value = speed;
  }
  setPace(pace) {
    const share = this.time / (this.end() || 1);
    this.pace = pace;
    this.find("pace").value = pace;
    this.go(share * this.end());
  }

  recolour() {
    this.colours = coloursOf(this.dark.matches);
    for (const [id, scale] of [["load-scale", this.colours.load], ["held-scale", this.colours.held]]) {
      const context = this.find(id).getContext("2d");
      for (let x = 0; x < 120; ++x) {
        context.fillStyle = colourAt(scale, x / 119);
        context.fillRect(x, 0, 1, 10);
      }
    }
    this.refresh();
  }
  /** From the beginning to the end at the plain speed. */
  wholeSeconds() {
    return this.timed ? secondsOfTimed : Math.max(1, ...this.panels.map((panel) => panel.plan.steps)) / stepsPerSecond;
  }
  refresh() {
    this.dirty = true;
  }
  tick(now) {
    if (this.playing) {
      const passed = Math.min(0.1, (now - (this.last ?? now)) / 1000);
      this.time += (passed * this.speed * this.end()) / this.wholeSeconds();
      if (this.time >= this.end()) {
        this.time = this.end();
        this.playing = false;
      }
      this.dirty = true;
    }
    this.last = now;
    if (this.dirty) {
      const began = performance.now();
      this.draw();
      this.spent += performance.now() - began;
    }
    requestAnimationFrame(this.tick);
  }
  /** For readers who ask for less motion: while it plays, each step as a picture of its middle. */
  shownTime() {
    if (!this.playing || !this.calm.matches) return this.time;
    const bounds = this.bounds();
    const next = Math.max(1, bounds.findIndex((bound) => bound > this.time));
    return this.time < this.end() && bounds.length > 1 ? (bounds[next - 1] + bounds[next]) / 2 : this.time;
  }
  draw() {
    this.dirty = false;
    const { pace, part, largest, colours } = this;
    const time = this.shownTime();
    this.find("calm").hidden = !this.calm.matches;
    this.shown.add(time);
    for (const panel of this.panels) panel.draw({ time, pace, part, largest, colours });
    const place = this.find("place");
    place.max = this.end();
    place.value = time;
    this.find("play").textContent = this.playing ? "Pause" : this.atEnd() ? "Again" : "Play";
  }
}
