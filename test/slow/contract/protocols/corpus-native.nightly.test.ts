import { testCorpus } from "../../../contract/protocols/corpus.ts";
import { nativeStockfish } from "../../../support/native-stockfish.ts";
import { describeWith } from "../../../support/needs.ts";
import { useApp } from "../../../support/running-app.ts";

const file = nativeStockfish();

describeWith("native")("the corpus on a native engine", () => {
  testCorpus("native", useApp({ KIBITZ_NATIVE_ENGINES: file ?? "none" }));
});
