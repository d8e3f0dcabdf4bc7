// SPDX-License-Identifier: BSD-3-Clause
// What a page that plays in time checks of itself: nothing happens before its cause, links carry what the messages
// weigh, and in the end each rank has its results.

function checkTimed(panel) {
  const { plan, values, timeline } = panel;
  const require = (holds, text) => {
    if (!holds) throw new Error(`${plan.algorithm}: ${text}`);
  };
  const causes = checkCauses(plan, timeline, require);
  const carried = timeline.loads instanceof LinkShares ? checkCarried(panel, require) : checkWired(panel, require);
  timeline.go(timeline.seconds);
  let results = 0;
  plan.parts.forEach((part, p) => {
    for (let rank = 0; rank < plan.ranks; ++rank) {
      require(values.stepsOf(rank, p) === part.steps, `rank ${rank} ends at step ${values.stepsOf(rank, p)} of part ${p}`);
      for (let block = 0; block < part.blocks; ++block) {
        if (!values.heard && !values.ends(rank, p, block)) continue;
        require(values.isResult(rank, p, block), `block ${block} of part ${p} on rank ${rank} is not a result in the end`);
        ++results;
      }
    }
  });
  require(timeline.ranksDone === plan.ranks, `${timeline.ranksDone} ranks are done in the end`);
  require(timeline.flowing.length === 0, `${timeline.flowing.length} messages flow in the end`);
  require(values.progress().every((share) => share < 0 || share > 1 - 1e-5), "not all ranks have their results in the end");
  const origins = checkTimedOrigins(panel, require);
  timeline.go(0.37 * timeline.seconds);
  const counts = timeline.counts.slice();
  timeline.go(timeline.seconds);
  timeline.go(0.37 * timeline.seconds);
  require(counts.every((count, place) => count === timeline.counts[place]), "going back leads elsewhere");
  timeline.go(0);
  return `${results} results, ${causes} causes, ${carried}, ${origins} blocks traced`;
}

/** Messages leave when their sender has completed the step before, and steps end when their messages are there. */
function checkCauses(plan, timeline, require) {
  const { from, to } = plan.messages;
  const late = (2 * timeline.seconds) / plan.time.ticks;
  let causes = 0;
  plan.parts.forEach((part, p) => {
    const completed = (rank, step) => (step < 0 ? 0 : timeline.completed[p][step * plan.ranks + rank]);
    for (let place = 0; place < part.steps * plan.ranks; ++place) {
      const step = Math.floor(place / plan.ranks);
      require(completed(place % plan.ranks, step) >= completed(place % plan.ranks, step - 1) - late, `step ${step} ends too early`);
      for (let i = part.first[place]; i < part.first[place + 1]; ++i, ++causes) {
        const name = `message ${i} of step ${step} from ${from[i]} to ${to[i]}`;
        require(timeline.begin[i] >= completed(from[i], step - 1) - late, `${name} leaves before its rank is so far`);
        require(timeline.end[i] >= timeline.begin[i] && timeline.end[i] <= timeline.seconds + late, `${name} ends wrongly`);
        require(timeline.end[i] <= completed(to[i], step) + late, `${name} arrives after its step is complete`);
      }
    }
  });
  return causes;
}

/** Over the whole run each link carries what the routes of all messages bring it. */
function checkCarried(panel, require) {
  const { plan, loads, timeline } = panel;
  if (plan.time.vector_seconds.length === 0) return "links not compared";
  const { shares, links, slices, whole } = timeline.loads;
  const wanted = new Float64Array(links);
  for (let step = 0; step < plan.steps; ++step) loads.of(step, -1).forEach((load, link) => (wanted[link] += load));
  const ports = 2 * plan.torus.length;
  let sum = 0;
  for (let link = 0; link < links; ++link) {
    let carried = 0;
    for (let slice = 0; slice < slices; ++slice) carried += shares[slice * links + link];
    const inVectors = ((carried / whole) * (timeline.seconds / slices)) / plan.time.vector_seconds[(link % ports) >> 1];
    const coarse = timeline.seconds / slices / whole / plan.time.vector_seconds[(link % ports) >> 1];
    require(Math.abs(inVectors - wanted[link]) <= coarse + 1e-6 * wanted[link],
      `link ${link} carries ${inVectors} vectors, not ${wanted[link]}`);
    sum += inVectors;
  }
  return `${shortNumber(sum)} vectors over links`;
}

/** Spans follow each other, and every message has a way on its wiring. */
function checkWired(panel, require) {
  const { plan, picture, timeline } = panel;
  let now = 0;
  for (const span of plan.time.steps) {
    require(span.change >= now - 1e-15 && span.begin >= span.change && span.flows >= span.begin && span.end >= span.flows,
      `step ${span.step} does not follow the one before`);
    now = span.end;
    const busiest = Math.max(0, ...span.shares);
    require(busiest === 0 || Math.abs(busiest - 1) < 1e-3, `the busiest circuit of step ${span.step} carries ${busiest}`);
    panel.loads.eachMessage(span.step, -1, (i) => {
      const way = picture.wayOf(span.wiring, i);
      require(way.at(-1) === plan.messages.to[i], `message ${i} has no way on ${plan.time.wirings[span.wiring].name}`);
    });
  }
  require(now <= timeline.seconds * (1 + 1e-9), "the last step ends after the end");
  return `${plan.time.steps.length} steps on ${plan.time.wirings.length} wirings`;
}

/** Numbers carried forwards against ranks found backwards, with each rank at its own step. */
function checkTimedOrigins(panel, require) {
  const { plan, values, timeline } = panel;
  if (values.heard) return 0;
  let traced = 0;
  for (let n = 1; n <= 20; ++n) {
    timeline.go((timeline.seconds * n) / 20);
    const p = n % plan.parts.length;
    const rank = (n * 7919) % plan.ranks, block = (n * 104729) % plan.parts[p].blocks;
    const value = values.value(rank, p, block);
    const found = originsOf(values, rank, p, block, values.stepsOf(rank, p));
    const right = plan.reduces ? found.length === value : found.length === (value === 0 ? 0 : 1);
    require(right, `block ${block} of part ${p} on rank ${rank}: ranks ${found}, value ${value}`);
    ++traced;
  }
  return traced;
}
