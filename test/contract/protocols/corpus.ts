import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import type { RunningApp } from "../../support/running-app.ts";
import { type Answer, checkNotation } from "./check-notation.ts";
import { post } from "./post.ts";
import type { Plain } from "./protocol.ts";

interface CorpusLine {
  readonly id: string;
  readonly class: string;
  readonly fen: string;
  readonly verdict: "valid" | "mended" | "invalid" | "terminal";
  readonly why: string;
  readonly expect: {
    readonly status: readonly number[];
    readonly request?: Plain;
    readonly warning?: string;
    readonly side?: "w" | "b";
    readonly legal?: readonly string[];
    readonly outcome?: string;
    readonly winner?: string | null;
    readonly fifty_claimable?: boolean;
    readonly best?: readonly string[];
    /** Moves to mate. Negative if Black mates. */
    readonly mate?: number;
  };
}

interface Reply {
  readonly status: number;
  readonly body: Answer & Plain;
}

const lines = readFileSync(new URL("../../corpus/fens.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line): CorpusLine => JSON.parse(line));
const named = (some: readonly CorpusLine[]) => some.map((line) => [`${line.id}: ${line.why}`, line] as const);
const refused = lines.filter(({ verdict }) => verdict === "invalid");
const answered = lines.filter(({ verdict }) => verdict !== "invalid");
const searched = answered.filter(({ verdict }) => verdict !== "terminal");
const listed = searched.filter((line) => line.expect.legal !== undefined);
/** chess.js does not support Chess960. */
const isChess960 = (line: CorpusLine) => /^(chess960|shredder)/.test(line.class);
const standard = answered.filter((line) => !isChess960(line));
const puzzles = lines.filter(({ expect: { best, mate } }) => best !== undefined || mate !== undefined);

/** The codes of the warnings that the corpus lists. The tests ignore other warnings. */
const corrections = ["castling_rights_removed", "ep_square_removed", "clocks_defaulted"];
/**
 * The limits of a search if the corpus gives no depth. There is no time limit, because the load of the machine would change the
 * result.
 */
const limits = { depth: 8, nodes: 3_000_000 };
const concurrency = 2;
/** The minimum percentage of solved puzzles. Shallow searches cannot solve every puzzle. */
const solvedPercentMin = 85;

/**
 * Defines tests that send every position of the corpus to `/v1/eval`. The tests compare the answers with the corpus and
 * chess.js.
 */
export function testCorpus(path: "wasm" | "native", app: RunningApp): void {
  const replies = new Map<CorpusLine, Reply>();
  const replyTo = (line: CorpusLine): Reply => {
    const reply = replies.get(line);
    return reply ?? expect.fail(`${line.id} got no reply`);
  };

  beforeAll(async () => {
    const waiting = [...lines];
    const work = async () => {
      for (let line = waiting.pop(); line; line = waiting.pop()) {
        const request = {
          fen: line.fen,
          ...limits,
          path,
          ...line.expect.request,
        };
        const reply = (await post(`${app.url}/v1/eval`, request)) as unknown as Reply;
        replies.set(line, reply);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
  }, 300_000);

  test.each(named(refused))(`with the engine path ${path}, the service refuses a position: %s`, (_, line) => {
    const { status, body } = replyTo(line);
    expect(line.expect.status).toContain(status);
    expect(["invalid_fen", "illegal_position"]).toContain(body.code);
    expect(body.errors).not.toEqual([]);
  });

  test.each(named(answered))(
    `with the engine path ${path}, the service evaluates a position: %s`,
    (_, line) => {
      const { status, body } = replyTo(line);
      expect(line.expect.status).toContain(status);
      expect(body.chess960).toBe(isChess960(line));
      expect(body.terminal?.reason).toBe(line.expect.outcome);
      expect(body.terminal?.winner ?? null).toBe(line.expect.winner ?? null);
      expect(body.best_move === null).toBe(line.verdict === "terminal");
      expect(body.engine === null).toBe(line.verdict === "terminal");
      const mended = body.warnings.map(({ code }) => code).filter((code) => corrections.includes(code));
      // The corpus does not list the warning about an en passant square without a capture.
      const uselessSquare = line.class === "ep_nocapture" ? "ep_square_removed" : undefined;
      expect(mended).toEqual([line.expect.warning ?? uselessSquare].filter((code) => code !== undefined));
      expect(body.draw_claimable === "fifty_moves").toBe(line.expect.fifty_claimable === true);
    },
  );

  test.each(named(searched))(
    `with the engine path ${path}, the service searches a position for the side to move: %s`,
    (_, line) => {
      const { body } = replyTo(line);
      expect(body.engine?.path).toBe(path);
      expect(body.turn[0]).toBe(line.expect.side ?? line.fen.trim().split(/\s+/)[1]);
    },
  );

  test.each(named(listed))(
    `with the engine path ${path}, the service returns a legal best move: %s`,
    (_, line) => {
      expect(line.expect.legal).toContain(replyTo(line).body.best_move?.uci);
    },
  );

  test.each(named(standard))(
    `with the engine path ${path}, the service writes moves like chess.js: %s`,
    (_, line) => {
      checkNotation(replyTo(line).body);
    },
  );

  test(`with the engine path ${path}, the service solves at least ${solvedPercentMin} % of the tactics and mates`, () => {
    const missed = puzzles.filter((line) => !isHit(line, replyTo(line).body)).map(({ id }) => id);
    const hits = puzzles.length - missed.length;
    const missing = missed.length > 0 ? `; not ${missed.join(", ")}` : "";
    const engine = puzzles.map((line) => replyTo(line).body.engine?.id)[0];
    console.log(`${engine}, ${path}: ${hits} of ${puzzles.length} tactics and mates${missing}`);
    expect((100 * hits) / puzzles.length).toBeGreaterThanOrEqual(solvedPercentMin);
  });

  test(`with the engine path ${path}, the service still answers requests after all positions of the corpus`, async () => {
    const start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    const { status, body } = await post(`${app.url}/v1/eval`, { fen: start, depth: 8, path });
    expect(status).toBe(200);
    expect(body).toMatchObject({ search: { depth: 8 } });
  });
}

function isHit({ expect: { best, mate } }: CorpusLine, answer: Answer): boolean {
  return best ? best.includes(answer.best_move?.uci ?? "") : answer.score.mate === mate;
}
