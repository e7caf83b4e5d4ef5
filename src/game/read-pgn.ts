import { emptyHeaders, type Game, type PgnNodeData, PgnParser } from "chessops/pgn";
import { pliesMax } from "../chess/play-game.ts";
import { echo } from "../text/plain-text.ts";
import { howToSendMany, type PgnFault, type PgnSource, pgnError } from "./pgn-error.ts";
import { createScanner, type Token } from "./pgn-scanner.ts";
import type { MoveNumber, Result } from "./read-word.ts";

/** A game as its text has it: nothing is played yet, and its moves may be illegal. */
export interface PgnGame {
  readonly source: PgnSource;
  /** In the order of the text. */
  readonly tags: ReadonlyMap<string, PgnTag>;
  /** The main line; at least one move. */
  readonly moves: readonly WrittenMove[];
  /** Everything, as chessops has read it: moves, variations, comments, NAGs. */
  readonly tree: Game<PgnNodeData>;
  /** What stands behind the moves. */
  readonly result: Result | undefined;
}

interface PgnTag {
  readonly value: string;
  readonly offset: number;
}

export interface WrittenMove {
  /** What the text has. */
  readonly text: string;
  /** The same in letters that chessops reads: SAN or UCI, or `--` for a move that is none. */
  readonly san: string;
  readonly offset: number;
  /** The move number in front of the move. */
  readonly number: MoveNumber | undefined;
  /** Where the move number begins; without one, `offset`. */
  readonly begins: number;
}

/** The longest text of one game that is read, in characters. */
export const gameMaxCharacters = 1024 * 1024;

/** The most moves of one game, the main line and the variations together. */
const movesMax = 5000;

/** More tags than any program writes. */
const tagsMax = 200;

/** Variations inside each other: more than anybody can follow. */
const nestingMax = 100;

/** A longer text is not sent back as a suggestion. */
const suggestionMaxCharacters = 64 * 1024;

/** Tokens that are read in one piece: about a third of a millisecond. */
const tokensAtOnce = 100;

/** A variation that is being read, or the main line. */
interface Line {
  readonly offset: number;
  hasMoves: boolean;
  /** The comments before its first move. */
  readonly comments: string[];
}

/** What an error begins with for a game that has no moves, such as one that was forfeited. */
export const noMoves = "There are no moves";

/**
 * The text of a game before a move, to suggest a game that ends there; undefined if that text is long or has no move.
 *
 * @param ply of the move, from 1
 */
export function textBefore(
  { source }: Pick<PgnGame, "source">,
  { begins }: WrittenMove,
  ply: number,
): string | undefined {
  return ply > 1 && begins <= suggestionMaxCharacters ? source.text.slice(0, begins).trimEnd() : undefined;
}

/**
 * Reads the PGN of one game, and stops at the first ply or move too many. chessops reads the moves; what it would skip or
 * change in silence it never gets to see, because it is handed one token after another, and whatever is no token of PGN is
 * refused.
 *
 * @throws KibitzError `invalid_pgn`, with the place of the first thing that is wrong; `out_of_range` for a game with more
 * than {@link pliesMax} plies
 */
export function* readPgn(source: PgnSource): Generator<void, PgnGame> {
  const scanner = createScanner(source.text);
  const structure = createStructure();
  const tags = new Map<string, PgnTag>();
  const moves: WrittenMove[] = [];
  const main: Line = { offset: 0, hasMoves: false, comments: [] };
  const lines = [main];
  let line = main;
  let moveCount = 0;
  let number: MoveNumber | undefined;
  let numberAt: number | undefined;
  let result: Result | undefined;
  let resultAt: number | undefined;

  const refuse = (message: string, token: string, offset: number, others: Partial<PgnFault> = {}) =>
    pgnError(source, { code: "invalid_pgn", message, token, offset, ply: moves.length + 1, ...others });
  const refuseSecondGame = (token: string, offset: number) =>
    refuse(`A second game begins at '${echo(token)}': ${howToSendMany(source)}`, token, offset);

  function readTag({ name, value, offset }: Extract<Token, { kind: "tag" }>): void {
    if (main.hasMoves || result !== undefined) {
      throw refuseSecondGame(`[${name}`, offset);
    }
    if ((tags.get(name)?.value ?? value) !== value) {
      throw refuse(`The tag ${echo(name)} stands there twice, with different values`, `[${name}`, offset);
    }
    if (tags.size === tagsMax) {
      throw refuse(`The game has more than ${tagsMax} tags`, `[${name}`, offset);
    }
    tags.set(name, { value, offset });
  }

  function readMove({ text, san, offset }: Extract<Token, { kind: "move" }>): void {
    if (result !== undefined && lines.length === 1) {
      throw refuseSecondGame(text, offset);
    }
    if (moveCount === movesMax) {
      const message = `The game has more than ${movesMax} moves, variations included`;
      throw refuse(message, text, offset);
    }
    moveCount++;
    if (!line.hasMoves) {
      if (line !== main) {
        structure.open();
      }
      for (const comment of line.comments) {
        structure.comment(comment);
      }
      line.hasMoves = true;
    }
    structure.word(san);
    if (line === main) {
      addToMainLine({ text, san, offset, number, begins: numberAt ?? offset });
    }
  }

  function addToMainLine(move: WrittenMove): void {
    if (moves.length === pliesMax) {
      throw refuse(`The game has more than ${pliesMax} plies (half-moves)`, move.text, move.offset, {
        code: "out_of_range",
        suggestion: textBefore({ source }, move, pliesMax + 1),
      });
    }
    moves.push(move);
  }

  function forgetNumber(): void {
    number = undefined;
    numberAt = undefined;
  }

  function open(offset: number): void {
    if (!line.hasMoves) {
      throw refuse("A variation begins before any move that it could replace", "(", offset);
    }
    if (lines.length > nestingMax) {
      throw refuse(`More than ${nestingMax} variations are open`, "(", offset);
    }
    line = { offset, hasMoves: false, comments: [] };
    lines.push(line);
    forgetNumber();
  }

  function close(offset: number): void {
    const parent = lines.at(-2);
    if (parent === undefined) {
      throw refuse("A variation ends that has not begun", ")", offset);
    }
    if (line.hasMoves) {
      structure.close();
    } else {
      // Some programs put remarks about a move into brackets and braces.
      for (const comment of line.comments) {
        structure.comment(comment);
      }
    }
    lines.pop();
    line = parent;
    forgetNumber();
  }

  function readResult({ result: read, text, offset }: Extract<Token, { kind: "result" }>): void {
    if ((result ?? read) !== read) {
      throw refuseSecondGame(text, offset);
    }
    result = read;
    resultAt ??= offset;
  }

  function readToken(token: Token): void {
    switch (token.kind) {
      case "tag":
        readTag(token);
        break;
      case "number":
        number = token.number;
        numberAt ??= token.offset;
        break;
      case "move":
        readMove(token);
        forgetNumber();
        break;
      case "nag":
        if (!line.hasMoves) {
          throw refuse(`The glyph '${token.text}' stands before any move`, token.text, token.offset);
        }
        structure.word(`$${token.nag}`);
        break;
      case "comment":
        if (line.hasMoves) {
          structure.comment(token.comment);
        } else {
          line.comments.push(token.comment);
        }
        break;
      case "open":
        open(token.offset);
        break;
      case "close":
        close(token.offset);
        break;
      case "result":
        // Some programs end variations with one, too.
        if (line === main) {
          readResult(token);
        }
        break;
      case "stranger":
        throw refuse(`'${echo(token.text)}' ${token.why}`, token.text, token.offset);
    }
  }

  if (source.text.length > gameMaxCharacters) {
    throw refuse(`The game has more than ${gameMaxCharacters} characters`, "", 0);
  }
  let left = tokensAtOnce;
  for (let tokens = scanner.read(); tokens !== undefined; tokens = scanner.read()) {
    for (const token of tokens) {
      readToken(token);
    }
    if (--left === 0) {
      yield;
      left = tokensAtOnce;
    }
  }
  if (line !== main) {
    throw refuse("A variation does not end", "(", line.offset);
  }
  if (moves.length === 0) {
    // Where they should stand: behind the last tag there may be a result, and the next game of a file.
    throw refuse(noMoves, "", resultAt ?? source.text.trimEnd().length);
  }
  return { source, tags, moves, tree: structure.end(), result };
}

/** Hands chessops what it is to read, a token a line. */
function createStructure() {
  let tree: Game<PgnNodeData> | undefined;
  // Without a budget: what is too much is for the size of the text to say.
  const parser = new PgnParser(
    (game) => {
      tree = game;
    },
    emptyHeaders,
    Number.NaN,
  );
  const word = (text: string) => parser.parse(`${text}\n`, { stream: true });
  return {
    word,
    open: () => word("("),
    close: () => word(")"),
    comment(comment: string): void {
      if (comment.trim() !== "") {
        word(`{${comment}}`);
      }
    },
    end(): Game<PgnNodeData> {
      parser.parse("");
      if (tree === undefined) {
        throw new Error("chessops has read no game");
      }
      return tree;
    },
  };
}
