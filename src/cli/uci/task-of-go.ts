import { requestBounds } from "../../analysis/analysis.ts";
import type { Color } from "../../chess/position.ts";
import type { Limits } from "./analyst.ts";
import { outside } from "./options.ts";
import type { Go } from "./read-command.ts";
import { type MoveTime, timeOfFixed, timeOfMove } from "./time-of-move.ts";

/** The most that may be asked of the service. */
export interface Bounds {
  /** Plies. */
  readonly depth: number;
  readonly nodes: number;
  readonly multipv: number;
  readonly movetimeMs: number;
}

/** What can be asked at all; a plan may allow less. */
export const widestBounds: Bounds = {
  depth: requestBounds.depth.maximum,
  nodes: requestBounds.nodes.maximum,
  multipv: requestBounds.multipv.maximum,
  movetimeMs: requestBounds.movetimeMs.maximum,
};

/** The shortest time that the service can be asked for, in milliseconds. Shorter ones are asked for in nodes. */
export const shortestMs = requestBounds.movetimeMs.minimum;

/** A search to be begun. */
export interface Task {
  readonly limits: Limits;
  /** Undefined where no time is set, by which a move must be said. */
  readonly time: MoveTime | undefined;
  /** What must come before the best move is told. */
  readonly waitsFor: "stop" | "ponderhit" | undefined;
  /** Moves in which a mate by the side to move ends the search. */
  readonly mate: number | undefined;
  /** What differs from what was asked. */
  readonly notes: readonly string[];
}

interface TaskSetting {
  readonly turn: Color;
  readonly legalMoveCount: number;
  readonly bounds: Bounds;
  readonly overheadMs: number;
  /** How fast the engine was. */
  readonly nodesPerMs: number;
}

/** What `go` means here. Where neither depth nor nodes are asked, a search goes on as long as it may. */
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
  // A time to come says nothing of how long is pondered.
  const searchMs = waitsFor === undefined && time ? time.searchMs : bounds.movetimeMs;
  const isOpen = depth === undefined && nodes === undefined;
  // One that ends by itself leaves the engine to the next move at once; to stop takes one in WebAssembly up to 50 ms.
  const nodesInTime =
    searchMs < shortestMs ? Math.min(Math.ceil(searchMs * nodesPerMs), bounds.nodes) : bounds.nodes;
  return {
    limits: {
      ...(depth !== undefined && { depth }),
      // Not by the greatest depth: that is soon reached where few moves are possible.
      ...((nodes !== undefined || isOpen || searchMs < shortestMs) && {
        nodes: Math.min(nodes ?? nodesInTime, nodesInTime),
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
    // There is nothing to choose.
    return legalMoveCount === 1 ? { ...share, searchMs: Math.min(share.searchMs, shortestMs) } : share;
  }
}
