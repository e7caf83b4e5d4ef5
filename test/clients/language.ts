import type { Need } from "../support/components.ts";

/** An example or a probe, which the tests start as a child process. */
export interface Program {
  readonly name: string;
  /** The command line without the last argument, which is the address of the service. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A program that calls Kibitz with code that is generated from the OpenAPI document. */
export interface GeneratedClient extends Program {
  readonly needs: readonly Need[];
}

export interface Language {
  readonly name: string;
  readonly needs: readonly Need[];
  /** Compiles the programs if their sources have changed since the last build. */
  build(): Promise<void>;
  /** The programs in `examples/<name>/`. */
  readonly examples: readonly Program[];
  /** The programs in `test/clients/<name>/`. They read calls as JSON from stdin and print the results. */
  readonly probes: readonly Program[];
}
