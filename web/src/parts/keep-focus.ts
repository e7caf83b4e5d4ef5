/** Elements that can take the focus back: parts of the page that have a name. */
const regions = "section, aside, main";

interface Focused {
  readonly element: Element;
  /** The regions that it is in, the innermost first. */
  readonly around: readonly HTMLElement[];
}

/**
 * If the focused element is removed, such as a button with the problem that it solves, moves the focus to the region around it,
 * so that keys and screen readers go on from there and not from the top of the page. Once on the page.
 */
export function keepFocus(): void {
  let last: Focused | undefined;
  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof Element) {
      last = { element: target, around: regionsAround(target) };
    }
  });
  document.addEventListener("focusout", ({ target }) => {
    // An element that lost the focus is still on the page later; a removed one is not.
    queueMicrotask(() => {
      if (last && last.element === target && !isGone(last.element)) {
        last = undefined;
      }
    });
  });
  new MutationObserver(() => {
    const { activeElement, body } = document;
    if (last && isGone(last.element) && (activeElement === body || activeElement === last.element)) {
      focusRegion(last.around.find((region) => region.isConnected));
    }
  }).observe(document.body, { childList: true, subtree: true, attributeFilter: ["disabled"] });
}

function isGone(element: Element): boolean {
  return !element.isConnected || element.matches(":disabled");
}

function regionsAround(element: Element): readonly HTMLElement[] {
  const around: HTMLElement[] = [];
  let region = element.parentElement?.closest<HTMLElement>(regions);
  while (region) {
    around.push(region);
    region = region.parentElement?.closest<HTMLElement>(regions);
  }
  return around;
}

function focusRegion(region: HTMLElement | undefined): void {
  if (region && !region.hasAttribute("tabindex")) {
    region.tabIndex = -1;
    // A click there should not give it the focus.
    region.addEventListener("blur", () => region.removeAttribute("tabindex"), { once: true });
  }
  region?.focus({ preventScroll: true });
}
