import type { BenchEngine } from "./engine.ts";
import type { Loaded } from "./loaded.ts";

/** What is asked, by how many, for how long. */
export interface Load {
  /** A body a line. */
  readonly file: string;
  readonly callers: number;
  readonly seconds: number;
  /** Whether the questions may come again. */
  readonly repeats: boolean;
}

/** What every peer is started with. */
export interface PeerSettings {
  readonly engine: BenchEngine;
  /** Searches at a time, for those who have such a limit. */
  readonly slots: number;
  /** The Python that has chess, FastAPI and uvicorn. */
  readonly python: string;
  /** For what it writes. */
  readonly folder: string;
}

/** Somebody who answers the same questions as Kibitz. */
export interface Peer {
  readonly name: string;
  /** What it is, to be read behind its name. */
  readonly about: string;
  /** Whether an answer depends on what was asked before: then it may differ from the others'. */
  readonly keepsHash: boolean;
  /** Why it cannot run here. */
  lack?(settings: PeerSettings): Promise<string | undefined>;
  start(settings: PeerSettings): Promise<StartedPeer>;
}

export interface StartedPeer {
  /** Of its server, if it has one. */
  readonly pid: number | undefined;
  /** One question. The move is in UCI's notation. */
  bestMoveOf(fen: string, depth: number): Promise<string>;
  load(load: Load): Promise<Loaded>;
  stop(): Promise<unknown>;
}
