/**
 * If the focused element is removed or disabled, such as a button with the problem that it solves, focuses the region around it, so that
 * keys and screen readers go on from there and not from the top of the page. Here for all parts, because many remove such a button.
 */
export function keepFocus(): void {
  let last: Element | undefined;
  /** The regions around it, the innermost first. */
  let around: readonly HTMLElement[] = [];
  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof Element) {
      last = target;
      const regions = [...document.querySelectorAll<HTMLElement>("section, aside, main")];
      around = regions.filter((region) => region !== target && region.contains(target)).reverse();
    }
  });
  new MutationObserver(() => {
    const { activeElement, body } = document;
    const isGone = last !== undefined && (!last.isConnected || last.matches(":disabled"));
    if (isGone && (activeElement === body || activeElement === last)) {
      focusRegion(around.find(({ isConnected }) => isConnected));
    }
  }).observe(document.body, { childList: true, subtree: true, attributeFilter: ["disabled"] });
}

function focusRegion(region: HTMLElement | undefined): void {
  if (region && !region.hasAttribute("tabindex")) {
    region.tabIndex = -1;
    // A click there should not give it the focus.
    region.addEventListener("blur", () => region.removeAttribute("tabindex"), { once: true });
  }
  region?.focus({ preventScroll: true });
}
