import type { Need } from "../support/components.ts";

/** An example or a probe, which the tests start as a child process. */
export interface Program {
  readonly name: string;
  /** The command line without its last argument, the address of the service. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A programming language with a client library. */
export interface Language {
  readonly name: string;
  /** The components that the programs need, such as a compiler. */
  readonly needs: readonly Need[];
  /** Compiles all programs in the cache folder. Does nothing if the sources have not changed. */
  build(): Promise<void>;
  /** The programs in `examples/<name>/`. */
  readonly examples: readonly Program[];
  /** The programs in `test/clients/<name>/`, which receive calls as JSON on stdin and print the results. */
  readonly probes: readonly Program[];
}
