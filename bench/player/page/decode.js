// SPDX-License-Identifier: BSD-3-Clause
// From the page's data to flat arrays: messages by part, step and receiver, moves by part, step and rank.
"use strict";

function bytesOf(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/** Numbers of seven bits a byte, the lowest first. */
class Reader {
  constructor(text) {
    this.bytes = bytesOf(text);
    this.at = 0;
  }
  number() {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new Error("the page's data ends too early");
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }
  signed() {
    const value = this.number();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

/** Lists of extents: list i is the pairs (first, count) from start[i] to start[i + 1]. */
function readLists(lists) {
  const reader = new Reader(lists.data);
  const start = new Int32Array(lists.count + 1);
  const blocks = new Int32Array(lists.count);
  const pairs = [];
  for (let i = 0; i < lists.count; ++i) {
    let end = 0;
    for (let n = reader.number(); n > 0; --n) {
      const first = end + reader.signed();
      const count = reader.number();
      pairs.push(first, count);
      blocks[i] += count;
      end = first + count;
    }
    start[i + 1] = pairs.length;
  }
  return { start, blocks, pairs: Int32Array.from(pairs) };
}

function readMessage(reader, all, to, ranks) {
  const head = reader.number();
  all.port.push(head >> 3);
  all.to.push(to);
  all.from.push((to + reader.number()) % ranks);
  const list = reader.number();
  all.list.push(list);
  const how = head & 3;
  if (how === 3) {
    for (let n = reader.number(); n > 0; --n) {
      all.adds.push(reader.number());
      all.appliedList.push(reader.number());
    }
  } else if (how > 0) {
    all.adds.push(how === 2 ? 1 : 0);
    all.appliedList.push(list);
  }
  all.applied.push(all.adds.length);
}

function readMoves(reader, all, rank, ranks) {
  for (let n = reader.number(); n > 0; --n) {
    const flags = reader.number();
    all.moveAdds.push(flags & 1);
    all.moveInitial.push((flags >> 1) & 1);
    all.movePeer.push(flags & 4 ? (rank + reader.number()) % ranks : rank);
    all.moveFrom.push(reader.number());
    all.moveCount.push(reader.number());
    all.moveTo.push(reader.number());
  }
}

/** `plan` as it stands in the page, with `ranks`, `steps`, `lists` and `messages` added. */
function decodePlan(plan) {
  const ranks = plan.torus.reduce((a, b) => a * b, 1);
  const reader = new Reader(plan.data);
  const all = { port: [], to: [], from: [], list: [], applied: [0], adds: [], appliedList: [],
    moveAdds: [], moveInitial: [], movePeer: [], moveFrom: [], moveCount: [], moveTo: [] };
  const parts = plan.parts.map((part) => {
    const first = new Int32Array(part.steps * ranks + 1);
    const firstMove = new Int32Array(part.steps * ranks + 1);
    for (let place = 0; place < part.steps * ranks; ++place) {
      first[place] = all.to.length;
      firstMove[place] = all.moveTo.length;
      const head = reader.number();
      if (head % 2 === 1) readMoves(reader, all, place % ranks, ranks);
      for (let n = head >> 1; n > 0; --n) readMessage(reader, all, place % ranks, ranks);
    }
    first[part.steps * ranks] = all.to.length;
    firstMove[part.steps * ranks] = all.moveTo.length;
    return { ...part, total: part.blocks + part.scratch, first, firstMove };
  });
  if (reader.at !== reader.bytes.length) throw new Error("the page's data goes on after its end");
  const messages = {};
  for (const name of Object.keys(all)) messages[name] = Int32Array.from(all[name]);
  const steps = Math.max(0, ...parts.map((part) => part.steps));
  return { ...plan, data: "", ranks, parts, steps, lists: readLists(plan.lists), messages };
}
