import type { Client } from "@connectrpc/connect";
import { type ReadonlySignal, signal } from "@preact/signals";
import type {
  AnalysisService,
  GetPriceResponse,
  ListEnginesResponse,
} from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { aside } from "./exchange.ts";
import { keepAsking } from "./keep-asking.ts";

export interface Offer {
  readonly engines: ReadonlySignal<ListEnginesResponse | undefined>;
  readonly price: ReadonlySignal<GetPriceResponse | undefined>;
  readonly isMissing: ReadonlySignal<boolean>;
  dispose(): void;
}

/** Loads the engines and the price. Retries until the service responds. */
export function createOffer(analyses: Client<typeof AnalysisService>): Offer {
  const engines = signal<ListEnginesResponse | undefined>();
  const price = signal<GetPriceResponse | undefined>();
  const isMissing = signal(false);
  const controller = new AbortController();

  async function* ask() {
    const options = { ...aside, signal: controller.signal };
    yield await Promise.all([analyses.listEngines({}, options), analyses.getPrice({}, options)]);
  }
  const load = async () => {
    const onWait = () => {
      isMissing.value = true;
    };
    for await (const [offered, priced] of keepAsking(ask, { signal: controller.signal, onWait })) {
      isMissing.value = false;
      engines.value = offered;
      price.value = priced;
    }
  };
  load().catch(() => {
    isMissing.value = true;
  });
  return { engines, price, isMissing, dispose: () => controller.abort() };
}
