import { readFileSync } from "node:fs";
import { validateFen } from "chess.js";
import { describe, expect, test } from "vitest";
import { describeMove } from "../../src/chess/moves.ts";
import { noticesOf, positionOf, validate } from "./validated.ts";

interface CorpusLine {
  readonly id: string;
  readonly fen: string;
  readonly verdict: "valid" | "mended" | "invalid" | "terminal";
  readonly why: string;
  readonly expect: {
    readonly legal?: readonly string[];
    readonly legal_count?: number;
    readonly outcome?: string;
    readonly winner?: string | null;
    readonly warning?: string;
    readonly fifty_claimable?: boolean;
    readonly request?: { readonly options?: { readonly uci_chess960?: boolean } };
  };
}

const lines = readFileSync(new URL("../corpus/fens.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line): CorpusLine => JSON.parse(line));

const extrasOf = (line: CorpusLine) => ({ chess960: line.expect.request?.options?.uci_chess960 === true });
const named = (some: readonly CorpusLine[]) => some.map((line) => [`${line.id}, ${line.why}`, line] as const);

const accepted = lines.filter((line) => line.verdict !== "invalid");

describe("the corpus", () => {
  test.each(named(lines))(
    "a position of the corpus is accepted or refused as the corpus records: %s",
    (_, line) => {
      const validation = validate(line.fen, extrasOf(line));
      expect(validation.kind).toBe(line.verdict === "invalid" ? "violations" : "position");
      if (validation.kind === "violations") {
        expect(validation.violations.length).toBeGreaterThan(0);
      } else {
        const { terminal } = validation.position;
        expect(terminal?.reason).toBe(line.expect.outcome);
        expect(terminal?.winner ?? null).toBe(line.expect.winner ?? null);
      }
    },
  );

  const corrections = ["castling_rights_removed", "ep_square_removed", "clocks_defaulted"];
  test.each(named(accepted))("a position of the corpus has exactly the recorded warnings: %s", (_, line) => {
    const warnings = noticesOf(line.fen, extrasOf(line)).filter((code) => corrections.includes(code));
    // The corpus does not record this warning about an en passant square without a legal capture.
    const uselessSquare = line.id.startsWith("ep_nocapture") ? "ep_square_removed" : undefined;
    expect(warnings).toEqual([line.expect.warning ?? uselessSquare].filter((code) => code !== undefined));
  });

  const counted = accepted.filter((line) => line.expect.legal_count !== undefined);
  test.each(named(counted))(
    "a position of the corpus has the recorded number of legal moves: %s",
    (_, line) => {
      const position = positionOf(line.fen, extrasOf(line));
      expect(position.legalMoveCount).toBe(line.expect.legal_count);
    },
  );

  test("the corpus records the legal moves of at least 40 positions", () => {
    expect([lines.length, counted.length, listed.length].map((count) => count >= 40)).toEqual([
      true,
      true,
      true,
    ]);
  });

  const listed = counted.filter((line) => line.expect.legal !== undefined);
  test.each(named(listed))("a position of the corpus has exactly the recorded legal moves: %s", (_, line) => {
    const position = positionOf(line.fen, extrasOf(line));
    // Some lists contain the same castling move twice, as e8g8 and e8h8.
    const moves = line.expect.legal?.map((uci) => describeMove(position, uci)?.uci);
    expect(moves).not.toContain(undefined);
    expect(new Set(moves).size).toBe(line.expect.legal_count);
  });

  test.each(named(accepted))(
    "a position of the corpus is unchanged after its FEN is written and read again: %s",
    (_, line) => {
      const position = positionOf(line.fen, extrasOf(line));
      const again = positionOf(position.fen, { chess960: position.chess960 });
      expect(again.fen).toBe(position.fen);
      expect(again.legalMoveCount).toBe(position.legalMoveCount);
      expect(again.terminal).toEqual(position.terminal);
      expect(again.warnings.filter((notice) => corrections.includes(notice.code))).toEqual([]);
      // chess.js does not support Chess960.
      expect(position.chess960 || validateFen(position.fen).ok).toBe(true);
    },
  );

  test("a draw by the 50-move rule can be claimed in exactly the recorded positions of the corpus", () => {
    const claimable = accepted.filter(
      (line) => positionOf(line.fen, extrasOf(line)).drawClaim === "fifty_moves",
    );
    const expected = lines.filter((line) => line.expect.fifty_claimable);
    expect(expected.length).toBeGreaterThan(0);
    expect(claimable.map((line) => line.id)).toEqual(expected.map((line) => line.id));
  });
});
