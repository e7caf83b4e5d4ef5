import type { BenchEngine } from "./engine.ts";
import type { Loaded } from "./loaded.ts";

/** Questions, the number of callers, and a duration. */
export interface Load {
  /** A file with a request body on each line. */
  readonly file: string;
  readonly callers: number;
  readonly seconds: number;
  /** True if the same question may be asked twice. */
  readonly repeats: boolean;
}

/** Settings for the start of any peer. */
export interface PeerSettings {
  readonly engine: BenchEngine;
  /** Searches at a time. */
  readonly slots: number;
  /** A Python that has chess, FastAPI and uvicorn. */
  readonly python: string;
  /** For the files that the peer writes. */
  readonly folder: string;
}

/** A service that answers the same questions as Kibitz. */
export interface Peer {
  readonly name: string;
  /** A description, to be read after the name. */
  readonly about: string;
  /** True if an answer depends on earlier questions, and so may differ from the answers of others. */
  readonly keepsHash: boolean;
  /** Returns the reason why the peer cannot run here. */
  lack?(settings: PeerSettings): Promise<string | undefined>;
  start(settings: PeerSettings): Promise<StartedPeer>;
}

export interface StartedPeer {
  /** The process of its server. */
  readonly pid: number;
  /** Asks one question. The move is in UCI's notation. */
  bestMoveOf(fen: string, depth: number): Promise<string>;
  load(load: Load): Promise<Loaded>;
  stop(): Promise<unknown>;
}
