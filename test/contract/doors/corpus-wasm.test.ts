import { describe } from "vitest";
import { useApp } from "../../support/running-app.ts";
import { testCorpus } from "./corpus.ts";

describe("the corpus on WebAssembly, with the full network", () => {
  testCorpus("wasm", useApp({ KIBITZ_DEFAULT_ENGINE: "stockfish-19" }));
});
