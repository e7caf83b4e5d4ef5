type Store = "localStorage" | "sessionStorage";

/** Returns undefined if nothing is stored, or if the browser forbids storage. */
export function stored(store: Store, place: string): string | undefined {
  try {
    return globalThis[store].getItem(place) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Does nothing if the browser forbids storage. */
export function store(store: Store, place: string, text: string | undefined): void {
  try {
    if (text === undefined) {
      globalThis[store].removeItem(place);
    } else {
      globalThis[store].setItem(place, text);
    }
  } catch {
    // The page also works without storage.
  }
}
