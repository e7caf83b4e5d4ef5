/** An engine as callers choose it. */
export interface EngineChoice {
  readonly engine: string;
  readonly path: "wasm" | "native";
}

/** The lite and the full network as WebAssembly, and the first native engine that the server has found, if any. */
export async function engineChoicesOf(url: string): Promise<readonly EngineChoice[]> {
  const { engines } = (await (await fetch(`${url}/engines`)).json()) as {
    engines: { id: string; paths: { path: string }[] }[];
  };
  const native = engines.find(({ paths }) => paths.some(({ path }) => path === "native"));
  return [
    { engine: "stockfish-19-lite", path: "wasm" },
    { engine: "stockfish-19", path: "wasm" },
    ...(native === undefined ? [] : [{ engine: native.id, path: "native" } as const]),
  ];
}
