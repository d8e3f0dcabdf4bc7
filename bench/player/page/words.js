// SPDX-License-Identifier: BSD-3-Clause
// What the page says of steps, ranks and blocks.

function rankName(plan, rank) {
  return plan.torus.length === 1 ? `rank ${rank}` : `rank ${rank} (${coordinatesOf(plan.torus, rank).join(", ")})`;
}

/** "0-3, 7, 9-11" */
function runsOf(numbers) {
  const runs = [];
  for (let i = 0; i < numbers.length; ) {
    let end = i;
    while (end + 1 < numbers.length && numbers[end + 1] === numbers[end] + 1) ++end;
    runs.push(end > i + 1 ? `${numbers[i]}-${numbers[end]}` : numbers.slice(i, end + 1).join(", "));
    i = end + 1;
  }
  return runs.join(", ");
}

/** At most four digits, no noise. */
function shortNumber(value) {
  return String(Number(value.toPrecision(4)));
}

function blockName(plan, p, block) {
  const part = plan.parts[p];
  const within = plan.parts.length > 1 ? ` of part ${p}` : "";
  if (block >= part.blocks) return `Scratch block ${block - part.blocks}${within}`;
  if (plan.sent_blocks > 0) {
    const slots = plan.with_neighbours ? "neighbour" : "rank";
    return block < plan.sent_blocks
      ? plan.in.own ? `The block to send${within}` : `The block for ${slots} ${block}${within}`
      : `The block from ${slots} ${block - plan.sent_blocks}${within}`;
  }
  const owner = part.owners ? `, of rank ${part.owners[block]},` : "";
  return `Block ${block}${within}${owner}`;
}

/** Of a block after the steps that `values` stands at: what it holds, and whose contributions. */
function blockText(values, rank, p, block, origins) {
  const { plan } = values;
  const on = `on ${rankName(plan, rank)}`;
  if (values.heard) {
    return `${rankName(plan, rank)} has heard from ${origins.length} of ${plan.ranks} ranks: ${runsOf(origins)}.`;
  }
  const name = `${blockName(plan, p, block)} ${on}`;
  if (origins.length === 0) return `${name} holds nothing yet.`;
  const end = values.isResult(rank, p, block) ? " It is a result." : "";
  if (!plan.reduces) {
    const which = (values.value(rank, p, block) - 1) % plan.parts[p].blocks;
    const what = plan.sent_blocks > 0 && !plan.in.own ? ` had for ${plan.with_neighbours ? "neighbour" : "rank"} ${which}` : " had";
    return `${name} holds what rank ${origins[0]}${what}.${end}`;
  }
  const count = origins.length === 1 ? "the contribution of 1" : `the contributions of ${origins.length}`;
  return `${name} holds ${count} of ${plan.ranks} ranks: ${runsOf(origins)}.${end}`;
}

function rankText(values, rank) {
  const { plan } = values;
  const share = values.progress()[rank];
  const name = rankName(plan, rank);
  const named = name[0].toUpperCase() + name.slice(1);
  if (values.heard) return `${named} has heard from ${values.heardBy(rank).length} of ${plan.ranks} ranks.`;
  const percent = `${Math.floor(100 * share + 1e-6)} %`;
  const has = share < 0 ? "gets no result"
    : plan.reduces ? `holds ${percent} of the contributions to its result` : `holds ${percent} of the blocks of its result`;
  return `${named} ${has}. Point at one of its blocks.`;
}

function figuresText(loads, step, done) {
  const sum = loads.largest.slice(0, done).reduce((a, b) => a + b, 0);
  const so = `Sum of the busiest links so far: ${shortNumber(sum)} of ${shortNumber(loads.largest.reduce((a, b) => a + b, 0))} vectors.`;
  if (step < 0) return `${so} Nothing has moved.`;
  if (loads.count[step] === 0) return `${so} No messages: ranks copy, or read each other's memory.`;
  const hops = loads.hops[step] === 1 ? "1 hop" : `up to ${loads.hops[step]} hops`;
  return `${loads.count[step]} messages, ${hops}, busiest link ${shortNumber(loads.largest[step])} vectors. ${so}`;
}
