// SPDX-License-Identifier: BSD-3-Clause
// What the page checks of itself when its address ends in #selftest, and places to which an address can lead
// (#step=3&rank=4&part=0&block=1, in time #share=0.5). Verdicts go to the console, too, where a test reads them.

/** Throws when anything is not as it must be. Returns what was looked at. */
function checkPanel(panel) {
  const { plan, values, loads } = panel;
  const require = (holds, text) => {
    if (!holds) throw new Error(`${plan.algorithm}: ${text}`);
  };
  const used = [...loads.largest].filter((_, s) => loads.count[s] > 0);
  require(used.length === plan.largest_loads.length, `${used.length} steps with messages, not ${plan.largest_loads.length}`);
  plan.largest_loads.forEach((load, s) => require(Math.abs(load - used[s]) < 1e-6 * (1 + load),
    `the busiest link of step ${s} carries ${used[s]}, not ${load}`));
  for (let step = 0; step < plan.steps; step += Math.max(1, Math.floor(plan.steps / 30))) checkFlow(loads, step, require);
  const beginning = values.parts.map((part) => part.slice());
  let origins = 0;
  for (let done = 0; done <= plan.steps; ++done) {
    values.go(done);
    origins += checkOrigins(values, require);
  }
  let results = 0;
  plan.parts.forEach((part, p) => {
    for (let rank = 0; rank < plan.ranks; ++rank) {
      for (let block = 0; block < part.blocks; ++block) {
        if (!values.heard && !values.ends(rank, p, block)) continue;
        require(values.isResult(rank, p, block), `block ${block} of part ${p} on rank ${rank} is not a result in the end`);
        ++results;
      }
    }
  });
  for (let done = plan.steps; done >= 0; done -= Math.max(1, Math.floor(plan.steps / 8))) values.go(done);
  values.go(0);
  values.parts.forEach((part, p) => require(part.every((value, i) => value === beginning[p][i]), "the beginning differs after going back"));
  return `${results} results, ${origins} blocks traced`;
}

/** What leaves a rank over links, less what comes in, is what it sends, less what is for it; and ways are shortest. */
function checkFlow(loads, step, require) {
  const { plan } = loads;
  const ports = 2 * plan.torus.length;
  const net = new Float64Array(plan.ranks);
  let wanted = 0, carried = 0;
  loads.eachMessage(step, -1, (i, part) => {
    const m = plan.messages;
    const bytes = plan.lists.blocks[m.list[i]] * part.share;
    net[m.from[i]] -= bytes;
    net[m.to[i]] += bytes;
    const from = loads.coordinates[m.from[i]], to = loads.coordinates[m.to[i]];
    plan.torus.forEach((size, j) => {
      const apart = Math.abs(from[j] - to[j]);
      wanted += bytes * Math.min(apart, size - apart);
    });
  });
  loads.of(step, -1).forEach((load, place) => {
    const rank = Math.floor(place / ports);
    net[rank] += load;
    net[neighbour(plan, rank, place % ports)] -= load;
    carried += load;
  });
  const wrong = net.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  require(wrong < 1e-6 * (1 + wanted), `the links of step ${step} do not lead from senders to receivers`);
  require(Math.abs(carried - wanted) < 1e-6 * (1 + wanted), `the links of step ${step} carry ${carried}, not ${wanted}`);
}

/** Two ways to the same: numbers carried forwards, ranks found backwards. Of some blocks. */
function checkOrigins(values, require) {
  const { plan } = values;
  if (values.heard) return 0;
  const tries = Math.max(2, Math.ceil(40 / (plan.steps + 1)));
  for (let i = 0; i < tries; ++i) {
    const p = i % plan.parts.length;
    const rank = (i * 7919 + values.done * 31) % plan.ranks;
    const block = (i * 104729 + values.done * 17) % plan.parts[p].blocks;
    const found = originsOf(values, rank, p, block, values.done);
    const value = values.value(rank, p, block);
    const right = plan.reduces ? found.length === value
      : value === 0 ? found.length === 0 : found.length === 1 && found[0] === Math.floor((value - 1) / plan.parts[p].blocks);
    require(right, `block ${block} of part ${p} on rank ${rank} after ${values.done} steps: ranks ${found}, value ${value}`);
  }
  return tries;
}

/** Keys, a mouse or a finger do what the page says they do, and nothing is wider than the screen. */
function checkHands(player) {
  const require = (holds, text) => {
    if (!holds) throw new Error(text);
  };
  const press = (key, target = document.body) => target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  player.go(0);
  press("ArrowRight");
  require(player.time === player.bounds()[1], `the right arrow leads to ${player.time}`);
  press("ArrowLeft");
  require(player.time === 0, `the left arrow leads to ${player.time}`);
  press(" ");
  require(player.playing, "space does not play");
  press(" ");
  require(!player.playing, "space does not pause");
  press("+");
  require(player.speed === 2 && player.find("speed").value === "2", `plus leads to speed ${player.speed}`);
  press("-");
  press("End");
  require(player.time === player.end(), `End leads to ${player.time}`);
  press("Home");
  require(player.time === 0, `Home leads to ${player.time}`);
  const place = player.find("place");
  player.draw();
  place.value = 0.5 * player.end();
  place.dispatchEvent(new Event("input"));
  require(Math.abs(player.time - 0.5 * player.end()) < 1e-6 * player.end(), `the slider leads to ${player.time}`);
  for (const panel of player.panels) checkPointing(panel, player, press, require);
  player.go(0);
  const wide = document.documentElement.scrollWidth;
  require(wide <= window.innerWidth, `the page is ${wide} pixels wide, the screen ${window.innerWidth}`);
}
function checkPointing(panel, player, press, require) {
  const { plan, picture } = panel;
  const point = (canvas, kind, x, y) => {
    const { left, top } = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new PointerEvent(kind, { clientX: left + x, clientY: top + y, bubbles: true }));
  };
  const last = plan.ranks - 1;
  point(panel.canvas, "pointerdown", ...picture.layout.points[last]);
  require(panel.rank === last, `pointing at rank ${last} chooses rank ${panel.rank}`);
  player.draw();
  if (plan.data_moves) {
    point(panel.grid, "pointermove", panel.cells[0].x + 2, panel.cells[0].y + 2);
    require(panel.block?.p === 0 && panel.block.block === 0, "pointing at a block does not choose it");
    player.draw();
    require(/holds/.test(panel.text.textContent), `of a block the page says: ${panel.text.textContent}`);
  }
  press("d", panel.canvas);
  require(panel.rank !== last || plan.torus.at(-1) === 1, "the key D chooses no other rank");
  panel.pinned = 0;
  panel.choose(0, null);
}

function tell(text) {
  const verdict = document.getElementById("verdict");
  verdict.hidden = false;
  verdict.textContent += text + "\n";
  console.log("trefoil: " + text);
}

/** Plays from the beginning to the end in real time, and counts frames. */
function playThrough(player, speed, finish) {
  player.go(0);
  player.setSpeed(speed);
  player.toggle();
  const began = performance.now();
  let frames = 0, longest = 0, last = began;
  player.spent = 0;
  player.shown.clear();
  const watch = (now) => {
    ++frames;
    longest = Math.max(longest, now - last);
    last = now;
    if (player.playing) return requestAnimationFrame(watch);
    const seconds = (performance.now() - began) / 1000;
    finish({ frames, seconds, rate: frames / seconds, longest, drawn: player.spent / frames });
  };
  requestAnimationFrame(watch);
}

function selftest(player, speed) {
  for (const panel of player.panels) tell(`${panel.plan.algorithm}: ${player.timed ? checkTimed(panel) : checkPanel(panel)}`);
  checkHands(player);
  for (let i = 0; i < 3; ++i) player.forward();
  player.draw();
  player.back();
  player.draw();
  playThrough(player, speed, (played) => {
    const steps = player.panels.map((panel) => panel.step.textContent).join("; ");
    const still = player.bounds().length + 2;
    if (player.calm.matches && player.shown.size > still) {
      return tell(`wrong: ${player.shown.size} pictures for a reader who asks for less motion, not ${still}`);
    }
    tell(`${player.shown.size} pictures${player.calm.matches ? " for less motion" : ""} on ${window.innerWidth} pixels`);
    tell(`played ${played.frames} frames in ${played.seconds.toFixed(2)} s: ${played.rate.toFixed(1)} per second, ` +
      `the longest ${played.longest.toFixed(0)} ms, drawing takes ${played.drawn.toFixed(1)} ms`);
    const ended = player.panels.every((panel) => panel.step.textContent.startsWith("done"));
    tell(ended ? `ok: ${steps}` : `wrong: it ended at ${steps}`);
  });
}

function followAddress(player) {
  const asked = new URLSearchParams(location.hash.slice(1));
  const number = (name) => (asked.has(name) ? Number(asked.get(name)) : undefined);
  if (asked.has("pace")) player.setPace(asked.get("pace"));
  if (asked.has("step")) player.go(number("step"));
  if (asked.has("share")) player.go(number("share") * player.end());
  for (const panel of player.panels) {
    const rank = number("rank") ?? 0;
    panel.pinned = rank;
    panel.choose(rank, asked.has("block") ? { p: number("part") ?? 0, block: number("block") } : null);
  }
  player.draw();
  if (asked.has("block")) for (const panel of player.panels) console.log("trefoil: " + panel.text.textContent);
  if (asked.has("selftest")) selftest(player, number("speed") ?? 8);
}

window.addEventListener("error", (event) => tell(`wrong: ${event.message}`));
const player = new Player(JSON.parse(document.getElementById("plans").textContent));
followAddress(player);
