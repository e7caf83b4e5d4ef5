/**
 * Scrolls to the focused text field if content above it grows and moves it out of the window, for example when a review arrives.
 * A field that the user has scrolled out of the window is not brought back.
 */
export function keepInWindow(): void {
  let wasInWindow = false;
  /** The distance of the field from the top of the page, which only a change of the content above it changes. */
  let place = 0;
  const placeOf = (field: Element) => field.getBoundingClientRect().top + scrollY;
  // The observer is called after the layout, and after an observer of sizes.
  const seen = new IntersectionObserver(
    (entries) => {
      wasInWindow = entries.at(-1)?.isIntersecting === true;
    },
    { threshold: 0.99 },
  );
  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof Element && target.matches("input, textarea")) {
      seen.observe(target);
      place = placeOf(target);
    }
  });
  document.addEventListener("focusout", () => {
    seen.disconnect();
    wasInWindow = false;
  });
  new ResizeObserver(() => {
    const { activeElement, documentElement } = document;
    if (activeElement) {
      const before = place;
      place = placeOf(activeElement);
      const { top, bottom } = activeElement.getBoundingClientRect();
      const isOutside = top < 0 || bottom > documentElement.clientHeight;
      if (wasInWindow && place > before && isOutside) {
        activeElement.scrollIntoView({ block: "center" });
      }
    }
  }).observe(document.body);
}
