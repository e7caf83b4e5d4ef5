import { effect, type Signal, signal } from "@preact/signals";

const place = "kibitz-key";

/** The API key of this tab, kept until the tab is closed; empty for none. */
export function createKey(): { readonly key: Signal<string>; dispose(): void } {
  const key = signal(storedKey());
  const dispose = effect(() => {
    try {
      if (key.value === "") {
        sessionStorage.removeItem(place);
      } else {
        sessionStorage.setItem(place, key.value);
      }
    } catch {
      // If the browser stores nothing, the key is lost when the page is reloaded.
    }
  });
  return { key, dispose };
}

function storedKey(): string {
  try {
    return sessionStorage.getItem(place) ?? "";
  } catch {
    return "";
  }
}
