type Store = "localStorage" | "sessionStorage";

/** Reads a text that the browser keeps; undefined if there is none, or if the browser stores nothing. */
export function stored(store: Store, place: string): string | undefined {
  try {
    return globalThis[store].getItem(place) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a text, or removes it if it is undefined. If the browser stores nothing, the text is lost when the page is reloaded. */
export function store(store: Store, place: string, text: string | undefined): void {
  try {
    if (text === undefined) {
      globalThis[store].removeItem(place);
    } else {
      globalThis[store].setItem(place, text);
    }
  } catch {
    // The page works without.
  }
}
