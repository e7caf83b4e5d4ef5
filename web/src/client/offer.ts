import { signal } from "@preact/signals";
import type {
  GetPriceResponse,
  ListEnginesResponse,
} from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { aside } from "./exchange.ts";
import { analyses } from "./service.ts";

/** What the service offers to everybody; undefined until it has said so. */
export const engines = signal<ListEnginesResponse | undefined>(undefined);
export const price = signal<GetPriceResponse | undefined>(undefined);

/** Whether it was asked for in vain the last time. */
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
