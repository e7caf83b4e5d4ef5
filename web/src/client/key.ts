import { effect, type Signal, signal } from "@preact/signals";
import { store, stored } from "../parts/stored.ts";

const place = "kibitz-key";

export interface Key {
  /** Empty if the page has no key. */
  readonly key: Signal<string>;
  /** True if the browser keeps the key on this device. Otherwise, it deletes the key when the tab is closed. */
  readonly isRemembered: Signal<boolean>;
  dispose(): void;
}

export function createKey(): Key {
  const remembered = stored("localStorage", place);
  const key = signal(stored("sessionStorage", place) ?? remembered ?? "");
  const isRemembered = signal(key.peek() !== "" && key.peek() === remembered);
  let isFirst = true;
  const dispose = effect(() => {
    const text = key.value || undefined;
    isRemembered.value &&= text !== undefined;
    store("sessionStorage", place, text);
    // A tab with another key, or without a key, does not forget the key that another tab remembers.
    if (!isFirst) {
      store("localStorage", place, isRemembered.value ? text : undefined);
    }
    isFirst = false;
  });
  return { key, isRemembered, dispose };
}
