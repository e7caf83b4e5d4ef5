import { deepEqual, equal, ok } from "node:assert/strict";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answer } from "../contract/protocols/check-notation.ts";
import { nativeStockfish } from "../support/native-stockfish.ts";
import { rowsWith } from "../support/needs.ts";
import { createRandom } from "../support/random.ts";
import { budgetOf, countFromEnv } from "./budget.ts";
import { startProgress } from "./progress.ts";
import { type GamePosition, type Referee, startReferee } from "./referee/referee.ts";
import { type StartedService, startService } from "./request/started-service.ts";

const native = nativeStockfish();
const paths = ["wasm", ...rowsWith(["native"] as const, "native" as const)] as const;

const batch = 50;
/** A round evaluates 100 positions: 90 positions of games, and 10 positions near mate. */
const gamePositions = 90;
/** The number of plies between two positions from the same game. Closer positions would be too similar. */
const apart = 5;
/** python-chess checks only mates in at most this number of moves. */
const provedMovesMax = 3;
/** The node limit of one proof. A proof takes some seconds. */
const proofNodes = 30_000;

const { seed, milliseconds } = budgetOf("positions");
const count = countFromEnv("FUZZ_POSITIONS");
let referee: Referee;
let service: StartedService;

beforeAll(async () => {
  referee = startReferee();
  service = await startService(5000, {
    KIBITZ_NATIVE_ENGINES: native ?? "none",
    // A long timeout, because a busy machine may answer late.
    KIBITZ_QUEUE_MAX_WAIT_MS: "600000",
  });
});

afterAll(async () => {
  referee[Symbol.dispose]();
  await service.stop();
});

interface Asked {
  readonly position: GamePosition;
  readonly request: { readonly fen: string; readonly options: { readonly uci_chess960: boolean } };
}

interface Line {
  readonly rank: number;
  readonly score: { readonly cp: number | null; readonly mate: number | null; readonly bound: string };
  readonly moves: readonly string[];
  readonly san: readonly string[];
}

type Evaluation = Omit<Answer, "lines"> & { readonly lines: readonly Line[] };

describe.each(paths)("random positions with the engine path %s", (path) => {
  const figures = { positions: 0, chess960: 0, over: 0, lines: 0, moves: 0, cutShort: 0 };
  const mates = { claimed: 0, inThreeOrLess: 0, proved: 0, tooLongToProve: 0 };

  test(`random positions with the engine path ${path} get only legal moves and correct mate scores`, async () => {
    const engine = await engineOf(path);
    const progress = startProgress("positions", seed);
    const isOver = () =>
      count === undefined ? progress.elapsedMs() >= milliseconds / paths.length : figures.positions >= count;
    for (let round = seed; round === seed || !isOver(); round++) {
      const asked = await positionsOf(round);
      const answers = await evaluate(asked, engine, path, round);
      try {
        await checkAnswers(asked, answers);
      } catch (error) {
        throw new Error(`To run it again: FUZZ_SEED=${round} npm run lane -- fuzz positions`, {
          cause: error,
        });
      }
      progress.sometimes(figures.positions, () => JSON.stringify({ ...figures, ...mates }));
    }
    progress.done(figures.positions, `${engine}, ${path}: ${JSON.stringify({ ...figures, ...mates })}`);
    expect(service.takeComplaints()).toEqual([]);
  });

  async function positionsOf(round: number): Promise<readonly Asked[]> {
    const played = await referee.playGames(round, gamePositions * apart);
    const mating = await referee.setUpMatings(round, 2 * batch - gamePositions);
    return [...played.filter((_, index) => index % apart === 0), ...mating].map((position) => {
      const [fen, uci_chess960] = position.question;
      return { position, request: { fen, options: { uci_chess960 } } };
    });
  }

  async function checkAnswers(asked: readonly Asked[], answers: readonly Evaluation[]): Promise<void> {
    const questions: [fen: string, chess960: boolean, ucis: readonly string[]][] = [];
    const checks: ((played: { san: readonly string[]; fen: string; checkmate: boolean }) => void)[] = [];
    const claims: [answer: Evaluation, mate: number][] = [];
    for (const [index, { position, request }] of asked.entries()) {
      const answer = answers[index];
      ok(answer, `no answer to ${request.fen}`);
      const { playable } = position.verdict;
      figures.positions++;
      figures.chess960 += answer.chess960 ? 1 : 0;
      equal(answer.fen, playable?.fen);
      if (answer.terminal || playable?.outcome) {
        figures.over++;
        equal(answer.terminal?.reason, playable?.outcome);
        continue;
      }
      const { best_move: best, ponder, lines } = answer;
      ok(best && lines.length > 0, `no move in ${answer.fen}`);
      const play = (ucis: readonly string[], check: (typeof checks)[number]) => {
        questions.push([answer.fen, answer.chess960, ucis]);
        checks.push(check);
      };
      play([best.uci], ({ san, fen }) => deepEqual([san, fen], [[best.san], best.fen_after]));
      if (ponder) {
        play([best.uci, ponder.uci], ({ san, fen }) =>
          deepEqual([san[1], fen], [ponder.san, ponder.fen_after]),
        );
      }
      for (const { moves, san, score, rank } of lines) {
        figures.lines++;
        figures.moves += moves.length;
        play(moves, (played) => {
          deepEqual(played.san, san, `line ${rank} of ${answer.fen}`);
          checkMate(answer, moves, score, played.checkmate);
        });
        if (score.mate !== null && score.bound === "exact") {
          mates.claimed++;
          claims.push([answer, score.mate]);
        }
      }
      const first = lines[0]?.score;
      deepEqual([answer.score.cp, answer.score.mate], [first?.cp, first?.mate]);
    }
    const played = await referee.playLines(questions);
    for (const [index, check] of checks.entries()) {
      const line = played[index];
      ok(line, "a line was not played");
      check(line);
    }
    // Only the best line shows whether the position itself is a mate.
    const best = claims.filter(([answer, mate]) => answer.lines[0]?.score.mate === mate);
    for (const [answer, mate] of new Map(best.map((claim) => [claim[0], claim])).values()) {
      if (Math.abs(mate) <= provedMovesMax) {
        await prove(answer, mate);
      }
    }
  }

  /**
   * If the engine announces a mate, a line with the full number of moves must end in mate. The engine may also return a shorter
   * line.
   */
  function checkMate(
    answer: Evaluation,
    moves: readonly string[],
    score: Line["score"],
    checkmate: boolean,
  ): void {
    if (score.mate === null || score.bound !== "exact") {
      ok(
        !checkmate || score.mate !== null,
        `a line of ${answer.fen} ends in mate, and its score is ${score.cp}`,
      );
      return;
    }
    const whiteMates = score.mate > 0;
    const moverMates = whiteMates === (answer.turn === "white");
    const plies = Math.abs(score.mate) * 2 - (moverMates ? 1 : 0);
    ok(moves.length <= plies, `mate in ${score.mate} of ${answer.fen} has ${moves.length} plies`);
    equal(checkmate, moves.length === plies, `mate in ${score.mate} of ${answer.fen}: ${moves.join(" ")}`);
    figures.cutShort += moves.length < plies ? 1 : 0;
  }

  /** Expects that a side can force a mate in `mate` moves. If `mate` is negative, this side is Black. */
  async function prove({ fen, chess960 }: Evaluation, mate: number): Promise<void> {
    mates.inThreeOrLess++;
    const proved = await referee.proveMate(fen, chess960, mate, proofNodes);
    ok(proved !== false, `${fen} has no mate in ${mate}`);
    mates.proved += proved === true ? 1 : 0;
    mates.tooLongToProve += proved === undefined ? 1 : 0;
  }
});

async function engineOf(path: "wasm" | "native"): Promise<string> {
  const listed = (await (await fetch(`${service.url}/engines`)).json()) as {
    engines: { id: string; paths: { path: string; available: boolean; net: string }[] }[];
  };
  const runs = (one: { path: string; available: boolean; net: string }) =>
    one.path === path && one.available && (path === "native" || one.net === "lite");
  return listed.engines.find(({ paths }) => paths.some(runs))?.id ?? expect.fail(`no engine for ${path}`);
}

/** Sends two batches at the same time, because the service has two engines. */
async function evaluate(
  asked: readonly Asked[],
  engine: string,
  path: string,
  round: number,
): Promise<readonly Evaluation[]> {
  const random = createRandom(round);
  const requests = asked.map(({ request }) => ({
    ...request,
    engine,
    path,
    depth: 4 + random.below(3),
    multipv: random.pick([1, 1, 3]),
  }));
  const halves = [requests.slice(0, batch), requests.slice(batch)];
  const answers = await Promise.all(halves.map(evaluateBatch));
  return answers.flat();
}

async function evaluateBatch(requests: readonly object[]): Promise<readonly Evaluation[]> {
  const response = await fetch(`${service.url}/v1/eval/batch`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ requests }),
    signal: AbortSignal.timeout(600_000),
  });
  equal(response.status, 200);
  const items = (await response.json()) as { result?: Evaluation | null; problem?: unknown }[];
  return items.map(({ result, problem }, index) => {
    ok(result, `${JSON.stringify(requests[index])}: ${JSON.stringify(problem)}`);
    return result;
  });
}
