import { useLayoutEffect, useState } from "preact/hooks";

const announcement = "kibitz-announcement";

/** Announces a text to screen readers. Texts from the same event are announced together. */
export function announce(text: string): void {
  dispatchEvent(new CustomEvent(announcement, { detail: text }));
}

/** The page must contain this component exactly once. */
export function LiveRegion() {
  const [said, setSaid] = useState({ text: "", times: 0 });
  // Listen before the effects of other components run, because these effects may announce a text at once.
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
      {/* Use a new node each time, because screen readers ignore an unchanged text in the same node. */}
      <span key={said.times}>{said.text}</span>
    </p>
  );
}
