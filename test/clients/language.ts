import type { Need } from "../support/components.ts";

/** Something that is built for the tests of clients and run from a terminal's view: an example or a probe. */
export interface Program {
  readonly name: string;
  /** Without the address of the service, which is its last argument. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A language that the service is called from. */
export interface Language {
  readonly name: string;
  /** Components that build and run it. */
  readonly needs: readonly Need[];
  /** Generates and compiles everything, in the cache of tools; nothing if it is built there from the same files. */
  build(): Promise<void>;
  /** The programs that users copy: `examples/<name>/`. */
  readonly examples: readonly Program[];
  /** The programs that the table of behaviour drives over stdin and stdout: `test/clients/<name>/`. */
  readonly probes: readonly Program[];
}
