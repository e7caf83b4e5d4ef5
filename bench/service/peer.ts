import type { BenchEngine } from "./engine.ts";
import type { Loaded } from "./loaded.ts";

export interface Load {
  /** The path of a file with one request body per line. */
  readonly file: string;
  readonly callers: number;
  readonly seconds: number;
  readonly repeats: boolean;
}

export interface PeerSettings {
  readonly engine: BenchEngine;
  readonly slots: number;
  /** The command that starts Python. The packages chess, FastAPI and uvicorn must be installed. */
  readonly python: string;
  readonly folder: string;
}

export interface Peer {
  readonly name: string;
  readonly about: string;
  /** True if the hash table is not cleared between requests. Answers then depend on earlier requests. */
  readonly keepsHash: boolean;
  /** Returns the reason why this service cannot run on this machine. */
  lack?(settings: PeerSettings): Promise<string | undefined>;
  start(settings: PeerSettings): Promise<StartedPeer>;
}

export interface StartedPeer {
  readonly pid: number;
  /** Returns the best move in UCI notation. */
  bestMoveOf(fen: string, depth: number): Promise<string>;
  load(load: Load): Promise<Loaded>;
  stop(): Promise<unknown>;
}
