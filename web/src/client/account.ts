import { computed, effect, signal, untracked } from "@preact/signals";
import type { PlanLimits } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { GetKeyResponse } from "../../../gen/chess/analysis/v1/key_service_pb.ts";
import { aside, lastExchange } from "./exchange.ts";
import { key } from "./key.ts";
import { price } from "./offer.ts";
import { keys } from "./service.ts";

/** The state of the key that calls are sent with. */
export type KeyState =
  | { readonly kind: "none" }
  | { readonly kind: "asking" }
  | { readonly kind: "known"; readonly own: GetKeyResponse }
  /** The key is not valid, or nobody could be asked about it: see `problem.ts`. */
  | { readonly kind: "failed"; readonly error: unknown };

export const keyState = signal<KeyState>({ kind: "none" });

/** Asks again what the key may and has left. */
export async function lookUpKey(): Promise<void> {
  const asked = key.peek();
  if (asked === "") {
    keyState.value = { kind: "none" };
    return;
  }
  if (keyState.peek().kind !== "known") {
    keyState.value = { kind: "asking" };
  }
  const found = await keys.getKey({}, aside).then(
    (own): KeyState => ({ kind: "known", own }),
    (error: unknown): KeyState => ({ kind: "failed", error }),
  );
  if (key.peek() === asked) {
    keyState.value = found;
  }
}

effect(() => {
  key.value;
  untracked(() => {
    keyState.value = { kind: "none" };
    void lookUpKey();
  });
});

// The remaining quota changes with every call that is sent with the key.
effect(() => {
  const exchange = lastExchange.value;
  if (exchange?.withKey && (exchange.state === "done" || exchange.state === "failed")) {
    untracked(() => void lookUpKey());
  }
});

/** The limits of this caller's plan; undefined while they are unknown, or if the service needs a key and there is none. */
export const ownLimits = computed<PlanLimits | undefined>(() => {
  const state = keyState.value;
  return state.kind === "known"
    ? state.own.limits
    : price.value?.plans.find(({ requiresKey }) => !requiresKey)?.limits;
});

/** True if this service issues keys by itself. */
export const issuesKeys = computed(() => price.value?.keyUrl !== undefined);

/** Gets a key of the free plan and makes the calls to come with it. Rejects with what the service says against it. */
export async function getNewKey(): Promise<void> {
  const { key: issued } = await keys.createKey({}, aside);
  key.value = issued;
}
