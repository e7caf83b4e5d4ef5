import type { Client } from "@connectrpc/connect";
import {
  batch,
  computed,
  effect,
  type ReadonlySignal,
  type Signal,
  signal,
  untracked,
} from "@preact/signals";
import type { PlanLimits } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { GetKeyResponse, KeyService } from "../../../gen/chess/analysis/v1/key_service_pb.ts";
import { aside } from "./exchange.ts";
import { keepAsking, type Wait } from "./keep-asking.ts";
import type { Offer } from "./offer.ts";

/** The state of the key that calls are sent with. */
type KeyState =
  | { readonly kind: "none" }
  | { readonly kind: "asking" }
  | { readonly kind: "known"; readonly own: GetKeyResponse }
  /** The service did not answer; the page asks again after the wait. */
  | { readonly kind: "waiting"; readonly wait: Wait }
  /** The key is not valid, or the service failed. */
  | { readonly kind: "failed"; readonly error: unknown };

/** The caller, as the service knows it by the key. */
export interface Account {
  readonly state: ReadonlySignal<KeyState>;
  /** The limits of the caller's plan; undefined while they are unknown, or if the service needs a key and there is none. */
  readonly limits: ReadonlySignal<PlanLimits | undefined>;
  /** True if this service issues keys by itself. */
  readonly issuesKeys: ReadonlySignal<boolean>;
  /** The key that this page has created, until somebody has seen it. */
  readonly created: Signal<string | undefined>;
  /** Creates a key of the free plan and sends the next calls with it. Rejects with the error of the service. */
  create(): Promise<void>;
  /** Looks the key up again. */
  lookUp(): void;
  dispose(): void;
}

interface Deps {
  readonly keys: Client<typeof KeyService>;
  readonly key: Signal<string>;
  readonly offer: Pick<Offer, "price">;
}

export function createAccount({ keys, key, offer }: Deps): Account {
  const state = signal<KeyState>({ kind: "none" });
  const created = signal<string | undefined>();
  /** Ends the look-up that is under way, so that an older answer never replaces a newer one. */
  let running = new AbortController();

  const lookUp = async () => {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    if (key.peek() === "") {
      state.value = { kind: "none" };
      return;
    }
    state.value = { kind: "asking" };
    const onWait = (wait: Wait) => {
      state.value = { kind: "waiting", wait };
    };
    async function* ask() {
      yield await keys.getKey({}, { ...aside, signal });
    }
    try {
      for await (const own of keepAsking(ask, { signal, onWait })) {
        state.value = { kind: "known", own };
      }
    } catch (error) {
      if (!signal.aborted) {
        state.value = { kind: "failed", error };
      }
    }
  };
  const end = effect(() => {
    key.value;
    void untracked(lookUp);
  });

  return {
    state,
    limits: computed(() =>
      state.value.kind === "known"
        ? state.value.own.limits
        : offer.price.value?.plans.find(({ requiresKey }) => !requiresKey)?.limits,
    ),
    issuesKeys: computed(() => offer.price.value?.keyUrl !== undefined),
    created,
    async create() {
      const { key: secret } = await keys.createKey({}, aside);
      batch(() => {
        created.value = secret;
        key.value = secret;
      });
    },
    lookUp: () => void lookUp(),
    dispose() {
      end();
      running.abort();
    },
  };
}
