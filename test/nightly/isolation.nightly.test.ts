import { readFileSync } from "node:fs";
import { toJsonString } from "@bufbuild/protobuf";
import { ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { Path } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import { AnalysisService, EvaluateResponseSchema } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { nativeStockfish } from "../support/native-stockfish.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { createRandom } from "../support/random.ts";
import { type Server, startServer } from "../support/start-server.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import type { EngineChoice } from "./engine-choices.ts";
import { choiceOfRow, engineRows } from "./engine-rows.ts";

/**
 * How many requests each engine gets that try to affect later searches. The callers outnumber the slots, so every engine serves several
 * callers.
 */
const abusingCalls = 1500;
const abusers = 4;

/**
 * A request whose only limit is a depth. The engine gives the same answer each time, because time does not affect the search.
 */
interface Probe {
  readonly protocol: "eval" | "bestmove" | "eval/stream" | "gRPC";
  readonly fen: string;
  readonly depth: number;
  readonly multipv: number;
}

const corpus = readFileSync(new URL("../corpus/fens.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line): { class: string; verdict: string; fen: string } => JSON.parse(line));
const fensOf = (isWanted: (line: { class: string; verdict: string }) => boolean) =>
  corpus.filter(isWanted).map(({ fen }) => fen);
const playable = fensOf(({ verdict }) => verdict === "valid" || verdict === "mended");
const shuffled = fensOf((line) => line.class.startsWith("chess960"));

const probed = ["tactic", "castle_legal", "chess960_shredder", "ep_legal", "max_moves"];
const probes = fensOf((line) => probed.includes(line.class)).map((fen, at): Probe => {
  const protocol = (["eval", "bestmove", "eval/stream", "gRPC"] as const)[at % 4] ?? "eval";
  return { protocol, fen, depth: 7 + (at % 2), multipv: at % 3 === 0 ? 3 : 1 };
});

const dataDir = useTemporaryFolder();

function start(): Promise<Server> {
  return startServer({
    ...quickestSettings,
    KIBITZ_WASM_BUILD: "fast",
    KIBITZ_DATA_DIR: dataDir,
    KIBITZ_NATIVE_ENGINES: nativeStockfish() ?? "none",
    KIBITZ_SLOTS: "2",
    KIBITZ_CACHE_MB: "0",
    KIBITZ_QUEUE_MAX_WAIT_MS: "600000",
  });
}

function createCalls(url: string, { engine, path }: EngineChoice) {
  const grpc = createClient(AnalysisService, createGrpcTransport({ baseUrl: url }));
  const ofGrpc = { engine, path: path === "native" ? Path.NATIVE : Path.WASM };
  return {
    async post(call: string, body: object, signal: AbortSignal | null = null): Promise<string> {
      const response = await fetch(`${url}/v1/${call}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ engine, path, ...body }),
        signal,
      });
      return `${response.status} ${await response.text()}`;
    },
    evaluate: (body: object) => grpc.evaluate({ ...body, ...ofGrpc }),
    async leaveStream(body: object): Promise<void> {
      const leaving = new AbortController();
      try {
        for await (const { event } of grpc.streamEvaluate(
          { ...body, ...ofGrpc },
          { signal: leaving.signal },
        )) {
          if (event.case === "evaluation" && (event.value.search?.depth ?? 0) >= 6) {
            leaving.abort();
          }
        }
      } catch (error) {
        if (!leaving.signal.aborted) {
          throw ConnectError.from(error);
        }
      }
    },
  };
}

type Calls = ReturnType<typeof createCalls>;

/** Returns the answer as text, without ids and times. */
async function answerTo({ protocol, ...question }: Probe, { post, evaluate }: Calls): Promise<string> {
  if (protocol === "gRPC") {
    const answer = await evaluate(question);
    answer.id = "";
    Object.assign(answer.search ?? {}, { nps: 0n, timeMs: 0, queueMs: 0 });
    return toJsonString(EvaluateResponseSchema, answer);
  }
  const answer = await post(protocol, question);
  // Only the last event counts, because progress events may be skipped.
  const last = protocol === "eval/stream" ? answer.slice(answer.lastIndexOf("event: ")) : answer;
  return last
    .replace(/"id":"[0-9a-f]{8}-[0-9a-f-]{27}"/, '"id":""')
    .replaceAll(/"(nps|time_ms|queue_ms)":\d+/g, '"$1":0');
}

const forbidden: readonly object[] = [
  { options: { hash: 1024 } },
  { options: { uci_show_wdl: false } },
  { options: { "Clear Hash": true } },
  { options: { skill_level: "0\nsetoption name Hash value 1" } },
  { options: { "x\nsetoption name UCI_ShowWDL value false\n": 1 } },
  { options: { uci_elo: 1500 } },
  { searchmoves: ["a2a3"] },
  { multipv: 11 },
  { moves: ["a1a1\nsetoption name Skill Level value 0"] },
];

/**
 * Sends one random request that could affect later searches: unusual, invalid or cancelled.
 * @throws Error if the response is unexpected
 */
async function abuse(calls: Calls, random: ReturnType<typeof createRandom>, asked: Probe): Promise<void> {
  const call = random.pick(["eval", "bestmove", "eval/stream"]);
  const fen = random.below(2) === 0 ? random.pick(probes).fen : random.pick(playable);
  const depth = 1 + random.below(9);
  const weak = random.pick([
    { skill_level: random.below(20) },
    { uci_limit_strength: true },
    { uci_limit_strength: true, uci_elo: 1400 + random.below(1400) },
  ]);
  const same = { fen: asked.fen, depth: asked.depth, multipv: asked.multipv };
  const many = { multipv: 1 + random.below(10) };
  const answered = async (body: object) => {
    const answer = await calls.post(call, body);
    if (!answer.startsWith("200") || answer.includes("event: error")) {
      throw new Error(`${call} ${JSON.stringify(body)}: ${answer.slice(0, 400)}`);
    }
  };
  const left = async (body: object) => {
    const signal = AbortSignal.timeout(random.below(60));
    await calls.post(call, body, signal).catch((error) => {
      if (!signal.aborted) {
        throw error;
      }
    });
  };
  const variants: readonly (() => Promise<unknown>)[] = [
    () => answered({ fen, depth, options: weak }),
    () =>
      answered({
        fen,
        depth,
        options: { ...weak, uci_chess960: true },
        ...(call === "bestmove" ? {} : many),
      }),
    () => answered({ fen: random.pick(shuffled), depth }),
    () => answered({ fen, depth: 9 + random.below(4) }),
    () => answered({ fen, depth: 30, movetime_ms: 50 }),
    () => answered({ fen: startFen, moves: ["g1f3", "g8f6", "f3g1", "f6g8"], depth, options: weak }),
    () => left({ fen, depth: 30, options: weak }),
    () => calls.leaveStream({ fen, depth: 30, ...many }),
    () => calls.evaluate({ fen, depth, options: { ...weak, uci_chess960: random.below(2) === 0 } }),
    // `same` is the search whose answers the test compares. Cancel this search, and run searches with one difference.
    () => left(same),
    () => answered({ ...same, options: weak }),
    () => answered({ ...same, depth: same.depth - 1 }),
    async () => {
      const answer = await calls.post("eval", { fen, depth, ...random.pick(forbidden) });
      expect(answer).toMatch(/^400/);
    },
  ];
  await random.pick(variants)();
}

const startFen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

test.each(engineRows)(
  "%s gives byte-identical answers on a busy server and on a server that was started for a single request",
  async (row) => {
    const expected = new Map<Probe, string>();
    for (const probe of probes) {
      const fresh = await start();
      expected.set(probe, await answerTo(probe, createCalls(fresh.url, await choiceOfRow(row, fresh.url))));
      await fresh.stop("SIGKILL");
    }
    expect([...expected.values()].filter((answer) => !answer.includes('"deterministic":true'))).toEqual([]);

    const server = await start();
    const calls = createCalls(server.url, await choiceOfRow(row, server.url));
    const seed = Math.floor(Math.random() * 2 ** 31);
    const random = createRandom(seed);
    let begun = 0;
    let compared = 0;
    let asked = random.pick(probes);
    const differing: object[] = [];
    const abusing = Array.from({ length: abusers }, async () => {
      while (begun++ < abusingCalls) {
        await abuse(calls, random, asked);
      }
    });
    const comparing = (async () => {
      while (begun < abusingCalls) {
        asked = random.pick(probes);
        const answer = await answerTo(asked, calls);
        compared++;
        if (answer !== expected.get(asked)) {
          differing.push({ probe: asked, expected: expected.get(asked), answer });
        }
      }
    })();
    await Promise.all([...abusing, comparing]);
    const exitCode = await server.stop();
    console.log(
      `measured: ${row}, seed ${seed}: ${compared} answers compared between ${abusingCalls} abusing calls`,
    );
    expect(differing).toEqual([]);
    expect(compared).toBeGreaterThan(abusingCalls / 10);
    expect(exitCode).toBe(0);
  },
);
