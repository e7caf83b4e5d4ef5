import { ChildNode, type Game, Node, type PgnNodeData, parseVariant } from "chessops/pgn";
import { readPastedFen } from "../chess/pasted-fen.ts";
import { pliesMax } from "../chess/play-game.ts";
import type { Warning } from "../chess/position.ts";
import { standardStart } from "../chess/validate-position.ts";
import { echo } from "../text/plain-text.ts";
import { howToSendMany, type PgnFault, type PgnSource, pgnCorrected, pgnError } from "./pgn-error.ts";
import { createScanner, type Token } from "./pgn-scanner.ts";
import { type MoveNumber, type Result, resultOf } from "./read-word.ts";

/** A game that was read and not played: its moves may be illegal. */
export interface PgnGame {
  readonly source: PgnSource;
  /** In the order of the text. */
  readonly tags: ReadonlyMap<string, PgnTag>;
  /** The main line; at least one move. */
  readonly moves: readonly WrittenMove[];
  /** Everything but the tags: moves, variations, comments, NAGs. */
  readonly tree: Game<PgnNodeData>;
  /** The result after the moves. */
  readonly result: Result | undefined;
  /** True if the last move is `0-0`, which is the result of a double forfeit if the castling is not legal. */
  readonly mayForfeit: boolean;
  /** The corrections of the text. */
  readonly warnings: readonly Warning[];
}

interface PgnTag {
  readonly value: string;
  readonly offset: number;
}

export interface WrittenMove {
  /** The move in the text. */
  readonly text: string;
  /** The move in a form that chessops reads: SAN or UCI, or `--` for a null move. */
  readonly san: string;
  readonly offset: number;
  /** The move number in front of the move. */
  readonly number: MoveNumber | undefined;
  /** Offset of the move number; `offset` if there is none. */
  readonly begins: number;
  /** True directly after an `N` by itself, which is the sign of a novelty or the letter of a knight. */
  readonly isAfterN: boolean;
}

/** The longest text of one game that is read, in characters. */
export const gameMaxCharacters = 1024 * 1024;

/** The most moves of one game, the main line and the variations together. */
export const movesMax = 5000;

/** The most tags of one game: more than any program writes. */
const tagsMax = 200;

/** The most nested variations: more than people can follow. */
const nestingMax = 100;

/** The tags that decide the game. They count in any case, also with signs: people write `[fen "…"]`, `[FEN: "…"]` and `[Set-Up "1"]`. */
const decisiveTags = new Map(["FEN", "SetUp", "Variant", "Result"].map((name) => [name.toLowerCase(), name]));

/** The value of the tag Result if both sides forfeited. */
const doubleForfeit = /^\s*[0-]\s*[-:‐-―−/]\s*[0-]\s*$/u;

/** The most corrections of one game that are reported. */
export const warningsMax = 10;

/** A longer text is not sent back as a suggestion. */
export const suggestionMaxCharacters = 64 * 1024;

/** Tokens that are read in one time slice: about a third of a millisecond. */
const tokensAtOnce = 100;

/** The main line or a variation, while it is read. */
interface Line {
  readonly offset: number;
  /** The node before the last move. A variation of that move, or the first move, is attached there. */
  parent: Node<PgnNodeData>;
  last: ChildNode<PgnNodeData> | undefined;
  /** The comments before its first move. */
  readonly comments: string[];
}

/** Beginning of the error for a game without moves, such as one that was forfeited. */
export const noMoves = "There are no moves";

/**
 * The text of a game before a move, to suggest a shorter game; undefined if that text is long or has no move.
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
 * Reads the PGN of one game, and stops at the first ply or move too many. Nothing is skipped: a word that is no token of PGN
 * is refused.
 *
 * @throws KibitzError `invalid_pgn`, with the place of the first error; `out_of_range` for a game with more
 * than {@link pliesMax} plies
 * @param end of the game, if another game follows in the text
 */
export function* readPgn(source: PgnSource, end = source.text.length): Generator<void, PgnGame> {
  const scanner = createScanner(source.text.slice(0, end));
  const tags = new Map<string, PgnTag>();
  const moves: WrittenMove[] = [];
  const root = new Node<PgnNodeData>();
  const main: Line = { offset: 0, parent: root, last: undefined, comments: [] };
  const lines = [main];
  let line = main;
  let moveCount = 0;
  let number: MoveNumber | undefined;
  let numberAt: number | undefined;
  let isAfterN = false;
  let result: Result | undefined;
  let resultAt: number | undefined;

  const warnings: Warning[] = [];
  /** Words until the time slice ends. */
  let left = tokensAtOnce;

  const refuse = (message: string, token: string, offset: number, others: Partial<PgnFault> = {}) =>
    pgnError(source, { code: "invalid_pgn", message, token, offset, ply: moves.length + 1, ...others });
  const warn = (message: string, offset: number) => {
    if (warnings.length < warningsMax) {
      warnings.push(pgnCorrected(source, { message, offset, ply: moves.length + 1 }));
      // The time slice ends here, because finding the place has read the text from its beginning.
      left = 1;
    }
  };
  const refuseSecondGame = (token: string, offset: number) =>
    refuse(`A second game begins at '${echo(token)}': ${howToSendMany(source)}`, token, offset);

  function readTag({ name: written, value: text, offset }: Extract<Token, { kind: "tag" }>): void {
    const token = `[${written}`;
    if (main.last || result !== undefined) {
      throw refuseSecondGame(token, offset);
    }
    const decisive = decisiveTags.get(written.toLowerCase().replaceAll(/[_+#=:-]/g, ""));
    const name = decisive ?? written;
    const spelled = name === "Result" ? resultOf(text) : undefined;
    // Moves behind the FEN are no moves of this game.
    const pasted = name === "FEN" ? readPastedFen(text, ["behind"])?.fen : undefined;
    // No other spelling of `*` is changed, because a double forfeit has no spelling of its own.
    const value = pasted ?? (spelled === undefined || spelled === "*" ? text : spelled);
    if (decisive !== undefined && name !== "Result" && /^[\s?-]*$/.test(value)) {
      // Programs write an empty value for the standard start.
      return;
    }
    const before = tags.get(name)?.value;
    if (before !== undefined) {
      if (before !== value && decisive !== undefined) {
        throw refuse(`The tag ${name} is given twice, with different values`, token, offset);
      }
      if (before !== value) {
        warn(`The tag ${echo(name)} is given twice; its first value is kept`, offset);
      }
      return;
    }
    if (tags.size === tagsMax) {
      throw refuse(`The game has more than ${tagsMax} tags`, token, offset);
    }
    if (name !== written) {
      warn(`The tag ${written} was read as ${name}`, offset);
    }
    if (pasted !== undefined) {
      warn(`The tag FEN was read as ${pasted}`, offset);
    }
    tags.set(name, { value, offset });
  }

  function readMove({ text, san, isCorrected, offset }: Extract<Token, { kind: "move" }>): void {
    if (result !== undefined && lines.length === 1) {
      throw refuseSecondGame(text, offset);
    }
    if (moveCount === movesMax) {
      const message = `The game has more than ${movesMax} moves, variations included`;
      throw refuse(message, text, offset);
    }
    moveCount++;
    if (isCorrected) {
      warn(`'${echo(text)}' was read as ${san}`, offset);
    }
    const isVariation = line !== main && line.last === undefined;
    const startingComments = isVariation && line.comments.length > 0 ? line.comments : undefined;
    const move = new ChildNode<PgnNodeData>({ san, ...(startingComments && { startingComments }) });
    line.parent = line.last ?? line.parent;
    line.parent.children.push(move);
    line.last = move;
    if (line === main) {
      addToMainLine({ text, san, offset, number, begins: numberAt ?? offset, isAfterN });
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
    if (line.last === undefined) {
      throw refuse("A variation begins before any move that it could replace", "(", offset);
    }
    if (lines.length > nestingMax) {
      throw refuse(`More than ${nestingMax} variations are open`, "(", offset);
    }
    line = { offset, parent: line.parent, last: undefined, comments: [] };
    lines.push(line);
    forgetNumber();
  }

  function close(offset: number): void {
    const parent = lines.at(-2);
    if (parent === undefined) {
      throw refuse("A variation ends that has not begun", ")", offset);
    }
    const { last, comments } = line;
    lines.pop();
    line = parent;
    if (last === undefined) {
      // Some programs put remarks about a move into brackets and braces.
      comments.forEach(addComment);
    }
    forgetNumber();
  }

  function addComment(comment: string): void {
    if (comment.trim() === "") {
      return;
    }
    if (line.last) {
      const { data } = line.last;
      data.comments ??= [];
      data.comments.push(comment);
    } else {
      line.comments.push(comment);
    }
  }

  function addNag({ nag, text, offset }: Extract<Token, { kind: "nag" }>): void {
    if (numberAt !== undefined && /^[ND]/.test(text)) {
      // `2. N f3` is hardly a pawn move.
      throw refuse(`'${echo(text)}' stands between a move number and its move`, text, offset);
    }
    if (line.last === undefined) {
      addComment(text);
      warn(`The glyph '${echo(text)}' stands before any move, and was made a comment`, offset);
      return;
    }
    const { data } = line.last;
    data.nags ??= [];
    data.nags.push(nag);
  }

  function readResult({ result: read, text, offset }: Extract<Token, { kind: "result" }>): void {
    if ((result ?? read) !== read) {
      throw refuseSecondGame(text, offset);
    }
    if (read === "*" && !text.startsWith("*")) {
      warn(`'${echo(text)}' was read as *, because PGN has no such result`, offset);
    }
    result = read;
    resultAt ??= offset;
  }

  /** Refuses a variant that is not supported. Its moves may look wrong, so it is refused before the first of them. */
  function checkVariant(): void {
    const variant = tags.get("Variant");
    if (variant !== undefined && variantOf(variant.value) === undefined) {
      const message = `The variant '${echo(variant.value)}' is not supported: the variants are Standard and Chess960`;
      throw refuse(message, variant.value, variant.offset);
    }
  }

  function readToken(token: Token): void {
    if (moves.length === 0 && token.kind !== "tag") {
      checkVariant();
    }
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
        addNag(token);
        break;
      case "comment":
        addComment(token.comment);
        break;
      case "sign":
        addComment(token.sign);
        warn(`'${echo(token.sign)}' is not a glyph, and was made a comment`, token.offset);
        break;
      case "open":
        open(token.offset);
        break;
      case "close":
        close(token.offset);
        break;
      case "result":
        // Some programs end variations with a result, too.
        if (line === main) {
          readResult(token);
        }
        break;
      case "unexpected":
        throw refuse(`'${echo(token.text)}' ${token.why}`, token.text, token.offset);
    }
  }

  /** True if the last token, comments aside, is a move `0-0` of the main line. */
  let mayForfeit = false;

  if (source.text.length > gameMaxCharacters) {
    throw refuse(`The game has more than ${gameMaxCharacters} characters`, "", 0);
  }
  for (let tokens = scanner.read(); tokens !== undefined; tokens = scanner.read()) {
    for (const token of tokens) {
      readToken(token);
      if (token.kind !== "comment") {
        mayForfeit = token.kind === "move" && line === main && /^0.0$/u.test(token.text);
      }
      isAfterN = token.kind === "nag" && token.text === "N" && /\s/.test(source.text[token.offset - 1] ?? "");
    }
    if (--left === 0) {
      yield;
      left = tokensAtOnce;
    }
  }
  if (line !== main) {
    throw refuse("A variation does not end", "(", line.offset);
  }
  if (end < source.text.length) {
    const [token = ""] = /\[[ \t]*\w*/.exec(source.text.slice(end)) ?? [];
    throw refuseSecondGame(token, source.text.indexOf(token, end));
  }
  const setUp = tags.get("SetUp");
  const fen = tags.get("FEN");
  const isStandard = fen === undefined || fen.value.trim().startsWith(standardStart.replace(" 0 1", ""));
  if (setUp?.value.trim() === "0" && !isStandard) {
    const message =
      'The tag SetUp says that the game begins at the standard start, and the tag FEN gives another: remove one of them, or write [SetUp "1"]';
    throw refuse(message, "[SetUp", setUp.offset, { ply: 1 });
  }
  if (moves.length === 0) {
    // The place of the missing moves: a result may stand there, or the next game of a file.
    throw refuse(noMoves, "", resultAt ?? source.text.trimEnd().length);
  }
  const tree = {
    headers: new Map(),
    moves: root,
    ...(main.comments.length > 0 && { comments: main.comments }),
  };
  const pgn = { source, tags, moves, tree, result, mayForfeit, warnings };
  return mayForfeit && doubleForfeit.test(tags.get("Result")?.value ?? "") ? withForfeit(pgn) : pgn;
}

/** The game whose last move, `0-0`, is not castling but the result of a double forfeit. Removes the move from the tree. */
export function withForfeit(pgn: PgnGame): PgnGame {
  const { source, tree, moves, warnings } = pgn;
  const written = moves.at(-1);
  const [before, last] = [...tree.moves.mainlineNodes()].slice(-2);
  if (written === undefined || before === undefined || last === undefined) {
    throw pgnError(source, {
      code: "invalid_pgn",
      message: noMoves,
      token: "",
      offset: written?.offset ?? 0,
      ply: 1,
    });
  }
  before.children.shift();
  if (last.data.comments) {
    before.data.comments = [...(before.data.comments ?? []), ...last.data.comments];
  }
  const { offset, text } = written;
  const message = `The last '${echo(text)}' was read as the result of a double forfeit, and not as castling`;
  return {
    ...pgn,
    moves: moves.slice(0, -1),
    result: "*",
    mayForfeit: false,
    warnings: [...warnings, pgnCorrected(source, { message, offset, ply: moves.length })],
  };
}

/**
 * The variant that a tag names; undefined if it is not supported. Ignores blanks and signs: `Fischer Random`, `fischerandom` and
 * `Chess 960` are names.
 */
export function variantOf(name = ""): "standard" | "chess960" | undefined {
  const letters = name.toLowerCase().replaceAll(/[^a-z0-9/]/g, "");
  if (
    /^(?:double|d)?(?:(?:chess)?(?:960|9lx)|fischer(?:r?andom)?|freestyle|frc|wild\/fr|shuffle)(?:chess)?(?:960)?$/.test(
      letters,
    )
  ) {
    return "chess960";
  }
  const isStandard =
    parseVariant(name) === "chess" ||
    /^(?:standard|normal|classical|orthodox|orthochess|regular|western|international|fromposition|fromfen|setup|setupposition|customposition)?(?:chess)?$/.test(
      letters,
    );
  return isStandard ? "standard" : undefined;
}
