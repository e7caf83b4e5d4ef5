import { signal } from "@preact/signals";

export const views = ["analysis", "review"] as const;

/** What the page shows: a position or a game. */
export type View = (typeof views)[number];

/** The view that is open, as the address says behind its `#`. */
export const view = signal<View>(viewOfAddress());

/** Where a view is. Rooms may say more behind the name. */
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
