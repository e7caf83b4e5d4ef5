import { describe } from "vitest";
import { nativeStockfish } from "../../support/native-stockfish.ts";
import { useApp } from "../../support/running-app.ts";
import { testCorpus } from "./corpus.ts";

const file = nativeStockfish();

describe.skipIf(file === undefined)("the corpus on a native engine", () => {
  testCorpus("native", useApp({ KIBITZ_NATIVE_ENGINES: file ?? "" }));
});
