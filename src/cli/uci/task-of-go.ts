import type { AnalysisRequest } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { requestBounds } from "../../analysis/analysis.ts";
import type { Color } from "../../chess/position.ts";
import type { KibitzError } from "../../errors/errors.ts";
import type { Options } from "./options.ts";
import type { Go } from "./read-command.ts";
import { type MoveTime, timeOfFixed, timeOfMove, timeOfUnknownClock } from "./time-of-move.ts";

interface Bounds {
  readonly depth: number;
  readonly nodes: number;
  readonly multipv: number;
  readonly movetimeMs: number;
}

/** The limits of the API. A plan may have lower limits. */
export const widestBounds: Bounds = {
  depth: requestBounds.depth.maximum,
  nodes: requestBounds.nodes.maximum,
  multipv: requestBounds.multipv.maximum,
  movetimeMs: requestBounds.movetimeMs.maximum,
};

export interface Task {
  readonly limits: Pick<AnalysisRequest, "depth" | "nodes" | "movetimeMs" | "multipv">;
  /** Undefined if the move has no time limit. */
  readonly time: MoveTime | undefined;
  /** The best move is sent only after this command. Undefined if the best move is sent as soon as the search ends. */
  readonly waitsFor: "stop" | "ponderhit" | undefined;
  /** The search ends when the side to move can mate in at most this number of moves. */
  readonly mate: number | undefined;
  readonly isBounded: boolean;
  /** Messages about differences between the search and the command. */
  readonly notes: readonly string[];
}

interface TaskSetting {
  readonly turn: Color;
  readonly bounds: Bounds;
  readonly options: Pick<Options, "multipv" | "overheadMs">;
  /** False if the engine refuses a depth. */
  readonly hasDepth: boolean;
}

/** If the command has no limit for depth or nodes, only the time and the limits of the plan end the search. */
export function taskOfGo(go: Go, { turn, bounds, options, hasDepth }: TaskSetting): Task {
  const notes = [...go.notes];
  const inside = (name: string, wanted: number, maximum: number) => {
    const nearest = Math.min(Math.max(wanted, 1), maximum);
    if (nearest !== wanted) {
      notes.push(`${name} ${wanted} is outside 1 to ${maximum}: taken as ${nearest}`);
    }
    return nearest;
  };
  const depth = go.depth === undefined || !hasDepth ? undefined : inside("go depth", go.depth, bounds.depth);
  const nodes = go.nodes === undefined ? undefined : inside("go nodes", go.nodes, bounds.nodes);
  const multipv = inside("MultiPV", options.multipv, bounds.multipv);
  const time = timeOf();
  const waitsFor = go.infinite ? "stop" : go.ponder ? "ponderhit" : undefined;
  // The clock does not run while the search waits for `stop` or `ponderhit`.
  const searchMs = waitsFor === undefined && time ? time.searchMs : bounds.movetimeMs;
  const hasOtherLimit =
    nodes !== undefined || time !== undefined || waitsFor !== undefined || go.mate !== undefined;
  const isDepthReplaced = go.depth !== undefined && !hasDepth && !hasOtherLimit;
  if (go.depth !== undefined && !hasDepth) {
    const instead = isDepthReplaced ? "its default limit ends the search" : "only the other limits count";
    notes.push(`go depth ${go.depth}: this engine does not search by depth, so ${instead}`);
  }
  const isOpen = depth === undefined && nodes === undefined && !isDepthReplaced;
  return {
    limits: {
      multipv,
      ...(depth !== undefined && { depth }),
      // Always set a node limit: without a node limit, the default depth would end the search.
      ...((nodes !== undefined || isOpen) && { nodes: BigInt(nodes ?? bounds.nodes) }),
      ...((isOpen || time) && {
        movetimeMs: Math.min(Math.max(searchMs, requestBounds.movetimeMs.minimum), bounds.movetimeMs),
      }),
    },
    time: go.infinite ? undefined : time,
    waitsFor,
    mate: go.mate,
    isBounded: !isOpen || time !== undefined || go.mate !== undefined,
    notes,
  };

  function timeOf(): MoveTime | undefined {
    const { overheadMs } = options;
    if (go.movetimeMs !== undefined) {
      return timeOfFixed(inside("go movetime", go.movetimeMs, bounds.movetimeMs), overheadMs);
    }
    const { leftMs, incrementMs } = go.clocks[turn];
    if (leftMs !== undefined) {
      return timeOfMove({ leftMs, incrementMs, movesToGo: go.movesToGo }, overheadMs);
    }
    if (!go.hasClock) {
      return undefined;
    }
    notes.push(`go names no time for ${turn}: a move comes within a second`);
    return timeOfUnknownClock(overheadMs);
  }
}

const boundOfPointer: ReadonlyMap<string, keyof Bounds> = new Map([
  ["/depth", "depth"],
  ["/nodes", "nodes"],
  ["/multipv", "multipv"],
  ["/movetime_ms", "movetimeMs"],
]);

/** Reduces the limits to the limits that an error names. Returns undefined if no limit would be reduced. */
export function narrowerBounds(bounds: Bounds, { violations }: KibitzError): Bounds | undefined {
  const maxima = violations.flatMap(({ pointer, allowed }) => {
    const name = boundOfPointer.get(pointer);
    const maximum = allowed?.maximum;
    return name !== undefined && typeof maximum === "number" && maximum < bounds[name]
      ? [[name, maximum]]
      : [];
  });
  return maxima.length > 0 ? { ...bounds, ...Object.fromEntries(maxima) } : undefined;
}
