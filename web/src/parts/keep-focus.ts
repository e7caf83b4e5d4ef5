/** Moves the focus of a removed or disabled element to the surrounding region, instead of the top of the page. */
export function keepFocus(): void {
  let last: Element | undefined;
  /** The regions around the last focused element, innermost first. */
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
    region.addEventListener("blur", () => region.removeAttribute("tabindex"), { once: true });
  }
  region?.focus({ preventScroll: true });
}
