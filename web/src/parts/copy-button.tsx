import { useEffect, useRef, useState } from "preact/hooks";
import { announce } from "../parts/live-region.tsx";
import { texts } from "../texts.ts";
import { Icon, type IconName } from "./icon.tsx";

interface CopyButtonProps {
  readonly label: string;
  /** The button's label; a short word for copying by default. */
  readonly face?: string;
  readonly icon?: IconName;
  readonly isQuiet?: boolean;
  /** The announcement after the copy. The label that is shown then is shorter. */
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
  icon,
  isQuiet = false,
  text,
}: CopyButtonProps) {
  const [result, setResult] = useState<string>();
  const button = useRef<HTMLButtonElement>(null);
  const shown = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(shown.current), []);
  const copy = async () => {
    const isDone = await write(text());
    announce(isDone ? done : texts.call.notCopied);
    // Its neighbours stay where they are.
    const width = button.current?.getBoundingClientRect().width ?? 0;
    button.current?.style.setProperty("min-inline-size", `${width}px`);
    setResult(isDone ? texts.call.copied : texts.call.notCopied);
    clearTimeout(shown.current);
    shown.current = setTimeout(() => setResult(undefined), shownMs);
  };
  return (
    <button
      ref={button}
      type="button"
      class={isQuiet ? "copy quiet" : "copy"}
      aria-label={label}
      title={label}
      onClick={() => void copy()}
    >
      {icon && <Icon name={icon} />}
      {result ?? face}
    </button>
  );
}

async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // If the page came neither by TLS nor from this machine, the browser allows only copying a selection.
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
