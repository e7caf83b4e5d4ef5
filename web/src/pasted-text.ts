import { readWord } from "../../src/game/read-word.ts";
import { gameFromFen } from "./game/game.ts";
import { gameFromPgn } from "./game/pgn.ts";
import { plainFen } from "./game/plain-fen.ts";

type PastedText =
  /** `text` is the first of `count` FENs. The FEN may be invalid. */
  | { readonly kind: "fen"; readonly text: string; readonly count: number }
  /** `text` may contain several games, and may be invalid. */
  | { readonly kind: "pgn"; readonly text: string }
  | { readonly kind: "link"; readonly text: string }
  | { readonly kind: "key"; readonly text: string }
  /** A link to another site whose address does not contain the position. */
  | { readonly kind: "foreign link" };

/** Matches the first field of a FEN, even if the field is malformed. */
const boardLike = /^[\w~?*.[\]-]+(?:\/[\w~?*.[\]-]*){3,}$/;

/** Matches a FEN inside a text. The last fields of the FEN may be missing. */
const fenInText =
  /(?<![\w/])[1-8pnbrqkPNBRQK]{1,8}(?:\/[1-8pnbrqkPNBRQK]{1,8}){7}[ \t]+[wb](?:[ \t]+(?:-|[A-Ha-hKQkq]{1,4})(?:[ \t]+(?:-|[a-h][36])(?:[ \t]+\d{1,4}[ \t]+\d{1,4})?)?)?(?!\w)/g;

const tagLine = /^[ \t]*\[\w+[ \t]+"/m;
/** Matches a move number with a move, in any language. Other texts also have numbers, but without moves. */
const numberedMove = /(?:^|[\s)}])\d{1,3}\s{0,3}[.…]{1,3}\s{0,3}\S{0,5}?(?:[a-h][1-8]|[O0]-[O0])/;

const firstMove = /^\s*(?:\{[^}]*\}\s*)?1\s*\./;

const ownFragment = /^#(?:fen|moves|analysis|review)(?:[=&]|$)/;

/** Only the beginning of a text is searched for moves and positions. */
const searchedMax = 10_000;

/** True for a valid FEN, and for a PGN with tags or a legal first move. False for a part of a position or of a game. */
export function isComplete(text: string): boolean {
  const read = readPasted(text);
  return read?.kind === "fen"
    ? /\s/.test(read.text) && gameFromFen(read.text).kind === "game"
    : read?.kind === "pgn" &&
        (tagLine.test(text) || (firstMove.test(text) && gameFromPgn(text).kind === "game"));
}

export function readPasted(text: string): PastedText | undefined {
  const trimmed = text.trim();
  if (/\bkbz_/.test(trimmed)) {
    return /^(?:Bearer\s+)?kbz_\S*$/i.test(trimmed) ? { kind: "key", text: trimmed } : undefined;
  }
  if (/^https?:\/\/\S+$/i.test(trimmed)) {
    return readLink(trimmed);
  }
  if (ownFragment.test(trimmed)) {
    return { kind: "link", text: trimmed };
  }
  const single = trimmed.length > searchedMax || /[\r\n]/.test(trimmed) ? undefined : plainFen(trimmed);
  if (single === "startpos" || boardLike.test(single?.split(/\s+/, 1)[0] ?? "")) {
    return { kind: "fen", text: single ?? "", count: 1 };
  }
  const beginning = trimmed.slice(0, searchedMax);
  if (isGame(beginning)) {
    return { kind: "pgn", text };
  }
  const fens = beginning.match(fenInText) ?? [];
  return fens[0] === undefined ? undefined : { kind: "fen", text: fens[0], count: new Set(fens).size };
}

/** Reads links to this page, and links to boards on other sites that contain the position. */
function readLink(text: string): PastedText | undefined {
  const { hash, pathname, searchParams, hostname } = new URL(text);
  if (ownFragment.test(hash)) {
    return { kind: "link", text: hash };
  }
  const path = decoded(pathname);
  const pgn = /\/analysis\/pgn\/(.+)/.exec(path)?.[1]?.replaceAll(/[_+]/g, " ");
  if (pgn !== undefined) {
    return { kind: "pgn", text: pgn };
  }
  const inPath = /\/(?:analysis|editor)\/(?:[\w-]+\/)?((?:[\w~?*.[\]-]+\/){7}.+)/.exec(path)?.[1];
  const fen = searchParams.get("fen") ?? inPath;
  if (fen !== undefined) {
    return { kind: "fen", text: plainFen(fen), count: 1 };
  }
  return /(?:^|\.)(?:lichess\.org|chess\.com|chess24\.com)$/.test(hostname)
    ? { kind: "foreign link" }
    : undefined;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function isGame(text: string): boolean {
  return tagLine.test(text) || numberedMove.test(text) || countMoves(text) > 1;
}

function countMoves(text: string): number {
  return text.split(/[\s(){}]+/).filter((word) => readWord(word)?.some(({ kind }) => kind === "move")).length;
}
