import { effect, signal } from "@preact/signals";

const place = "kibitz-key";

/** The API key that calls are made with; empty for none. Kept as long as the tab, and sent to this server only. */
export const key = signal(kept());

effect(() => {
  try {
    if (key.value === "") {
      sessionStorage.removeItem(place);
    } else {
      sessionStorage.setItem(place, key.value);
    }
  } catch {
    // If the browser stores nothing, the key is lost when the page is closed.
  }
});

function kept(): string {
  try {
    return sessionStorage.getItem(place) ?? "";
  } catch {
    return "";
  }
}
