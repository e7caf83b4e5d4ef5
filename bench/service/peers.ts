import type { Peer } from "./peer.ts";
import { bareEngines } from "./peers/bare-engines.ts";
import { kibitz, kibitzOpen, kibitzUnstored } from "./peers/kibitz.ts";
import { least, oneEngine, processEach, pythonChess } from "./peers/programs.ts";

/** By the words of `--peers`, in the order of the tables. */
export const peers = {
  least,
  kibitz,
  open: kibitzOpen,
  unstored: kibitzUnstored,
  python: pythonChess,
  one: oneEngine,
  process: processEach,
  bare: bareEngines,
} satisfies Readonly<Record<string, Peer>>;

export type PeerWord = keyof typeof peers;

export const isPeerWord = (word: string): word is PeerWord => word in peers;
