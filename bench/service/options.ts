import { parseArgs } from "node:util";
import type { EnginePath } from "../../src/engine/engine.ts";
import type { Peer } from "./peer.ts";
import { kibitz } from "./peers/kibitz.ts";
import { least, pythonChess } from "./peers/programs.ts";

export const peers = { least, kibitz, python: pythonChess } satisfies Readonly<Record<string, Peer>>;

type PeerWord = keyof typeof peers;

const isPeerWord = (word: string): word is PeerWord => word in peers;

export const usage = `npm run bench                          all tables, in a quarter of an hour; written to docs/measured.md
npm run bench -- --full                more depths, callers and rounds, and WebAssembly; written to docs/measured.md

With one of the next five options, or with --beside, the tables are only printed.

  --rows new,repeated,cached,stored    which tables. \`--rows engine\` compares the builds of Stockfish, and \`--rows tablebase\` measures endgame tables;
                                       both are written to docs/measured.md
  --depths 1,8   --callers 1,8         which cells
  --paths native,wasm
  --peers ${Object.keys(peers).join(",")}
${Object.entries(peers)
  .map(([word, { about }]) => `          ${word}: ${about}`)
  .join("\n")}
  --warm 30                            seconds for which each is asked before the first turn: V8 compiles meanwhile
  --seconds 2    --rounds 3            how long each has its turn (ten and more for deep searches), and how often
  --slots 2                            searches at a time
  --python python3                     one that has chess, fastapi and uvicorn
  --beside ../other                    another checkout of Kibitz, as one more peer

One cell in half a minute: npm run bench -- --rows new --depths 8 --callers 8 --peers least,kibitz --warm 5`;

export type RowKind = "new" | "repeated" | "cached" | "stored";

export interface BenchOptions {
  /** True if the run makes all measurements. Only a complete run replaces the published tables. */
  readonly allCells: boolean;
  readonly kinds: readonly (RowKind | "engine" | "tablebase")[];
  readonly depths: readonly number[];
  readonly callers: readonly number[];
  readonly paths: readonly EnginePath[];
  readonly peers: readonly PeerWord[];
  readonly warmSeconds: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly slots: number;
  readonly python: string;
  readonly beside: string | undefined;
}

export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parse(args);
  const { full } = values;
  const list = <T>(text: string | undefined, otherwise: readonly T[], read: (word: string) => T) =>
    text === undefined ? otherwise : text.split(",").filter(Boolean).map(read);
  const among =
    <T extends string>(...known: readonly T[]) =>
    (word: string): T => {
      const found = known.find((each) => each === word);
      return found ?? refuse(`${word} is none of ${known.join(", ")}`);
    };
  const number = (text: string): number => {
    const read = Number(text);
    return Number.isFinite(read) && read > 0 ? read : refuse(`${text} is no number over 0`);
  };
  const integer = (text: string): number =>
    Number.isInteger(number(text)) ? Number(text) : refuse(`${text} is no integer`);
  return {
    allCells: [values.rows, values.depths, values.callers, values.paths, values.peers, values.beside].every(
      (value) => value === undefined,
    ),
    kinds: list<RowKind | "engine" | "tablebase">(
      values.rows,
      ["new", "repeated", "cached", "stored"],
      among("new", "repeated", "cached", "stored", "engine", "tablebase"),
    ),
    depths: list(values.depths, full ? [1, 8, 14] : [8, 14], integer),
    callers: list(values.callers, full ? [1, 8, 64] : [1, 8], integer),
    paths: list<EnginePath>(values.paths, full ? ["native", "wasm"] : ["native"], among("native", "wasm")),
    peers: list(values.peers, ["least", "kibitz", "python"], (word) =>
      isPeerWord(word) ? word : refuse(`no peer is called ${word}`),
    ),
    warmSeconds: integer(values.warm),
    seconds: integer(values.seconds ?? (full ? "4" : "2")),
    rounds: integer(values.rounds ?? (full ? "5" : "3")),
    slots: integer(values.slots),
    python: values.python,
    beside: values.beside,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        full: { type: "boolean", default: false },
        rows: { type: "string" },
        depths: { type: "string" },
        callers: { type: "string" },
        paths: { type: "string" },
        peers: { type: "string" },
        warm: { type: "string", default: "30" },
        seconds: { type: "string" },
        rounds: { type: "string" },
        slots: { type: "string", default: "2" },
        python: { type: "string", default: "python3" },
        beside: { type: "string" },
      },
    });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function refuse(reason: string): never {
  throw new Error(`${reason}\n\n${usage}`);
}
