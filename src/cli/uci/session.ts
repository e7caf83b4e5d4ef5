import type { AnalysisRequest } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { StreamEvaluateResponse } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { isOfRights } from "../../chess/is-of-rights.ts";
import { legalUcisOf } from "../../chess/moves.ts";
import { readPastedFen } from "../../chess/pasted-fen.ts";
import type { Position } from "../../chess/position.ts";
import { readSearchMoves } from "../../chess/search-moves.ts";
import { validatePosition } from "../../chess/validate-position.ts";
import { echo } from "../../text/echo.ts";
import type { ApiOption } from "../engine-option.ts";
import { createOptions } from "./options.ts";
import { type Go, readCommand, type UciCommand } from "./read-command.ts";
import { type RunningSearch, startSearch } from "./running-search.ts";
import { narrowerBounds, type Task, taskOfGo, widestBounds } from "./task-of-go.ts";
import { infoLines, scoreOfTurn } from "./write-lines.ts";

export interface Session {
  readonly greeting: readonly string[];
  receive(line: string): void;
  /** Call this when the input has ended. A running search continues until its end. */
  close(): void;
  readonly over: Promise<void>;
}

interface SessionSetting {
  readonly engine: {
    readonly name: string;
    readonly author: string;
    readonly options: readonly ApiOption[];
    /** False if the engine refuses a depth. */
    readonly hasDepth: boolean;
  };
  /** The last message has a stop reason. Throws KibitzError if the service rejects the search. */
  readonly watch: (request: SearchRequest, signal: AbortSignal) => AsyncIterable<StreamEvaluateResponse>;
  readonly say: (line: string) => void;
  readonly version: string;
  readonly overheadMs: number;
}

export type SearchRequest = Task["limits"] &
  Pick<AnalysisRequest, "fen" | "moves" | "searchMoves" | "options">;

export function createSession({ engine, watch, say, version, overheadMs }: SessionSetting): Session {
  const over = Promise.withResolvers<void>();
  const options = createOptions(engine.options, widestBounds.multipv, overheadMs);
  const greeting = [
    `id name Kibitz ${version} (${engine.name})`,
    `id author the Kibitz authors; ${engine.author}`,
    ...options.declare(),
    "uciok",
  ];
  /** The position to search. Undefined if the last `position` command was invalid. */
  let position: Position | undefined;
  let search: RunningSearch | undefined;
  let isClosed = false;
  /** A `go` that arrived during a bounded search, and the lines after this `go`. */
  const waiting: string[] = [];
  let isProceeding = false;
  /** The limits of a search. If the service rejects a search because of the user's plan, these limits are reduced. */
  let bounds = widestBounds;
  const note = (text: string) => say(`info string ${text}`);

  setPosition("startpos", []);

  /** Answers most commands at once. A `go` waits until a bounded search has ended, and so do the lines after this `go`. */
  function receive(line: string): void {
    const command = readCommand(line);
    switch (command?.kind) {
      case "uci":
        greeting.forEach(say);
        return;
      case "isready":
        say("readyok");
        return;
      case "stop":
        search?.stop();
        return;
      case "ponderhit":
        search?.ponderhit();
        return;
      case "quit":
        waiting.splice(0);
        search?.stopAtOnce();
        over.resolve();
        return;
      default:
        waiting.push(line);
        proceed();
    }
  }

  /** Obeys the waiting lines until a `go` must wait for a bounded search. */
  function proceed(): void {
    if (isProceeding) {
      // A `go` has ended a search, and its own search has not begun yet.
      return;
    }
    isProceeding = true;
    for (;;) {
      const command = readCommand(waiting[0] ?? "");
      if (waiting.length === 0 || (command?.kind === "go" && search?.isBounded)) {
        break;
      }
      waiting.shift();
      obey(command);
    }
    isProceeding = false;
    if (isClosed && waiting.length === 0) {
      search?.close();
    }
    if (isClosed && search === undefined) {
      over.resolve();
    }
  }

  function obey(command: UciCommand | undefined): void {
    switch (command?.kind) {
      case "setoption": {
        const complaint = options.set(command.name, command.value);
        if (complaint !== undefined) {
          note(complaint);
        }
        return;
      }
      case "position":
        if (command.misplaced === undefined) {
          setPosition(command.fen, command.moves);
        } else {
          note(`position: ${command.misplaced}. The position stays as it was.`);
        }
        return;
      case "go":
        // A new `go` command ends a search without a bound, which reports its best move first.
        search?.stopAtOnce();
        search = go(command.go);
        return;
    }
  }

  function close(): void {
    isClosed = true;
    proceed();
  }

  /** Repairs a pasted FEN, and corrects a misspelled move if only one legal move matches. */
  function setPosition(fen: string, moves: readonly string[]): void {
    const pasted = readPastedFen(fen, moves);
    const sent = { fen, moves, ...pasted, chess960: options.chess960 };
    const strict = validatePosition(sent);
    const { fen: completed, moves: spelled } = (strict.kind === "violations" && strict.suggested) || {};
    const meant = completed === undefined ? spelled : undefined;
    const read = meant ? validatePosition({ ...sent, moves: meant }) : strict;
    position = read.kind === "position" ? read.position : undefined;
    if (read.kind === "violations") {
      read.violations.map(({ message }) => message).forEach(note);
      return;
    }
    for (const { message } of position?.warnings.filter(isOfRights) ?? []) {
      note(`position: ${message}`);
    }
    if (pasted) {
      note(`position: the FEN was read as ${pasted.fen}`);
    }
    const changed = meant?.findIndex((move, index) => move !== sent.moves[index]) ?? -1;
    if (meant && changed >= 0) {
      const written = echo(sent.moves[changed] ?? "");
      note(`position: moves were read as they are meant, the first ${written} as ${meant[changed]}`);
    }
  }

  function go(command: Go): RunningSearch | undefined {
    if (position === undefined) {
      note("there is no position to search: the last one was refused");
      // UCI writes "no move" as 0000. Never send a move for an earlier position.
      say("bestmove 0000");
      return undefined;
    }
    const searched = position;
    const { turn, chess960 } = searched;
    const searchMoves = searchMovesOf(searched, command.searchMoves);
    const withWdl = options.showWdl;
    const request = {
      fen: searched.root,
      moves: [...searched.moves],
      searchMoves: [...searchMoves],
      options: { ...options.forEngine(), ...(chess960 && { uci_chess960: true }) },
    };
    const { multipv, overheadMs } = options;
    const taskNow = () => {
      const task = taskOfGo(command, {
        turn,
        bounds,
        options: { multipv, overheadMs },
        hasDepth: engine.hasDepth,
      });
      task.notes.forEach(note);
      return task;
    };
    let task = taskNow();
    return startSearch({
      task,
      watch: (signal) => watch({ ...request, ...task.limits }, signal),
      narrow(refusal) {
        const narrower = narrowerBounds(bounds, refusal);
        if (narrower !== undefined) {
          bounds = narrower;
          task = taskNow();
        }
        return narrower !== undefined;
      },
      legalMove: searchMoves[0] ?? legalUcisOf(searched)[0],
      mateOf: ({ score }) => {
        const { value } = scoreOfTurn(score, turn);
        return value.kind === "mate" ? value.mate : undefined;
      },
      report: {
        evaluation: (evaluation) => infoLines(evaluation, turn, withWdl).forEach(say),
        note,
        bestMove(best = "(none)", ponder) {
          say(`bestmove ${best}${ponder === undefined ? "" : ` ponder ${ponder}`}`);
          search = undefined;
          proceed();
        },
      },
    });
  }

  /** Returns the legal moves in `texts`, and reports the other moves. An empty list means all moves. */
  function searchMovesOf(searched: Position, texts: readonly string[]): readonly string[] {
    return texts.flatMap((text, index) => {
      const reading = readSearchMoves(searched, [text], index);
      if (reading.kind === "moves") {
        return reading.ucis;
      }
      const meant = reading.spelled && readSearchMoves(searched, reading.spelled, index);
      if (meant?.kind === "moves") {
        note(`searchmoves: ${echo(text)} was read as ${meant.ucis.join(" ")}`);
        return meant.ucis;
      }
      note(`searchmoves: ${reading.violations.map(({ message }) => message).join(" ")}`);
      return [];
    });
  }

  return { greeting, receive, close, over: over.promise };
}
