import { requestBounds } from "../../analysis/analysis.ts";
import type { Color } from "../../chess/position.ts";
import { outside } from "./options.ts";
import type { Go } from "./read-command.ts";
import type { SearchLimits } from "./search-service.ts";
import { type MoveTime, timeOfFixed, timeOfMove } from "./time-of-move.ts";

/** The largest limits that the service allows. */
export interface Bounds {
  /** Plies. */
  readonly depth: number;
  readonly nodes: number;
  readonly multipv: number;
  readonly movetimeMs: number;
}

/** The largest limits of any request; a plan may allow less. */
export const widestBounds: Bounds = {
  depth: requestBounds.depth.maximum,
  nodes: requestBounds.nodes.maximum,
  multipv: requestBounds.multipv.maximum,
  movetimeMs: requestBounds.movetimeMs.maximum,
};

/** The shortest time of a request, in milliseconds. For less time, a search is limited by nodes. */
export const shortestMs = requestBounds.movetimeMs.minimum;

/** A search to be begun. */
export interface Task {
  readonly limits: SearchLimits;
  /** Undefined if no clock runs for the move. */
  readonly time: MoveTime | undefined;
  /** The command that must come before the best move is said. */
  readonly waitsFor: "stop" | "ponderhit" | undefined;
  /** A mate in so many moves by the side to move ends the search. */
  readonly mate: number | undefined;
  /** How the task differs from the command. */
  readonly notes: readonly string[];
}

interface TaskSetting {
  readonly turn: Color;
  readonly legalMoveCount: number;
  readonly bounds: Bounds;
  readonly overheadMs: number;
  /** Measured speed of the engine. */
  readonly nodesPerMs: number;
}

/** The task of a `go` command. Without depth and nodes, a search goes on as long as it may. */
export function taskOfGo(go: Go, setting: TaskSetting): Task {
  const { turn, legalMoveCount, bounds, overheadMs, nodesPerMs } = setting;
  const notes: string[] = [];
  const inside = (name: string, asked: number, min: number, max: number) => {
    const nearest = Math.min(Math.max(asked, min), max);
    if (nearest !== asked) {
      notes.push(outside(`go ${name}`, asked, min, max, nearest));
    }
    return nearest;
  };
  const depth = go.depth === undefined ? undefined : inside("depth", go.depth, 1, bounds.depth);
  const nodes = go.nodes === undefined ? undefined : inside("nodes", go.nodes, 1, bounds.nodes);
  const fixedMs =
    go.movetimeMs === undefined ? undefined : inside("movetime", go.movetimeMs, 1, bounds.movetimeMs);
  const time = timeOf();
  const waitsFor = go.infinite ? "stop" : go.ponder ? "ponderhit" : undefined;
  // The time of the coming move does not limit pondering.
  const searchMs = waitsFor === undefined && time ? time.searchMs : bounds.movetimeMs;
  const isOpen = depth === undefined && nodes === undefined;
  // A search that ends by itself frees the engine at once; to stop one takes WebAssembly up to 50 ms.
  const nodesInTime =
    searchMs < shortestMs ? Math.min(Math.ceil(searchMs * nodesPerMs), bounds.nodes) : bounds.nodes;
  return {
    limits: {
      ...(depth !== undefined && { depth }),
      // The largest depth would end endings with few moves at once.
      ...((nodes !== undefined || isOpen || searchMs < shortestMs) && {
        nodes: BigInt(Math.min(nodes ?? nodesInTime, nodesInTime)),
      }),
      ...((isOpen || time) && { movetimeMs: Math.min(Math.max(searchMs, shortestMs), bounds.movetimeMs) }),
    },
    time: go.infinite ? undefined : time,
    waitsFor,
    mate: go.mate,
    notes,
  };

  function timeOf(): MoveTime | undefined {
    if (fixedMs !== undefined) {
      return timeOfFixed(fixedMs, overheadMs);
    }
    const { leftMs, incrementMs } = go.clocks[turn];
    if (leftMs === undefined) {
      return undefined;
    }
    const share = timeOfMove({ leftMs, incrementMs, movesToGo: go.movesToGo }, overheadMs);
    // With one legal move there is nothing to choose.
    return legalMoveCount === 1 ? { ...share, searchMs: Math.min(share.searchMs, shortestMs) } : share;
  }
}
