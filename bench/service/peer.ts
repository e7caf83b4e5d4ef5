import type { BenchEngine } from "./engine.ts";
import type { Loaded } from "./loaded.ts";

export interface Load {
  /** A file with a request body on each line. */
  readonly file: string;
  readonly callers: number;
  readonly seconds: number;
  /** True if the same question may be asked twice. */
  readonly repeats: boolean;
}

export interface PeerSettings {
  readonly engine: BenchEngine;
  /** The number of searches that can run at a time. */
  readonly slots: number;
  /** The command of a Python that has chess, FastAPI and uvicorn. */
  readonly python: string;
  readonly folder: string;
}

/** A service that answers the same questions as Kibitz. */
export interface Peer {
  readonly name: string;
  /** Shown after the name of the peer. */
  readonly about: string;
  /** True if the hash table is kept between questions, so that answers depend on earlier questions. */
  readonly keepsHash: boolean;
  /** Returns the reason why the peer cannot run here. */
  lack?(settings: PeerSettings): Promise<string | undefined>;
  start(settings: PeerSettings): Promise<StartedPeer>;
}

export interface StartedPeer {
  /** The process id of the peer's server. */
  readonly pid: number;
  /** Sends one question. Returns the best move in UCI. */
  bestMoveOf(fen: string, depth: number): Promise<string>;
  load(load: Load): Promise<Loaded>;
  stop(): Promise<unknown>;
}
