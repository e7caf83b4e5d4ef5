import { effect, type Signal, signal } from "@preact/signals";
import { store, stored } from "../parts/stored.ts";

const place = "kibitz-key";

/** Empty if the browser tab has no key. The browser deletes the key when the tab is closed. */
export function createKey(): { readonly key: Signal<string>; dispose(): void } {
  const key = signal(stored("sessionStorage", place) ?? "");
  const dispose = effect(() => store("sessionStorage", place, key.value || undefined));
  return { key, dispose };
}
