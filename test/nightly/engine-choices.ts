export interface EngineChoice {
  readonly engine: string;
  readonly path: "wasm" | "native";
}

/** Returns the two WebAssembly engines, and the first native engine if the server has one. */
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
