import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Path } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { createRandom } from "../../test/support/random.ts";
import type { EngineChoice } from "../engine-choices.ts";
import { type Probe, positionsOf, probes } from "./probes.ts";

/** How a call ended that ended as it should. */
export type Outcome = "answered" | "refused" | "left";

export interface Abuse {
  readonly name: string;
  /** Throws what is none of the outcomes that the call may have. */
  run(): Promise<Outcome>;
}

/** What must never reach an engine. */
const forbidden: readonly object[] = [
  { options: { hash: 1024 } },
  { options: { threads: 2 } },
  { options: { uci_show_wdl: false } },
  { options: { nodestime: 1000 } },
  { options: { "Clear Hash": true } },
  { options: { "Skill Level": 0 } },
  { options: { skill_level: 21 } },
  { options: { skill_level: "0\nsetoption name Hash value 1" } },
  { options: { "x\nsetoption name UCI_ShowWDL value false\n": 1 } },
  { options: { uci_elo: 1500 } },
  { options: { skill_level: 3, uci_limit_strength: true, uci_elo: 1500 } },
  { searchmoves: ["a2a3"] },
  { nodes: 10 },
  { hash: 1 },
  { multipv: 11 },
  { moves: ["a1a1\nsetoption name Skill Level value 0"] },
];

/**
 * Everything that a caller can set otherwise than the next one, in every way a call can end, from one address.
 *
 * @param honestCall what the honest caller asks just now or will ask next
 */
export function abusesOf(
  url: string,
  choice: EngineChoice,
  random: ReturnType<typeof createRandom>,
  address: string,
  honestCall: () => Probe,
): readonly Abuse[] {
  const grpc = createClient(AnalysisService, createGrpcTransport({ baseUrl: url }));
  const grpcChoice = { engine: choice.engine, path: choice.path === "native" ? Path.NATIVE : Path.WASM };
  const unusual = positionsOf(({ verdict }) => verdict === "valid" || verdict === "mended");
  const shuffled = positionsOf((line) => line.class.startsWith("chess960"));

  /** The positions of the honest caller above all: what is left of a search is felt most by one of the same. */
  const position = () => (random.below(2) === 0 ? random.pick(probes).fen : random.pick(unusual));
  const depth = () => 1 + random.below(9);
  const weak = () =>
    random.pick([
      { skill_level: random.below(20) },
      { uci_limit_strength: true },
      { uci_limit_strength: true, uci_elo: 1400 + random.below(1400) },
    ]);
  const headers = { "X-Forwarded-For": address };

  const post = async (call: string, body: object, signal?: AbortSignal) => {
    const response = await fetch(`${url}/v1/${call}`, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
    return { status: response.status, text: await response.text() };
  };
  const asking = (call: string, status: number, body: () => object) => async (): Promise<Outcome> => {
    const request = { fen: position(), ...choice, ...body() };
    const answer = await post(call, request);
    if (answer.status !== status || answer.text.includes("event: error")) {
      throw new Error(`${JSON.stringify(request)}: ${answer.status} ${answer.text.slice(0, 400)}`);
    }
    return status === 200 ? "answered" : "refused";
  };
  const leaving = (call: string, body: () => object) => async (): Promise<Outcome> => {
    const signal = AbortSignal.timeout(random.below(60));
    try {
      await post(call, { fen: position(), ...choice, ...body() }, signal);
      return "answered";
    } catch (error) {
      if (!signal.aborted) {
        throw error;
      }
      return "left";
    }
  };

  const leaveStream = async (): Promise<Outcome> => {
    const leave = new AbortController();
    const request = { fen: position(), depth: 30, multipv: 1 + random.below(4), ...grpcChoice };
    try {
      const signal = leave.signal;
      for await (const { event } of grpc.streamEvaluate(request, { headers, signal })) {
        if (event.case === "evaluation" && (event.value.search?.depth ?? 0) >= 6) {
          leave.abort();
        }
      }
      return "answered";
    } catch (error) {
      if (!leave.signal.aborted) {
        throw error;
      }
      return "left";
    }
  };
  const runOutOfTime = async (): Promise<Outcome> => {
    const request = { fen: position(), depth: 30, options: weak(), ...grpcChoice };
    try {
      await grpc.findBestMove(request, { headers, timeoutMs: 10 + random.below(50) });
      return "answered";
    } catch (error) {
      if (ConnectError.from(error).code !== Code.DeadlineExceeded) {
        throw error;
      }
      return "left";
    }
  };
  const askGrpc = async (): Promise<Outcome> => {
    const options = { ...weak(), uci_chess960: random.below(2) === 0 };
    await grpc.findBestMove({ fen: position(), depth: depth(), options, ...grpcChoice }, { headers });
    return "answered";
  };
  /** The call of the honest caller, who shares the search and stays. */
  const sameCall = () => {
    const { fen, depth, multipv } = honestCall();
    return { fen, depth, multipv };
  };
  /** The same but for one thing, and that must be enough for a search of its own. */
  const almostSameCall = () => ({
    ...sameCall(),
    ...random.pick([{ options: weak() }, { multipv: 2 }, { depth: 6 }, { movetime_ms: 60_000 }]),
  });
  const askBatch = asking("eval/batch", 200, () => ({
    requests: Array.from({ length: 4 }, () => ({
      fen: position(),
      depth: depth(),
      multipv: 1 + random.below(10),
      options: random.below(2) === 0 ? weak() : {},
      ...choice,
    })),
    // Those of a single call are not those of a batch.
    fen: undefined,
    engine: undefined,
    path: undefined,
  }));

  return [
    { name: "weak", run: asking("eval", 200, () => ({ depth: depth(), options: weak() })) },
    { name: "weak move", run: asking("bestmove", 200, () => ({ depth: depth(), options: weak() })) },
    { name: "weak events", run: asking("eval/stream", 200, () => ({ depth: depth(), options: weak() })) },
    { name: "weak, gRPC", run: askGrpc },
    {
      name: "option Chess960",
      run: asking("eval", 200, () => ({ depth: depth(), options: { uci_chess960: true } })),
    },
    {
      name: "Chess960 position",
      run: asking("eval", 200, () => ({ fen: random.pick(shuffled), depth: depth() })),
    },
    {
      name: "many lines",
      run: asking("eval", 200, () => ({ depth: depth(), multipv: 4 + random.below(7) })),
    },
    {
      name: "many weak lines of Chess960",
      run: asking("eval", 200, () => ({
        depth: depth(),
        multipv: 10,
        options: { ...weak(), uci_chess960: true },
      })),
    },
    { name: "deep", run: asking("eval", 200, () => ({ depth: 9 + random.below(4) })) },
    {
      name: "out of movetime",
      run: asking("eval", 200, () => ({ depth: 30, movetime_ms: 50, multipv: 1 + random.below(10) })),
    },
    {
      name: "with a history",
      run: asking("eval", 200, () => ({
        fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        moves: ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1", "f6g8"].slice(random.below(2) * 4),
        depth: depth(),
        options: weak(),
      })),
    },
    { name: "batch", run: askBatch },
    { name: "forbidden", run: asking("eval", 400, () => random.pick(forbidden)) },
    { name: "left", run: leaving("eval", () => ({ depth: 30, multipv: 1 + random.below(10) })) },
    { name: "left, weak", run: leaving("bestmove", () => ({ depth: 30, options: weak() })) },
    {
      name: "events, left",
      run: leaving("eval/stream", () => ({ depth: 30, options: { uci_chess960: true } })),
    },
    { name: "stream left, gRPC", run: leaveStream },
    { name: "out of time, gRPC", run: runOutOfTime },
    { name: "honest call left", run: leaving("eval", sameCall) },
    { name: "honest call but for one thing", run: asking("eval", 200, almostSameCall) },
    { name: "honest move but for one thing", run: asking("bestmove", 200, almostSameCall) },
    { name: "honest events but for one thing", run: asking("eval/stream", 200, almostSameCall) },
  ];
}
