import { parseSync } from "vite";

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** The functions that {@link failableSource} inserts. `place` is a file and a line. The preloaded module defines them. */
export interface Steps {
  /** Around what an `await` waits for. */
  failableStep(place: string, waited: unknown): Promise<unknown>;
  /** Around what a `for await` iterates over. */
  failableSteps(place: string, iterated: AsyncIterable<unknown>): AsyncIterable<unknown>;
  /** Around what an `await using` disposes of. */
  failableDisposal<T>(place: string, disposed: T): T;
}

/** Rewrites each `await`, `for await` and `await using` of a TypeScript source, so that the preloaded module can fail it. */
export function failableSource(path: string, source: string): string {
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) {
    throw new Error(`${path}: ${errors[0]?.message}`);
  }
  const insertions: { readonly at: number; readonly text: string }[] = [];
  const wrap = ({ start, end }: Node, name: keyof Steps) => {
    const line = source.slice(0, start).split("\n").length;
    insertions.push({ at: start, text: `globalThis.${name}("${path}:${line}", ` }, { at: end, text: ")" });
  };
  const visit = (node: Node) => {
    if (node.type === "AwaitExpression") {
      wrap(node.argument as Node, "failableStep");
    } else if (node.type === "ForOfStatement" && node.await === true) {
      wrap(node.right as Node, "failableSteps");
    } else if (node.type === "VariableDeclaration" && node.kind === "await using") {
      for (const { init } of node.declarations as Node[]) {
        wrap(init as Node, "failableDisposal");
      }
    }
    for (const child of Object.values(node).flat()) {
      if (typeof (child as Node | null)?.type === "string") {
        visit(child as Node);
      }
    }
  };
  visit(program as unknown as Node);
  let written = source;
  for (const { at, text } of insertions.toSorted((a, b) => b.at - a.at)) {
    written = written.slice(0, at) + text + written.slice(at);
  }
  return written;
}
