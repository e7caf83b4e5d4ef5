import { describe } from "vitest";
import { testCorpus } from "../../../contract/protocols/corpus.ts";
import { useApp } from "../../../support/running-app.ts";

describe("the corpus on WebAssembly, with the full network", () => {
  testCorpus("wasm", useApp({ KIBITZ_DEFAULT_ENGINE: "stockfish-19", KIBITZ_WASM_BUILD: "fast" }));
});
