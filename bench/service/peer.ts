import type { BenchEngine } from "./engine.ts";
import type { Loaded } from "./loaded.ts";

/** A load on a peer: questions, the number of callers, and a duration. */
export interface Load {
  /** A file with a request body on each line. */
  readonly file: string;
  readonly callers: number;
  readonly seconds: number;
  /** True if the same question may be asked twice. */
  readonly repeats: boolean;
}

/** The settings with which any peer is started. */
export interface PeerSettings {
  readonly engine: BenchEngine;
  /** The number of searches that can run at a time. */
  readonly slots: number;
  /** The command of a Python that has chess, FastAPI and uvicorn. */
  readonly python: string;
  /** The folder for the files that the peer writes. */
  readonly folder: string;
}

/** A service that answers the same questions as Kibitz. */
export interface Peer {
  readonly name: string;
  /** The description of the peer, which is shown after its name. */
  readonly about: string;
  /**
   * True if the peer keeps its hash table between questions. Its answers then depend on earlier questions, and may differ from
   * the answers of other peers.
   */
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
