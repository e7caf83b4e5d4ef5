import { expect, test } from "vitest";
import type { Layout, Part } from "../../src/tablebase/layout.ts";
import { type Material, materialFromName } from "../../src/tablebase/material.ts";
import { createPlacement } from "../../src/tablebase/placement.ts";
import type { Tables } from "../../src/tablebase/probe.ts";
import { evaluate, rankMoves } from "../../src/tablebase/rank-moves.ts";
import { positionOf } from "../chess/validated.ts";

const material = materialFromName("KRvK") as Material;

function partOf(value: number, distance = 0): Part {
  return {
    placement: createPlacement(material, material.codes, { lead: 0, otherPawns: undefined }, 0),
    isBlackToMove: false,
    isWinInPlies: true,
    isLossInPlies: false,
    valueMaps: Array.from({ length: 4 }, () => Uint16Array.of(distance)),
    values: { kind: "constant", value },
  };
}

/** Tables of a rook that wins in 99 plies from each position. No table of three or four men has so long a win. */
const tables: Tables = {
  turn: async () => {},
  async open(_, kind) {
    const sides = kind === "wdl" ? [[partOf(4)], [partOf(0)]] : [[partOf(0, 98)]];
    const layout: Layout = { sides, bytes: 0, headBytes: 0 };
    const read = async () => new Uint8Array();
    return { layout, read, reject: (error) => error as Error, isSymmetric: false, isSwapped: false };
  },
};

test("each move of a lost position loses, also if the distance after the move reaches the end of the clock exactly", async () => {
  const { board } = positionOf("8/8/8/3k4/8/8/8/K6R b - - 0 1");
  const evaluation = await evaluate(board, tables);
  expect(evaluation).toMatchObject({ category: "loss", distance: -100 });
  const occurrences = { occurrencesOf: () => 0, hasRepeated: false };
  const ranked = await rankMoves(board, occurrences, evaluation, tables);
  expect(ranked).toHaveLength(8);
  for (const move of ranked) {
    expect(move.evaluation).toMatchObject({ category: "win", distance: 99 });
  }
});
