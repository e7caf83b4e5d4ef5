import { useState } from "preact/hooks";
import { announce } from "../parts/live-region.tsx";
import { texts } from "../texts.ts";

interface CopyButtonProps {
  readonly label: string;
  /** What stands on it, if not the short word for it. */
  readonly face?: string;
  readonly isQuiet?: boolean;
  /** What is shown and said when it is done. */
  readonly done?: string;
  /** Asked when it is pressed. */
  text(): string;
}

const shownMs = 2000;

/** Copies a text, and says whether it did. */
export function CopyButton({
  label,
  face = texts.call.copy,
  done = texts.call.copied,
  isQuiet = false,
  text,
}: CopyButtonProps) {
  const [result, setResult] = useState<string>();
  const copy = async () => {
    const said = (await write(text())) ? done : texts.call.notCopied;
    announce(said);
    setResult(said);
    setTimeout(() => setResult(undefined), shownMs);
  };
  return (
    <button
      type="button"
      class={isQuiet ? "copy quiet" : "copy"}
      aria-label={label}
      onClick={() => void copy()}
    >
      {result ?? face}
    </button>
  );
}

async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Where the page came neither by TLS nor from this machine, there is no clipboard but that of the selection.
    return copySelected(text);
  }
}

function copySelected(text: string): boolean {
  const field = document.createElement("textarea");
  const focused = document.activeElement;
  field.value = text;
  field.className = "heard-only";
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) {
    focused.focus();
  }
  return isCopied;
}
