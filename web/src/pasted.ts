import { signal } from "@preact/signals";
import { kindOfText, type TextKind } from "./kind-of-text.ts";
import { thePage } from "./the-page.ts";

/** A text or file that was pasted or dropped on the page, until its view takes it. */
export type Pasted =
  /** The text as it was pasted. It may be wrong: the view that takes it reports errors. */
  | { readonly kind: TextKind; readonly text: string }
  /** The file may have no games: the view that reads it reports that. */
  | { readonly kind: "file"; readonly file: File };

/** The latest, for the view that takes it; who has taken it sets it back to undefined. */
export const pasted = signal<Pasted | undefined>(undefined);

/** How much of a file is looked at for what it is, in bytes: more than any FEN has. */
const lookedAtMaxBytes = 1000;

/** Hands a text over to the view that it is for. */
export function take(text: string): void {
  const kind = kindOfText(text);
  if (kind !== undefined) {
    pasted.value = { kind, text };
    if (kind !== "key") {
      thePage.address.show(kind === "fen" ? "analysis" : "review");
    }
  }
}

/** Begins to take what is pasted outside of fields, and what is dropped anywhere. Once on the page. */
export function takeFromPage(): void {
  document.addEventListener("paste", onPaste);
  document.addEventListener("dragover", onDragOver);
  document.addEventListener("drop", onDrop);
}

function onPaste(event: ClipboardEvent): void {
  if (!isField(event.target)) {
    take(event.clipboardData?.getData("text/plain") ?? "");
  }
}

// Without this the browser would leave the page and show the file.
function onDragOver(event: DragEvent): void {
  event.preventDefault();
}

function onDrop(event: DragEvent): void {
  const file = event.dataTransfer?.files[0];
  const text = event.dataTransfer?.getData("text/plain") ?? "";
  if (file === undefined && isField(event.target)) {
    return;
  }
  event.preventDefault();
  if (file === undefined) {
    take(text);
  } else {
    void takeFile(file);
  }
}

async function takeFile(file: File): Promise<void> {
  // One that cannot be read is told of by who reads the others.
  const beginning = await file
    .slice(0, lookedAtMaxBytes)
    .text()
    .catch(() => "");
  if (kindOfText(beginning) === "fen") {
    take(beginning);
  } else {
    pasted.value = { kind: "file", file };
    thePage.address.show("review");
  }
}

/** Fields that take text, unlike boxes and buttons. */
const fields =
  "input:not([type=checkbox], [type=radio], [type=range]), textarea, [contenteditable]:not([contenteditable=false])";

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(fields) !== null;
}
