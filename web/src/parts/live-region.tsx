import { useLayoutEffect, useState } from "preact/hooks";

/** The event that carries a text to the live region. */
const announcement = "kibitz-announcement";

/** Says a text to people with a screen reader. Texts of one change are said together; later ones replace them. */
export function announce(text: string): void {
  dispatchEvent(new CustomEvent(announcement, { detail: text }));
}

/** The live region of {@link announce}. Use it once on the page. */
export function LiveRegion() {
  /** The latest announcement, and the number of announcements so far. */
  const [said, setSaid] = useState({ text: "", times: 0 });
  // Before the effects of other components, which may announce something at once.
  useLayoutEffect(() => {
    let gathered: string[] = [];
    const gather = (event: Event) => {
      if (event instanceof CustomEvent) {
        gathered.push(String(event.detail));
      }
      if (gathered.length === 1) {
        setTimeout(() => {
          const text = gathered.join(" ");
          gathered = [];
          setSaid(({ times }) => ({ text, times: times + 1 }));
        });
      }
    };
    addEventListener(announcement, gather);
    return () => removeEventListener(announcement, gather);
  }, []);
  return (
    <p class="heard-only" role="status" aria-live="polite">
      {/* A new node each time: screen readers do not say the same text in the same node again. */}
      <span key={said.times}>{said.text}</span>
    </p>
  );
}
