import { signal } from "@preact/signals";

export const views = ["analysis", "review"] as const;

/** A view of the page: the analysis of a position or the review of a game. */
export type View = (typeof views)[number];

/** The view that is open, as the address says behind its `#`. */
export const view = signal<View>(viewOfAddress());

/** Returns the fragment of a view's address. A view may add parameters after its name. */
export function addressOfView(name: View): string {
  return `#${name}`;
}

function viewOfAddress(): View {
  return views.find((name) => location.hash.startsWith(addressOfView(name))) ?? "analysis";
}

/** Back, forward and links: each ends here. */
window.addEventListener("hashchange", () => {
  view.value = viewOfAddress();
});
