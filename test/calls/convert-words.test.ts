import type { DescEnum, MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import * as pb from "../../gen/chess/analysis/v1/analysis_pb.ts";
import type { EvaluateResponseSchema } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { Analysis, StopReason } from "../../src/analysis/analysis.ts";
import { messageFromAnalysis } from "../../src/calls/convert.ts";
import type { Bound, Score } from "../../src/chess/score.ts";
import { analysisFromEvent } from "../analysis/analysis-from-event.ts";
import { doneOf, lineOf, snapshotOf, validated } from "../analysis/made-up.ts";
import { positionOf, startFen } from "../chess/validated.ts";

function messageOf(told: Partial<Analysis> = {}): MessageInitShape<typeof EvaluateResponseSchema> {
  return messageFromAnalysis({ ...analysisFromEvent(doneOf(), validated(), 3), ...told });
}

/** Every value of the enum but 0 is reached by one of the words. */
function expectAll(desc: DescEnum, reached: readonly (number | undefined)[]): void {
  const values = desc.values.map(({ number }) => number).filter((number) => number !== 0);
  expect([...new Set(reached)].toSorted()).toEqual(values.toSorted());
}

describe("every word of the domain has its value of the enum", () => {
  test("every reason why a search stopped has its enum value", () => {
    const words: Readonly<Record<StopReason, pb.StopReason>> = {
      depth: pb.StopReason.DEPTH,
      nodes: pb.StopReason.NODES,
      movetime: pb.StopReason.MOVETIME,
      server_limit: pb.StopReason.SERVER_LIMIT,
      terminal: pb.StopReason.TERMINAL,
    };
    for (const [stopReason, value] of Object.entries(words)) {
      expect(messageOf({ stopReason: stopReason as StopReason }).search?.stopReason).toBe(value);
    }
    expect(messageOf({ stopReason: undefined }).search).not.toHaveProperty("stopReason");
    expectAll(pb.StopReasonSchema, Object.values(words));
  });

  test("every end of a game and every winner has its enum value", () => {
    const shuffle = ["Nf3", "Nf6", "Ng1", "Ng8"];
    const ends = [
      [positionOf("R3k3/2K4R/8/8/8/8/8/8 b - - 0 1"), pb.TerminalReason.CHECKMATE, pb.Color.WHITE, "1-0"],
      [positionOf("8/8/8/8/8/8/2k4r/r3K3 w - - 0 1"), pb.TerminalReason.CHECKMATE, pb.Color.BLACK, "0-1"],
      [positionOf("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), pb.TerminalReason.STALEMATE, undefined, "1/2-1/2"],
      [
        positionOf("8/8/4k3/8/8/4K3/8/8 w - - 0 1"),
        pb.TerminalReason.INSUFFICIENT_MATERIAL,
        undefined,
        "1/2-1/2",
      ],
      [
        positionOf("8/8/4k3/8/8/4K3/4P3/8 w - - 150 99"),
        pb.TerminalReason.SEVENTYFIVE_MOVES,
        undefined,
        "1/2-1/2",
      ],
      [
        positionOf(startFen, { moves: [...shuffle, ...shuffle, ...shuffle, ...shuffle] }),
        pb.TerminalReason.FIVEFOLD_REPETITION,
        undefined,
        "1/2-1/2",
      ],
    ] as const;
    for (const [position, reason, winner, result] of ends) {
      const score: Score = { value: { kind: "mate", mate: 0 }, bound: "exact", wdl: undefined };
      const drawn: Score = { ...score, value: { kind: "cp", cp: 0 } };
      const { terminal } = messageOf({
        request: validated({ position }),
        score: winner ? score : drawn,
        best: undefined,
        lines: [],
      });
      expect(terminal).toEqual({ reason, result, ...(winner && { winner }) });
    }
    expectAll(
      pb.TerminalReasonSchema,
      ends.map(([, reason]) => reason),
    );
    expectAll(
      pb.ColorSchema,
      ends.map(([, , winner]) => winner).filter((color) => color !== undefined),
    );
  });

  test("every claimable draw has its enum value", () => {
    const shuffle = ["Nf3", "Nf6", "Ng1", "Ng8"];
    const claims = [
      [positionOf("8/8/4k3/8/8/4K3/4P3/8 w - - 100 99"), pb.DrawClaim.FIFTY_MOVES],
      [positionOf(startFen, { moves: [...shuffle, ...shuffle] }), pb.DrawClaim.THREEFOLD_REPETITION],
    ] as const;
    for (const [position, claim] of claims) {
      expect(messageOf({ request: validated({ position }) }).drawClaimable).toBe(claim);
    }
    expect(messageOf().drawClaimable).toBeUndefined();
    expectAll(
      pb.DrawClaimSchema,
      claims.map(([, claim]) => claim),
    );
  });

  test("every bound of a score has its enum value", () => {
    const words: Readonly<Record<Bound, pb.Bound>> = {
      exact: pb.Bound.EXACT,
      lower: pb.Bound.LOWER,
      upper: pb.Bound.UPPER,
    };
    for (const [bound, value] of Object.entries(words)) {
      const score: Score = { value: { kind: "cp", cp: 1 }, bound: bound as Bound, wdl: undefined };
      expect(messageOf({ score }).score?.bound).toBe(value);
    }
    expectAll(pb.BoundSchema, Object.values(words));
  });

  test("every promotion piece and castling side has its enum value", () => {
    const bestMoveOf = (fen: string, uci: string) => {
      const snapshot = snapshotOf({ lines: [lineOf([uci])] });
      const done = doneOf({ snapshot, bestMove: uci, ponder: undefined });
      return messageFromAnalysis(analysisFromEvent(done, validated({ fen }), 0)).bestMove;
    };
    const promotions = ["q", "r", "b", "n"].map((piece) =>
      bestMoveOf("8/4P2k/8/8/8/8/8/K7 w - - 0 1", `e7e8${piece}`),
    );
    expect(promotions.map((move) => move?.promotion)).toEqual([
      pb.PromotionPiece.QUEEN,
      pb.PromotionPiece.ROOK,
      pb.PromotionPiece.BISHOP,
      pb.PromotionPiece.KNIGHT,
    ]);
    expectAll(
      pb.PromotionPieceSchema,
      promotions.map((move) => move?.promotion),
    );
    const castlings = ["e1g1", "e1c1"].map((uci) => bestMoveOf("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", uci));
    expect(castlings.map((move) => move?.castling)).toEqual([
      pb.CastlingSide.KINGSIDE,
      pb.CastlingSide.QUEENSIDE,
    ]);
    expectAll(
      pb.CastlingSideSchema,
      castlings.map((move) => move?.castling),
    );
  });
});
