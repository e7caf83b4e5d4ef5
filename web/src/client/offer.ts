import { signal } from "@preact/signals";
import type {
  GetPriceResponse,
  ListEnginesResponse,
} from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { aside } from "./exchange.ts";
import { analyses } from "./service.ts";

/** The service's engines and plans; undefined until they are loaded. */
export const engines = signal<ListEnginesResponse | undefined>(undefined);
export const price = signal<GetPriceResponse | undefined>(undefined);

/** True if the last attempt to load them failed. */
export const offerFailed = signal(false);

let loading: Promise<void> | undefined;

/** Asks for what is offered, unless it is known. Rejects where nobody answers; then it can be called again. */
export function loadOffer(): Promise<void> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    offerFailed.value = true;
    throw error;
  });
  return loading;
}

async function load(): Promise<void> {
  const [offered, priced] = await Promise.all([
    analyses.listEngines({}, aside),
    analyses.getPrice({}, aside),
  ]);
  offerFailed.value = false;
  engines.value = offered;
  price.value = priced;
}
