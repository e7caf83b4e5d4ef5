import { signal } from "@preact/signals";

/** The latest announcement, and the number of announcements so far. */
const said = signal({ text: "", times: 0 });
let gathered: string[] = [];

/**
 * Tells those who hear the page what has changed. What belongs to one change is told together; what is said while they still
 * listen replaces what was.
 */
export function announce(text: string): void {
  if (gathered.length === 0) {
    setTimeout(() => {
      said.value = { text: gathered.join(" "), times: said.peek().times + 1 };
      gathered = [];
    });
  }
  gathered.push(text);
}

/** The live region that {@link announce} writes to. Use it once on the page. */
export function LiveRegion() {
  const { text, times } = said.value;
  return (
    <p class="heard-only" role="status" aria-live="polite">
      {/* Always a new node: the same text in the same one is no change, and nobody would hear it again. */}
      <span key={times}>{text}</span>
    </p>
  );
}
