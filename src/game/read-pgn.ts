import { ChildNode, type Game, Node, type PgnNodeData, parseVariant } from "chessops/pgn";
import { readPastedFen } from "../chess/pasted-fen.ts";
import { pliesMax } from "../chess/play-game.ts";
import type { Warning } from "../chess/position.ts";
import { standardStart } from "../chess/read-fen.ts";
import { plainDashes } from "../chess/written-move.ts";
import { echo } from "../text/echo.ts";
import { howToSendMany, type PgnSource, type PgnViolation, pgnCorrected, pgnError } from "./pgn-error.ts";
import { createScanner, type Token } from "./pgn-scanner.ts";
import { type MoveNumber, type Result, resultOf } from "./read-word.ts";
import { isFen } from "./written-pgn.ts";

/** A game that was read but not played yet, so its moves may be illegal. */
export interface PgnGame {
  readonly source: PgnSource;
  readonly tags: ReadonlyMap<string, PgnTag>;
  readonly moves: readonly WrittenMove[];
  readonly tree: Game<PgnNodeData>;
  /** The result that is written after the moves. */
  readonly result: Result | undefined;
  /** True if the last move is `0-0`. If castling is illegal, this text means a double forfeit. */
  readonly mayForfeit: boolean;
  readonly warnings: readonly Warning[];
}

interface PgnTag {
  readonly value: string;
  readonly offset: number;
}

export interface WrittenMove {
  readonly text: string;
  /** The move in SAN or UCI, or `--` for a null move. */
  readonly san: string;
  readonly offset: number;
  readonly number: MoveNumber | undefined;
  /** The offset of the move number, or of the move if it has no number. */
  readonly begins: number;
  /** True if an `N` is written before the move. This `N` is the sign of a novelty or the letter of a knight. */
  readonly isAfterN: boolean;
}

export const gameMaxCharacters = 1024 * 1024;

/** The maximum number of moves in one game, including the moves of variations. */
export const movesMax = 5000;

/** The maximum number of tags in one game. No known program writes so many. */
const tagsMax = 200;

/** The maximum nesting depth of variations. People cannot follow deeper nesting. */
const nestingMax = 100;

/** The tags that decide how a game is read. Spellings such as `[fen "…"]` and `[Set-Up "1"]` are also accepted. */
const decisiveTags = new Map(["FEN", "SetUp", "Variant", "Result"].map((name) => [name.toLowerCase(), name]));

const doubleForfeit = /^\s*[0-]\s*[-:/]\s*[0-]\s*$/;

export const warningsMax = 10;

export const suggestionMaxCharacters = 64 * 1024;

/** The generator yields after reading this many words, which takes a third of a millisecond. */
const tokensAtOnce = 100;

interface Line {
  readonly offset: number;
  /** The node before `last`. Variations of the last move are added to this node. */
  parent: Node<PgnNodeData>;
  last: ChildNode<PgnNodeData> | undefined;
  readonly comments: string[];
}

export const noMoves = "There are no moves";

/** Returns the PGN before a wrong move, as a suggestion. Returns undefined if this PGN is too long or contains no move. */
export function textBefore(
  { source }: Pick<PgnGame, "source">,
  { begins }: WrittenMove,
  ply: number,
): string | undefined {
  return ply > 1 && begins <= suggestionMaxCharacters ? source.text.slice(0, begins).trimEnd() : undefined;
}

/** Reads one game, which ends at the offset `end`. Throws a KibitzError for the first error in the text. */
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
  let wordsLeft = tokensAtOnce;

  const refuse = (message: string, token: string, offset: number, others: Partial<PgnViolation> = {}) =>
    pgnError(source, { code: "invalid_pgn", message, token, offset, ply: moves.length + 1, ...others });
  const warn = (message: string, offset: number, ply = moves.length + 1) => {
    if (warnings.length < warningsMax) {
      warnings.push(pgnCorrected(source, { message, offset, ply }));
      // `pgnCorrected` reads the text from its beginning, which takes long. So yield after this word.
      wordsLeft = 1;
    }
  };
  const refuseSecondGame = (token: string, offset: number) =>
    refuse(`A second game begins at ${echo(token, "'")}: ${howToSendMany(source)}`, token, offset);

  function readTag({ name: written, value: text, offset }: Extract<Token, { kind: "tag" }>): void {
    const token = `[${written}`;
    if (moves.some(({ san }) => san !== "--")) {
      throw refuseSecondGame(token, offset);
    }
    const [nullMove] = moves;
    if (nullMove !== undefined) {
      const message = `${echo(nullMove.text, "'")} stands between the tags of the game: remove it`;
      throw refuse(message, nullMove.text, nullMove.offset);
    }
    if (result !== undefined) {
      const text = source.text.slice(resultAt, offset).trim();
      const message = `The result ${echo(text, "'")} stands between the tags of the game: write it behind the moves`;
      throw refuse(message, text, resultAt ?? offset);
    }
    const decisive = decisiveTags.get(written.toLowerCase().replaceAll(/[_+#=:-]/g, ""));
    const name = decisive ?? written;
    const spelled = name === "Result" ? resultOf(text) : undefined;
    // Moves after the FEN are not moves of this game, so `readPastedFen` rejects them.
    const pasted = name === "FEN" ? readPastedFen(text, ["behind"])?.fen : undefined;
    // Do not replace other texts for `*`, because some of these texts mean a double forfeit.
    const value = pasted ?? (spelled === undefined || spelled === "*" ? text : spelled);
    if (decisive !== undefined && name !== "Result" && /^[\s?-]*$/.test(value)) {
      // Some programs write an empty value if the game begins at the standard start position.
      return;
    }
    const before = tags.get(name)?.value;
    if (before === value) {
      return;
    }
    if (before !== undefined) {
      if (decisive !== undefined) {
        throw refuse(`The tag ${name} is given twice, with different values`, token, offset);
      }
      warn(`The tag ${echo(name)} is given twice; its first value is kept`, offset);
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
      warn(`${echo(text, "'")} was read as ${san}`, offset);
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
      // Some programs write a remark about a move in parentheses and braces.
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
      // This `N` is probably the letter of a knight, as in `2. N f3`, and not the sign of a novelty.
      throw refuse(`${echo(text, "'")} stands between a move number and its move`, text, offset);
    }
    if (line.last === undefined) {
      addComment(text);
      warn(`The glyph ${echo(text, "'")} stands before any move, and was made a comment`, offset);
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
      warn(`${echo(text, "'")} was read as *, because PGN has no such result`, offset);
    }
    result = read;
    resultAt ??= offset;
  }

  /** Called before the first move is read, because the moves of an unsupported variant may look illegal. */
  function checkVariant(): void {
    const variant = tags.get("Variant");
    if (variant !== undefined && variantOf(variant.value) === undefined) {
      const message = `The variant ${echo(variant.value, "'")} is not supported: the variants are Standard and Chess960`;
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
        warn(`${echo(token.sign, "'")} is not a glyph, and was made a comment`, token.offset);
        break;
      case "open":
        open(token.offset);
        break;
      case "close":
        close(token.offset);
        break;
      case "result":
        // Some programs write a result at the end of a variation. Ignore it.
        if (line === main) {
          readResult(token);
        }
        break;
      case "unexpected":
        throw refuse(`${echo(token.text, "'")} ${token.why}`, token.text, token.offset);
    }
  }

  /** Some programs write the FEN into the tag SetUp. */
  function readFenTag(): PgnTag | undefined {
    const [fen, setUp] = [tags.get("FEN"), tags.get("SetUp")];
    if (setUp === undefined || !isFen(setUp.value)) {
      return fen;
    }
    tags.set("SetUp", { ...setUp, value: "1" });
    if (fen === undefined) {
      tags.set("FEN", setUp);
      warn("The tag SetUp has a FEN, and was read as the tag FEN", setUp.offset, 1);
      return setUp;
    }
    if (fen.value.trim() !== setUp.value.trim()) {
      warn("The tag SetUp has another FEN than the tag FEN, and was ignored", setUp.offset, 1);
    }
    return fen;
  }

  /** True if the last token of the main line is the move `0-0`. Comments after this move are ignored. */
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
    if (--wordsLeft === 0) {
      yield;
      wordsLeft = tokensAtOnce;
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
  const fen = readFenTag();
  if (setUp !== undefined && fen === undefined && setUp.value.trim() !== "0") {
    const message =
      "The tag SetUp says that the game does not begin at the standard start, but no tag FEN says where: the standard start is assumed";
    warn(message, setUp.offset, 1);
    tags.delete("SetUp");
  }
  const isStandard = fen === undefined || fen.value.trim().startsWith(standardStart.replace(" 0 1", ""));
  if (setUp?.value.trim() === "0" && !isStandard) {
    const message =
      'The tag SetUp says that the game begins at the standard start, and the tag FEN gives another: remove one of them, or write [SetUp "1"]';
    throw refuse(message, "[SetUp", setUp.offset, { ply: 1 });
  }
  if (moves.length === 0) {
    throw refuse(noMoves, "", resultAt ?? source.text.trimEnd().length);
  }
  const tree = {
    headers: new Map(),
    moves: root,
    ...(main.comments.length > 0 && { comments: main.comments }),
  };
  const pgn = { source, tags, moves, tree, result, mayForfeit, warnings };
  return mayForfeit && doubleForfeit.test(plainDashes(tags.get("Result")?.value ?? ""))
    ? withForfeit(pgn)
    : pgn;
}

/** Removes the last move `0-0`, which means a double forfeit. */
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
  const message = `The last ${echo(text, "'")} was read as the result of a double forfeit, and not as castling`;
  return {
    ...pgn,
    moves: moves.slice(0, -1),
    result: "*",
    mayForfeit: false,
    warnings: [...warnings, pgnCorrected(source, { message, offset, ply: moves.length })],
  };
}

const chess960Names = new Set(
  "960 9lx fischer fischerandom fischerrandom freestyle frc wild/fr shuffle".split(" "),
);
const standardNames = new Set([
  "",
  ..."standard normal classical orthodox ortho regular western international".split(" "),
  ..."fromposition fromfen setup setupposition customposition".split(" "),
]);

/** Returns undefined for an unsupported variant. Ignores case, spaces and punctuation. */
export function variantOf(name = ""): "standard" | "chess960" | undefined {
  const letters = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9/]/g, "")
    .replaceAll("chess", "");
  const single = letters.replace(/^d(?:ouble)?(?=.)/, "");
  if (chess960Names.has(single) || chess960Names.has(single.replace(/960$/, ""))) {
    return "chess960";
  }
  return standardNames.has(letters) || parseVariant(name) === "chess" ? "standard" : undefined;
}
