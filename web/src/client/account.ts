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

type KeyState =
  | { readonly kind: "none" }
  | { readonly kind: "asking" }
  | { readonly kind: "known"; readonly own: GetKeyResponse }
  /** The page repeats the request at the end of `wait`. */
  | { readonly kind: "waiting"; readonly wait: Wait }
  | { readonly kind: "failed"; readonly error: unknown };

export interface Account {
  readonly state: ReadonlySignal<KeyState>;
  /** Undefined while the plan is unknown, or if the service requires a key and the page has no key. */
  readonly limits: ReadonlySignal<PlanLimits | undefined>;
  /** True if visitors can create a free key. */
  readonly issuesKeys: ReadonlySignal<boolean>;
  /** A newly created key. Undefined after the user has closed the message about the key. */
  readonly created: Signal<string | undefined>;
  /** Creates a free key for later requests. Rejects if the service creates no key. */
  create(): Promise<void>;
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
  /** Aborts the previous request, so that an older response never replaces a newer response. */
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
  let creating: Promise<void> | undefined;
  const createKey = async () => {
    const { key: secret } = await keys.createKey({}, aside);
    batch(() => {
      created.value = secret;
      key.value = secret;
    });
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
    create() {
      // A second click waits for the same key.
      creating ??= createKey().finally(() => {
        creating = undefined;
      });
      return creating;
    },
    lookUp: () => void lookUp(),
    dispose() {
      end();
      running.abort();
    },
  };
}
