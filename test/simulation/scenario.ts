import { fileURLToPath } from "node:url";
import { Path } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import { legalUcisOf } from "../../src/chess/moves.ts";
import { validatePosition } from "../../src/chess/validate-position.ts";
import type { DiskFault } from "./disk.ts";
import type { SimulatedBuild } from "./engine.ts";
import type { EngineFault } from "./engine-faults.ts";
import { createRandom, type Random } from "./random.ts";
import type { RedisFault } from "./redis-faults.ts";

/**
 * Everything that happens in a simulation, as data. If a caller, an act of an operator or a fault is left out, all others stay the
 * same.
 */
export interface Scenario {
  readonly seed: number;
  readonly nodes: readonly NodePlan[];
  readonly callers: readonly CallerPlan[];
  readonly acts: readonly Act[];
  readonly faults: readonly EngineFault[];
  readonly diskFaults: readonly DiskFault[];
  readonly redisFaults: readonly RedisFault[];
}

export interface NodePlan {
  readonly settings: Readonly<Record<string, string>>;
  readonly builds: readonly SimulatedBuild[];
}

/** A program or a person. The calls of a caller run one after the other, or all at the same time. */
export interface CallerPlan {
  readonly name: string;
  /** The number of the node. */
  readonly node: number;
  readonly address: string;
  /** The number of an API key. Undefined for a caller without a key. */
  readonly key: number | undefined;
  readonly beginMs: number;
  readonly together: boolean;
  readonly calls: readonly CallPlan[];
}

export type SearchPlan = {
  readonly fen: string;
  readonly moves: readonly string[];
  readonly depth?: number;
  readonly nodes?: number;
  readonly multipv?: number;
  readonly movetimeMs?: number;
  readonly searchMoves?: readonly string[];
  readonly engine?: string;
  readonly path?: Path;
  readonly options?: Readonly<Record<string, number | boolean>>;
};

export type Question =
  | { readonly kind: "evaluate" | "findBestMove" | "streamEvaluate"; readonly search: SearchPlan }
  | { readonly kind: "evaluateBatch"; readonly searches: readonly SearchPlan[] }
  | {
      readonly kind: "reviewGame";
      readonly game: { readonly moves: readonly string[]; readonly depth: number; readonly lines: number };
    };

export type CallPlan = Question & {
  /** The pause before the call. */
  readonly afterMs: number;
  /** The client disconnects this long after the beginning of the call. */
  readonly leavesAfterMs?: number;
  readonly deadlineMs?: number;
  /** The pause after each message that the client has read. */
  readonly readsEveryMs?: number;
};

/** What an operator does, or what happens to a machine. */
export type Act = { readonly node: number; readonly atMs: number } & (
  | { readonly kind: "stop" | "kill"; readonly backAfterMs: number }
  | { readonly kind: "pause"; readonly forMs: number }
  | { readonly kind: "clock jumps"; readonly byMs: number }
);

/** The time in which callers begin, and faults happen. */
const lengthMs = 60_000;

export const startFen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

export function scenarioFrom(seed: number): Scenario {
  const random = createRandom(seed);
  const nodeCount = random.pick([1, 1, 2, 2, 3]);
  const crowd = random.fork("crowd");
  const isCrowded = nodeCount === 1 && crowd.chance(0.25);
  const usual = nodeFrom(random.fork("node 1"));
  const first = isCrowded ? { ...usual, settings: { ...usual.settings, ...crowdedSettings } } : usual;
  const nodes = Array.from({ length: nodeCount }, (_, index) =>
    nodeCount === 1 ? first : nodeOfCluster(random.fork(`node ${index + 1}`), index + 1, first),
  );
  const games = Array.from({ length: 3 }, (_, index) => gameFrom(random.fork(`game ${index + 1}`)));
  const callerCount = 4 + random.int(12);
  const callers = Array.from({ length: callerCount }, (_, index) =>
    callerFrom(random.fork(`caller ${index + 1}`), index + 1, games, nodes),
  );
  const faults = Array.from({ length: random.int(20) }, (_, index) =>
    faultFrom(random.fork(`fault ${index + 1}`), 1 + random.int(nodes.length), games),
  );
  const acts = Array.from({ length: random.int(5) }, (_, index) =>
    actFrom(random.fork(`act ${index + 1}`), 1 + random.int(nodes.length)),
  );
  const clock = random.fork("clock");
  if (clock.chance(0.15)) {
    acts.push(...clockIsSetAtRestart(clock));
  }
  const diskFaults = Array.from({ length: random.int(nodeCount === 1 ? 20 : 6) }, (_, index) =>
    diskFaultFrom(random.fork(`disk fault ${index + 1}`), 1 + random.int(nodeCount), nodeCount > 1),
  );
  const redisFaults = Array.from(
    { length: nodeCount > 1 && random.chance(0.7) ? 1 + random.int(6) : 0 },
    (_, index) => redisFaultFrom(random.fork(`redis fault ${index + 1}`), nodeCount),
  );
  if (nodeCount > 1 && random.chance(0.4)) {
    const patient = patientCallers(random.fork("patient callers"), nodeCount, games);
    callers.push(...patient.callers);
    acts.push(patient.stop);
    redisFaults.push(...patient.redisFaults);
  }
  if (isCrowded) {
    callers.push(...crowdedCallers(crowd, games));
  }
  const fickle = random.fork("fickle callers");
  if (fickle.chance(0.5)) {
    callers.push(...fickleCallers(fickle, nodeCount, games));
  }
  return { seed, nodes, callers, acts, faults, diskFaults, redisFaults };
}

/** The searches of one caller can make a long queue. */
const crowdedSettings = { KIBITZ_SLOTS: "1", KIBITZ_ACCESS: "open", KIBITZ_QUEUE_MAX_WAIT_MS: "60000" };

/** A caller with many searches at the same time, and a neighbour who asks for the last of them a moment later. */
function crowdedCallers(random: Random, games: Games): readonly CallerPlan[] {
  const beginMs = Math.round(random.between(3000, lengthMs / 2));
  const depth = random.pick([18, 19, 20]);
  const searches = Array.from({ length: 9 + random.int(6) }, (_, index) => ({
    fen: startFen,
    moves: (games[index % games.length] ?? []).slice(0, 1 + Math.floor(index / games.length)),
    depth,
  }));
  const callerOf = (name: string, address: string, afterMs: number, asked: readonly SearchPlan[]) => ({
    name,
    node: 1,
    address,
    key: undefined,
    beginMs: beginMs + afterMs,
    together: true,
    calls: asked.map((search): CallPlan => ({ kind: "evaluate", afterMs: 0, search })),
  });
  return [
    callerOf("crowd", "192.0.2.50", 0, searches),
    callerOf("neighbour", "192.0.2.51", Math.round(random.between(10, 300)), searches.slice(-1)),
  ];
}

/**
 * Callers who ask each node for the same long analysis, so that nodes wait long for each other. Meanwhile, the operator stops a
 * node, and Redis fails.
 */
function patientCallers(random: Random, nodeCount: number, games: Games) {
  const search = { fen: startFen, moves: random.pick(games), depth: 30, movetimeMs: 60_000 };
  const beginMs = Math.round(random.between(3000, lengthMs / 2));
  const callers = Array.from(
    { length: nodeCount },
    (_, index): CallerPlan => ({
      name: `patient caller ${index + 1}`,
      node: index + 1,
      address: `192.0.2.${100 + index}`,
      key: index,
      beginMs: beginMs + random.int(2000),
      together: false,
      calls: [{ kind: "evaluate", afterMs: 0, search }],
    }),
  );
  const stop: Act = {
    node: 1 + random.int(nodeCount),
    atMs: beginMs + Math.round(random.between(6000, 30_000)),
    kind: "stop",
    backAfterMs: Math.round(random.between(100, 5000)),
  };
  const faultCount = random.chance(0.5) ? 1 + random.int(6) : 0;
  const redisFaults = Array.from({ length: faultCount }, (_, index) => ({
    ...redisFaultFrom(random.fork(`redis fault ${index + 1}`), nodeCount),
    atMs: beginMs + 2500 + Math.round(random.between(0, 12_000)),
    forMs: Math.round(10 ** random.between(1, 3.5)),
  }));
  return { callers, stop, redisFaults };
}

/** Callers who share one long search, and leave one after the other until nobody waits for the search. */
function fickleCallers(random: Random, nodeCount: number, games: Games): readonly CallerPlan[] {
  const search = { fen: startFen, moves: random.pick(games), depth: 29, movetimeMs: 30_000 };
  const beginMs = Math.round(random.between(3000, lengthMs / 2));
  const node = 1 + random.int(nodeCount);
  return Array.from({ length: 2 + random.int(3) }, (_, index): CallerPlan => {
    const waitsMs = Math.round(random.between(500, 6000));
    return {
      name: `fickle caller ${index + 1}`,
      node: random.chance(0.7) ? node : 1 + random.int(nodeCount),
      address: `192.0.2.${110 + index}`,
      key: random.int(3),
      beginMs: beginMs + random.int(1000),
      together: false,
      calls: [
        {
          kind: random.pick(["evaluate", "streamEvaluate"]),
          afterMs: 0,
          search,
          ...(random.chance(0.6) ? { leavesAfterMs: waitsMs } : { deadlineMs: waitsMs }),
          ...(random.chance(0.3) && { readsEveryMs: 1000 }),
        },
      ],
    };
  });
}

/** A node runs with a fast clock, until it is started again with the right clock. */
function clockIsSetAtRestart(random: Random): readonly Act[] {
  const fastAtMs = Math.round(random.between(0, 10_000));
  const stopAtMs = fastAtMs + Math.round(random.between(10_000, 40_000));
  return [
    { node: 1, atMs: fastAtMs, kind: "clock jumps", byMs: Math.round(10 ** random.between(5, 8)) },
    { node: 1, atMs: stopAtMs, kind: "stop", backAfterMs: 1000 },
  ];
}

/** With these plans, callers use up their windows. */
const smallPlans = fileURLToPath(new URL("small-plans.json", import.meta.url));

function nodeFrom(random: Random): NodePlan {
  const settings = { hashMb: random.pick([4, 16, 16, 256, 1024]), threads: random.chance(0.1) ? 2 : 1 };
  const builds: SimulatedBuild[] = [
    { id: "stockfish-19", version: "19", net: "full", path: "wasm", settings },
    { id: "stockfish-19-lite", version: "19", net: "lite", path: "wasm", settings },
  ];
  if (random.chance(0.6)) {
    builds.push({ id: "stockfish-19", version: "19", net: "full", path: "native", settings });
  }
  if (random.chance(0.4)) {
    builds.push({ id: "stockfish-18", version: "18", net: "full", path: "native", settings });
  }
  const slots = random.pick([1, 2, 2, 3, 4]);
  const engineMb = 490 + settings.hashMb;
  return {
    builds,
    settings: {
      KIBITZ_SLOTS: String(slots),
      KIBITZ_QUEUE_MAX_WAIT_MS: random.pick(["0", "1000", "10000", "10000", "60000"]),
      KIBITZ_ENGINE_MEMORY_MB: String(Math.round(engineMb * random.pick([1.2, slots, slots + 1, 2 * slots]))),
      KIBITZ_CACHE_MB: random.pick(["0", "1", "32", "32"]),
      KIBITZ_STORE_MB: random.pick(["0", "64", "64", "64"]),
      KIBITZ_HASH_MB: String(settings.hashMb),
      KIBITZ_THREADS: String(settings.threads),
      KIBITZ_ACCESS: random.pick([
        "public",
        "public",
        "public",
        "public",
        "public",
        "public",
        "keys",
        "open",
        "open",
      ]),
      ...(random.chance(0.3) && { KIBITZ_DEFAULT_ENGINE: "stockfish-19-lite" }),
      ...(random.chance(0.25) && { KIBITZ_PLANS: smallPlans }),
    },
  };
}

/** The nodes of a cluster have the same callers and plans, but not the same machines. */
function nodeOfCluster(random: Random, number: number, first: NodePlan): NodePlan {
  const { builds, settings } = random.chance(0.3) ? nodeFrom(random) : first;
  const { KIBITZ_ACCESS = "public", KIBITZ_PLANS = "" } = first.settings;
  const shared = { KIBITZ_ACCESS, KIBITZ_PLANS, KIBITZ_REDIS_URL: `redis://node-${number}` };
  return { builds, settings: { ...settings, ...shared } };
}

function gameFrom(random: Random): readonly string[] {
  const moves: string[] = [];
  const plies = 6 + random.int(30);
  while (moves.length < plies) {
    const validation = validatePosition({ fen: startFen, moves, chess960: false });
    const legal = validation.kind === "position" ? legalUcisOf(validation.position).toSorted() : [];
    if (legal.length === 0) {
      break;
    }
    moves.push(random.pick(legal));
  }
  return moves;
}

type Games = readonly (readonly string[])[];

function callerFrom(random: Random, number: number, games: Games, nodes: readonly NodePlan[]): CallerPlan {
  const node = 1 + random.int(nodes.length);
  const plan = nodes[node - 1];
  const builds = plan?.builds ?? [];
  const patience = random.pick([50, 500, 3000, 10_000]);
  return {
    name: `caller ${number}`,
    node,
    // Some callers share an address or a key.
    address: `192.0.2.${1 + random.int(6)}`,
    // The last key does not exist.
    key: random.chance(0.5) ? random.pick([0, 0, 1, 1, 2, 2, 2, 3]) : undefined,
    beginMs: Math.round(random.between(0, lengthMs / 2)),
    together: random.chance(0.3),
    calls: Array.from({ length: 1 + random.int(14) }, (_, index) =>
      callFrom(random.fork(`call ${index + 1}`), games, builds, patience),
    ),
  };
}

function callFrom(
  random: Random,
  games: Games,
  builds: readonly SimulatedBuild[],
  patience: number,
): CallPlan {
  const about = {
    afterMs: Math.round(random.between(0, patience)),
    ...(random.chance(0.15) && { leavesAfterMs: Math.round(10 ** random.between(0, 4)) }),
    ...(random.chance(0.15) && { deadlineMs: Math.round(10 ** random.between(1, 4)) }),
    ...(random.chance(0.2) && { readsEveryMs: Math.round(10 ** random.between(0, 3.5)) }),
  };
  const search = () => searchFrom(random, games, builds);
  const kind = random.next();
  if (kind < 0.08) {
    const searches = Array.from({ length: 1 + random.int(20) }, search);
    return { ...about, kind: "evaluateBatch", searches };
  }
  if (kind < 0.14) {
    const game = random.pick(games);
    const moves = game.slice(0, 1 + random.int(game.length));
    const depth = 1 + random.int(14);
    return { ...about, kind: "reviewGame", game: { moves, depth, lines: 1 + random.int(3) } };
  }
  const single = random.pick(["evaluate", "evaluate", "findBestMove", "streamEvaluate"] as const);
  return { ...about, kind: single, search: search() };
}

const foolsMate = ["f2f3", "e7e5", "g2g4", "d8h4"];

function searchFrom(random: Random, games: Games, builds: readonly SimulatedBuild[]): SearchPlan {
  const game = random.pick(games);
  // Few different positions, so that callers share searches.
  const moves = random.chance(0.02) ? foolsMate : game.slice(0, 3 * random.int(1 + game.length / 3));
  const isByNodes = random.chance(0.25);
  return {
    fen: random.chance(0.01) ? "8/8/8/8/8/8/8/8 w - - 0 1" : startFen,
    moves,
    ...((!isByNodes || random.chance(0.2)) && {
      depth: random.pick([1, 3, 6, 9, 11, 12, 14, 14, 16, 18, 20, 22, 26, 40]),
    }),
    ...(isByNodes && { nodes: Math.round(10 ** random.between(0, 6.2)) }),
    ...(random.chance(0.2) && { multipv: random.pick([1, 2, 3, 5]) }),
    ...(random.chance(0.3) && { movetimeMs: Math.round(10 ** random.between(1.7, 3.7)) }),
    ...(random.chance(0.05) && { searchMoves: searchMovesFrom(random, moves) }),
    ...(random.chance(0.3) && {
      engine: random.pick([...builds.map(({ id }) => id), ...builds.map(({ id }) => id), "unknown"]),
    }),
    ...(random.chance(0.03) && { path: random.pick([Path.WASM, Path.NATIVE]) }),
    ...(random.chance(0.05) && {
      options: random.pick([{ skill_level: 5 }, { skill_level: 20 }, { hash: 1 }]),
    }),
  };
}

function searchMovesFrom(random: Random, moves: readonly string[]): readonly string[] {
  const validation = validatePosition({ fen: startFen, moves, chess960: false });
  const legal = validation.kind === "position" ? legalUcisOf(validation.position).toSorted() : [];
  return legal.filter(() => random.chance(0.2));
}

const phases = ["starting", "idle", "searching", "cleaning"] as const;

function faultFrom(random: Random, node: number, games: Games): EngineFault {
  const window = {
    node,
    atMs: Math.round(random.between(0, lengthMs)),
    forMs: Math.round(random.between(100, 30_000)),
    times: 1 + random.int(4),
  };
  const during = random.pick(phases);
  const afterMs = Math.round(10 ** random.between(-1, 3));
  const byMs = Math.round(10 ** random.between(0, 3.7));
  const kinds: readonly (() => EngineFault)[] = [
    () => ({ ...window, kind: "engine dies", during, afterMs }),
    () => ({ ...window, kind: "engine is killed", during, afterMs }),
    () => ({ ...window, kind: "engine hangs", during, afterMs }),
    () => ({ ...window, kind: "engine floods", during, afterMs }),
    () => {
      const game = random.pick(games);
      const moves = game.slice(0, 3 * random.int(1 + game.length / 3));
      const validation = validatePosition({ fen: startFen, moves, chess960: false });
      const fen = validation.kind === "position" ? validation.position.root : startFen;
      return { ...window, forMs: lengthMs, times: 10, kind: "engine dies at a position", fen, afterMs: 1 };
    },
    () => ({ ...window, kind: "engine starts slowly", byMs: 3 * byMs }),
    () => ({
      ...window,
      kind: "engine does not start",
      because: random.pick(["exits", "is silent", "no descriptor", "file changed", "not genuine"]),
    }),
    () => ({ ...window, kind: "engine reads go late", byMs: byMs / 5 }),
    () => ({ ...window, kind: "engine ignores stop", isBusy: random.chance(0.5) }),
    () => ({ ...window, kind: "engine answers stop late", byMs: byMs / 5 }),
    () => ({ ...window, kind: "engine answers late", byMs: byMs / 5 }),
    () => ({ ...window, kind: "engine keeps movetime", byMs: byMs / 50 }),
    () => ({
      ...window,
      times: 2 * window.times,
      kind: "engine answers nonsense",
      what: random.pick(["illegal move", "illegal line", "no move", "second answer", "critical error"]),
    }),
    () => ({ ...window, kind: "engine searches slowly", factor: random.pick([3, 30, 1000]) }),
    () => ({ ...window, kind: "engine cleans slowly", byMs: byMs * 1.5 }),
    // Nodes find their engines at the start.
    () => ({ ...window, atMs: 0, forMs: lengthMs, kind: "engine is modified" }),
    () => ({ ...window, atMs: 0, forMs: lengthMs, kind: "engine is irreproducible" }),
  ];
  return random.pick(kinds)();
}

function redisFaultFrom(random: Random, nodeCount: number): RedisFault {
  const window = {
    ...(random.chance(0.5) && { node: 1 + random.int(nodeCount) }),
    atMs: Math.round(random.between(0, lengthMs)),
    forMs: Math.round(10 ** random.between(1, 4.3)),
  };
  const byMs = Math.round(10 ** random.between(0, 3.5));
  return random.pick<() => RedisFault>([
    () => ({ ...window, kind: "redis is gone" }),
    () => ({ ...window, kind: "redis is cut off" }),
    () => ({ ...window, kind: "redis is paused" }),
    () => ({ ...window, kind: "redis is slow", byMs: byMs / 5 }),
    () => ({ ...window, kind: "redis answers late", byMs }),
    () => ({
      ...window,
      kind: "redis loses a connection",
      isExecuted: random.chance(0.5),
      times: 1 + random.int(5),
    }),
    () => ({ ...window, kind: "redis restarts", keepsData: random.chance(0.5) }),
    () => ({
      ...window,
      kind: "redis refuses commands",
      because: random.pick(["OOM", "READONLY", "MISCONF", "LOADING"]),
    }),
    () => ({ ...window, kind: "redis has another time", byMs: random.pick([-1, 1]) * byMs }),
  ])();
}

/** The nodes of a cluster have no database of their own. */
function diskFaultFrom(random: Random, node: number, isCluster: boolean): DiskFault {
  const window = {
    node,
    atMs: Math.round(random.between(0, lengthMs)),
    forMs: Math.round(10 ** random.between(2, 4.5)),
    file: isCluster ? "answers.db" : random.pick(["kibitz.db", "answers.db"] as const),
  };
  return random.pick<() => DiskFault>([
    () => ({ ...window, kind: "database is locked" }),
    () => ({ ...window, kind: "disk is full" }),
    () => ({ ...window, kind: "disk fails", errcode: random.pick([10, 11, 14]) }),
    () => ({ ...window, kind: "stat fails", code: random.pick(["EACCES", "EIO", "ESTALE"]) }),
    () => ({ ...window, kind: random.pick(["file is deleted", "file is replaced"]) }),
  ])();
}

function actFrom(random: Random, node: number): Act {
  const act = { node, atMs: Math.round(random.between(5000, lengthMs)) };
  const backAfterMs = Math.round(random.between(100, 5000));
  return random.pick<() => Act>([
    () => ({ ...act, kind: "stop", backAfterMs }),
    () => ({ ...act, kind: "kill", backAfterMs }),
    () => ({ ...act, kind: "pause", forMs: Math.round(10 ** random.between(1, 3.5)) }),
    () => ({
      ...act,
      kind: "clock jumps",
      byMs: Math.round(random.between(-1, 1) * 10 ** random.between(3, 8)),
    }),
  ])();
}
