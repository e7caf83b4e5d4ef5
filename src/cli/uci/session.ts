import type { EvaluateResponse } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { legalUcisOf } from "../../chess/legal-moves.ts";
import type { Position } from "../../chess/position.ts";
import { readSearchMoves } from "../../chess/search-moves.ts";
import type { KibitzError } from "../../errors/errors.ts";
import { createOptions, type Options } from "./options.ts";
import { type Go, readCommand, type UciCommand } from "./read-command.ts";
import { readPosition } from "./read-position.ts";
import { type RunningSearch, type SearchSetting, startSearch } from "./running-search.ts";
import type { Introduction, SearchLimits, SearchRequest, SearchService } from "./search-service.ts";
import { type Bounds, type Task, taskOfGo, widestBounds } from "./task-of-go.ts";
import { bestMoveLine, infoLines, infoString, scoreOfTurn } from "./write-lines.ts";

/** The conversation of a chess program with an engine. */
interface Session {
  /** Takes a line. Lines that come before the engine is known are answered in their order when it is. */
  receive(line: string): void;
  /** Ends the session. A search under way says its best move. */
  quit(): void;
  /** Resolves when the session has ended. Rejects if no search can ever be answered. */
  readonly over: Promise<void>;
}

interface SessionSetting {
  readonly service: SearchService;
  /** Takes a line without its end. */
  readonly say: (line: string) => void;
  /** Version of Kibitz: `0.1.0`. */
  readonly version: string;
  /** The default of `Move Overhead`, in milliseconds. */
  readonly overheadMs: number;
}

/** The speed of an engine in WebAssembly while its code is new. */
const firstNodesPerMs = 50;

/** The shortest search, in milliseconds, that measures the speed of an engine. */
const measurableMs = 20;

/** A game as the chess program wrote it. */
interface SentGame {
  readonly fen: string;
  readonly moves: readonly string[];
}

interface Known {
  readonly introduction: Introduction;
  readonly options: Options;
}

export function createSession({ service, say, version, overheadMs }: SessionSetting): Session {
  const over = Promise.withResolvers<void>();
  /** Commands that came before the engine was known. */
  const waiting: UciCommand[] = [];
  let known: Known | undefined;
  let position: Position | undefined;
  let search: RunningSearch | undefined;
  let bounds: Bounds = widestBounds;
  let debug = false;
  let nodesPerMs = firstNodesPerMs;
  let hasLeft = false;
  /** The game of `position`, as the chess program wrote it. */
  let game: SentGame = { fen: "", moves: [] };
  /** The game that was searched last, with the moves that were expected in it. */
  let expected: SentGame | undefined;
  const note = (text: string) => say(infoString(text));

  setPosition("startpos", [], false);
  service.introduce().then((introduction) => {
    const { options: declared, complaint } = introduction;
    known = { introduction, options: createOptions({ declared, multipvMax: bounds.multipv, overheadMs }) };
    if (complaint !== undefined) {
      note(complaint);
    }
    for (const command of waiting.splice(0)) {
      follow(command, known);
    }
  }, fail);

  function follow(command: UciCommand, { introduction, options }: Known): void {
    switch (command.kind) {
      case "uci":
        greet(introduction, options);
        return;
      case "isready":
        say("readyok");
        return;
      case "debug":
        debug = command.on;
        return;
      case "setoption":
        options.set(command.name, command.value).forEach(note);
        return;
      case "position":
        setPosition(command.fen, command.moves, options.values.chess960);
        return;
      case "go":
        // A new `go` supersedes a search under way, which says its best move first.
        search?.stopAtOnce();
        command.complaints.forEach(note);
        search = go(command.go, options);
        return;
      case "stop":
        search?.stop();
        return;
      case "ponderhit":
        search?.ponderhit();
        return;
      case "quit":
        search?.stopAtOnce();
        over.resolve();
        return;
      case "refused":
        note(command.complaint);
        return;
      case "ucinewgame":
      case "ignored":
        // Nothing is kept from one search to the next.
        return;
    }
  }

  /** Chess programs show info strings, but not standard error. */
  function fail(error: Error): void {
    // If the program has left, the session itself cancelled the start.
    if (!hasLeft) {
      note(error.message);
    }
    over.reject(error);
  }

  function greet({ name, author }: Introduction, options: Options): void {
    say(`id name Kibitz ${version} (${name})`);
    say(`id author the Kibitz authors; ${author}`);
    options.declare().forEach(say);
    say("uciok");
  }

  function setPosition(fen: string, moves: readonly string[], chess960: boolean): void {
    const reading = readPosition(fen, moves, chess960);
    reading.notes.forEach(note);
    position = reading.kind === "position" ? reading.position : undefined;
    game = { fen, moves };
  }

  function go(wish: Go, options: Options): RunningSearch | undefined {
    if (position === undefined) {
      note("there is no position to search: the last one could not be read");
      say(bestMoveLine("0000"));
      return undefined;
    }
    const asked = position;
    const { fen, moves } = game;
    const { turn, legalMoveCount } = asked;
    const { multipv, showWdl, overheadMs } = options.values;
    const searchMoves = searchMovesOf(asked, wish.searchMoves);
    const forEngine = options.forEngine();
    const task = (): Task => {
      const { notes, ...rest } = taskOfGo(wish, { turn, legalMoveCount, bounds, overheadMs, nodesPerMs });
      const tooMany = `MultiPV ${multipv} is more than this service allows: taken as ${bounds.multipv}`;
      return { ...rest, notes: multipv > bounds.multipv ? [...notes, tooMany] : notes };
    };
    const requestOf = (limits: SearchLimits): SearchRequest => ({
      fen: asked.root,
      moves: [...asked.moves],
      multipv: Math.min(multipv, bounds.multipv),
      searchMoves: [...searchMoves],
      options: asked.chess960 ? { ...forEngine, uci_chess960: true } : { ...forEngine },
      ...limits,
    });
    return startSearch({
      watch(limits, signal) {
        const request = requestOf(limits);
        if (debug) {
          note(`asking ${JSON.stringify(request, numberOfBigInt)}`);
        }
        return service.watch(request, signal);
      },
      task: task(),
      retask(error) {
        const narrowed = narrow(bounds, error);
        bounds = narrowed ?? bounds;
        return narrowed && task();
      },
      fallback: fallbackFor(asked, searchMoves),
      mateOf: ({ score }: EvaluateResponse) => {
        const { value } = scoreOfTurn(score, turn);
        return value.kind === "mate" ? value.mate : undefined;
      },
      report: {
        evaluation(evaluation) {
          const { lines, search } = evaluation;
          infoLines(evaluation, { turn, wdl: showWdl }).forEach(say);
          expected = { fen, moves: [...moves, ...(lines[0]?.moves ?? [])] };
          if (search !== undefined && search.timeMs >= measurableMs) {
            nodesPerMs = Number(search.nodes) / search.timeMs;
          }
        },
        note,
        bestMove: (best, ponder) => say(bestMoveLine(best, ponder)),
      },
    });
  }

  /** The move that the last search expected, if the game went that way; else any legal move. */
  function fallbackFor(asked: Position, searchMoves: readonly string[]): SearchSetting["fallback"] {
    const moves = searchMoves.length > 0 ? searchMoves : legalUcisOf(asked);
    const went = expected?.fen === game.fen ? expected.moves : [];
    const isExpected = game.moves.every((move, index) => move === went[index]);
    const next = isExpected ? moves.find((move) => move === went[game.moves.length]) : undefined;
    const move = next ?? moves[0];
    const why = next === undefined ? "is only the first that is legal" : "is what the last search expected";
    return move === undefined ? undefined : { move, why };
  }

  /** The legal ones. If none is legal, all moves are searched. */
  function searchMovesOf(asked: Position, texts: readonly string[]): readonly string[] {
    return texts.flatMap((text) => {
      const reading = readSearchMoves(asked, [text]);
      if (reading.kind === "moves") {
        return reading.ucis;
      }
      note(`searchmoves: ${reading.faults.map(({ message }) => message).join(" ")}`);
      return [];
    });
  }

  function take(command: UciCommand): void {
    if (known) {
      follow(command, known);
    } else {
      waiting.push(command);
    }
  }

  function quit(): void {
    // A program that has sent no command waits for no answer.
    if (!known && waiting.length === 0) {
      hasLeft = true;
      over.resolve();
    } else {
      take({ kind: "quit" });
    }
  }

  return {
    receive(line) {
      const command = readCommand(line);
      if (command.kind === "quit") {
        quit();
      } else {
        take(command);
      }
    },
    quit,
    over: over.promise,
  };
}

/** JSON has no bigint. */
function numberOfBigInt(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}

const boundOfPointer: ReadonlyMap<string, keyof Bounds> = new Map([
  ["/depth", "depth"],
  ["/nodes", "nodes"],
  ["/multipv", "multipv"],
  ["/movetime_ms", "movetimeMs"],
]);

/** The bounds that a refusal names, if they are narrower than the known ones. */
function narrow(bounds: Bounds, { faults }: KibitzError): Bounds | undefined {
  let narrowed: Bounds | undefined;
  for (const { pointer, allowed } of faults) {
    const bound = boundOfPointer.get(pointer);
    const maximum = allowed?.maximum;
    if (bound !== undefined && typeof maximum === "number" && maximum < bounds[bound]) {
      narrowed = { ...(narrowed ?? bounds), [bound]: maximum };
    }
  }
  return narrowed;
}
